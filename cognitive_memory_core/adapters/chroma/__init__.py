"""Chroma: the vector index, in a supervised process of its own; the only one that imports chromadb."""

from .store import ChromaStore

__all__ = ["ChromaStore"]
