"""Builds and renders the context that is put before the model."""
