"""An index of vectors: derived, and rebuildable from the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..domain.hit import Reading
from .ledger import EmbeddedEvent
from .models import Vector


class VectorIndex(Protocol):
    """Vectors to events, within what a reading admits."""

    async def nearest(self, vector: Vector, reading: Reading, limit: int) -> list[tuple[str, float]]:
        """Give event ids with their cosine to a unit vector, best first; never one that the reading does not admit."""
        ...

    async def upsert(self, rows: Sequence[EmbeddedEvent]) -> None:
        """Take vectors that the ledger holds already; doing it twice is doing it once."""
        ...
