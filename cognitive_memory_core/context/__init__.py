"""What is put before the model."""
