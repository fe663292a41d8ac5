"""Indexes of vectors: derived, and rebuildable from the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..domain.event import Event
from ..domain.hit import Reading
from .ledger import EmbeddedEvent
from .models import Vector


class VectorIndex(Protocol):
    """Vectors to events, within what a reading admits."""

    async def nearest(self, vector: Vector, reading: Reading, limit: int) -> list[tuple[str, float]]:
        """Give event ids with their cosine to a unit vector, best first; never one that the reading does not admit.

        Raises UnavailableError while it cannot answer for the whole of the ledger.
        """
        ...


class NearbyEvents(Protocol):
    """Vectors to events as the ledger has them now, within what a reading admits."""

    async def nearest(self, vector: Vector, reading: Reading, limit: int) -> list[tuple[Event, float]]:
        """Give standing events with their cosine to a unit vector, best first; none that the reading does not admit.

        Raises UnavailableError while it cannot answer for the whole of the ledger.
        """
        ...


@dataclass(frozen=True)
class Generation:
    """One whole copy of the ledger's vectors of one model.

    ``number`` names its place in the store, ``birth`` the copy itself: a random id, never used twice.
    """

    number: int
    birth: str
    fingerprint: str
    dimensions: int


class VectorStore(Protocol):
    """A store outside the ledger that keeps vectors in generations: one is in use, the next may grow beside it.

    Every method raises UnavailableError when the store is away, slow beyond its deadline, or refuses; what it was
    asked to write may then have been written or not, and writing it again is harmless.
    """

    async def open(self) -> Generation | None:
        """Give the generation in use, warmed; None where there is none, or it is damaged or of another version."""
        ...

    async def begin(self, fingerprint: str, dimensions: int) -> Generation:
        """Make an empty generation behind the one in use; what an earlier attempt left is removed."""
        ...

    async def put_in_use(self, generation: Generation) -> None:
        """Let a generation be the one in use, durably; all others are removed from the disk, or the server."""
        ...

    async def upsert(self, generation: Generation, rows: Sequence[EmbeddedEvent]) -> None:
        """Take in rows that have vectors; BadArgument for a vector that is not finite, not nothing, of its length."""
        ...

    async def remove(self, generation: Generation, event_ids: Sequence[str]) -> None:
        """Take rows out; one that is not there is fine."""
        ...

    async def listed(self, generation: Generation) -> frozenset[str]:
        """Give the ids of all rows."""
        ...

    async def nearest(
        self, generation: Generation, vector: Vector, reading: Reading, limit: int
    ) -> list[tuple[str, float]]:
        """Search one generation as an index does; BadArgument for a vector that :meth:`upsert` would refuse."""
        ...


class SleepingStore(VectorStore, Protocol):
    """A vector store that holds much memory while it runs. Any call of VectorStore's starts it."""

    async def is_there(self) -> bool:
        """Tell, without starting anything, whether a generation is in use; a lost one may look as if it were there."""
        ...

    async def sleep(self) -> None:
        """End what runs, when what is in hand is done, and free its memory and locks; idempotent, raises nothing."""
        ...
