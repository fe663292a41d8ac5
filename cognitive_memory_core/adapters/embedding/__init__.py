"""The one way to an embedder: questions at once and each once a minute, everything else behind them in batches."""

from .queue import EmbeddingQueue

__all__ = ["EmbeddingQueue"]
