"""The vector index on Chroma, which runs in a supervised process; the only package that imports chromadb."""

from .store import ChromaStore, server_refusal

__all__ = ["ChromaStore", "server_refusal"]
