"""Chroma: the vector index, so far its filter."""
