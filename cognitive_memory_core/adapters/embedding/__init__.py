"""The only path to an embedder: queries go first and are cached for a minute, other texts follow in batches."""

from .queue import EmbeddingQueue

__all__ = ["EmbeddingQueue"]
