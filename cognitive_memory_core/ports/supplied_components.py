"""Components that the caller may supply when a memory is opened."""

from __future__ import annotations

from dataclasses import dataclass

from .clock import Clock
from .models import Chat, Embedder, Reranker


@dataclass(frozen=True)
class SuppliedParts:
    """A clock, an embedder, a chat model for all purposes, and a reranker; the configured one is used where None."""

    clock: Clock | None = None
    embedder: Embedder | None = None
    chat: Chat | None = None
    reranker: Reranker | None = None
