"""Vector indexes: derived data, rebuildable from the ledger."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ..domain.event import Event
from ..domain.reading import ReadFilter
from .models import Vector

Nearest = Callable[[Vector, ReadFilter, int], Awaitable[list[tuple[str, float]]]]
"""Returns the ids of the admitted events nearest to a unit vector, so many at most, with their cosines, best first.

Raises UnavailableError while the index does not contain all events of the ledger.
"""


@dataclass(frozen=True)
class EmbeddedEvent:
    """An event with its vector; ``fingerprint`` is that of the embedding model, "" if there is no vector."""

    event: Event
    fingerprint: str = ""
    vector: Vector | None = None


@dataclass(frozen=True)
class Generation:
    """One complete copy of the ledger's vectors of one model.

    ``number`` identifies its place in the store; ``build_id`` is a random id of this copy, never reused.
    """

    number: int
    build_id: str
    fingerprint: str
    dimensions: int
