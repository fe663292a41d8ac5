"""Vector indexes: derived data, rebuildable from the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..domain.event import Event
from ..domain.read_filter import ReadFilter
from .models import Vector


@dataclass(frozen=True)
class EmbeddedEvent:
    """An event with its vector; ``fingerprint`` is that of the embedding model, "" if there is no vector."""

    event: Event
    fingerprint: str = ""
    vector: Vector | None = None


class VectorIndex(Protocol):
    """Nearest-neighbour search over events, within what a read filter admits."""

    async def nearest(self, vector: Vector, read_filter: ReadFilter, limit: int) -> list[tuple[str, float]]:
        """Return the ids of the admitted events nearest to a unit vector with their cosines, best first.

        Raises UnavailableError while the index does not contain all events of the ledger.
        """
        ...


@dataclass(frozen=True)
class Generation:
    """One complete copy of the ledger's vectors of one model.

    ``number`` identifies its place in the store; ``build_id`` is a random id of this copy, never reused.
    """

    number: int
    build_id: str
    fingerprint: str
    dimensions: int
