"""The world: one folder a technology, none knows another."""
