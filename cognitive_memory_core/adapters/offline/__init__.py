"""What stands in for models without a key and without a network."""
