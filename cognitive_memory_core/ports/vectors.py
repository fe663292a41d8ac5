"""Vector indexes: derived data, rebuildable from the ledger."""

from __future__ import annotations

from collections.abc import Sequence
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


class VectorStore(Protocol):
    """A store outside the ledger that keeps vectors in generations: one is in use while the next may be built.

    It can be stopped to free its memory; every method but :meth:`is_there` and :meth:`sleep` starts it again.
    Every method raises UnavailableError when the store is unreachable, exceeds its deadline or refuses; a write may
    still have been applied, and repeating it is harmless.
    """

    async def open(self) -> Generation | None:
        """Load the generation in use and return it; None if there is none, or it is damaged or of another version."""
        ...

    async def begin(self, fingerprint: str, dimensions: int) -> Generation:
        """Create an empty generation and remove an earlier unfinished one; the generation in use stays in use."""
        ...

    async def put_in_use(self, generation: Generation) -> None:
        """Switch to a generation durably; all others are removed from the disk or the server."""
        ...

    async def upsert(self, generation: Generation, rows: Sequence[EmbeddedEvent]) -> None:
        """Insert or replace rows that have vectors; BadArgument for a non-finite, zero or wrongly sized vector."""
        ...

    async def remove(self, generation: Generation, event_ids: Sequence[str]) -> None:
        """Remove rows; missing ones are ignored."""
        ...

    async def listed(self, generation: Generation) -> frozenset[str]:
        """Return the ids of all rows."""
        ...

    async def nearest(
        self, generation: Generation, vector: Vector, read_filter: ReadFilter, limit: int
    ) -> list[tuple[str, float]]:
        """Search one generation as :class:`VectorIndex` does; BadArgument for a vector that :meth:`upsert` rejects."""
        ...

    async def is_there(self) -> bool:
        """Return whether a generation is recorded as in use, without starting the store to check its data."""
        ...

    async def sleep(self) -> None:
        """Stop the store once running requests have ended, and free its memory and locks; idempotent, never raises."""
        ...
