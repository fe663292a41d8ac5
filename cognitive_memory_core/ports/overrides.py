"""What whoever opens a memory may put in the place of its own parts."""

from __future__ import annotations

from dataclasses import dataclass

from .ambient import Clock
from .models import Chat, Embedder, Reranker


@dataclass(frozen=True)
class Overrides:
    """A clock, an embedder, a chat model for every purpose, a reranker; None where the memory makes its own."""

    clock: Clock | None = None
    embedder: Embedder | None = None
    chat: Chat | None = None
    reranker: Reranker | None = None
