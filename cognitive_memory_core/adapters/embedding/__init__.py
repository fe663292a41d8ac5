"""The only path to an embedder: queries take precedence and are cached for a minute; other texts go in batches."""

from .embedding_queue import EmbeddingQueue

__all__ = ["EmbeddingQueue"]
