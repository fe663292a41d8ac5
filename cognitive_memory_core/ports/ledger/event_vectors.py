"""The events' vectors, their changes in order, and how far a vector store has followed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ...domain.event import Event
from ..models import Vector


@dataclass(frozen=True)
class EmbeddedEvent:
    """An event with its vector; ``fingerprint`` is that of the embedding model, "" if there is no vector."""

    event: Event
    fingerprint: str = ""
    vector: Vector | None = None


@dataclass(frozen=True)
class VectorRow:
    """A vector to be stored, with the text that it was made from (None if the text cannot have changed)."""

    event_id: str
    vector: Vector
    text: str | None = None


@dataclass(frozen=True, order=True)
class Checkpoint:
    """A position in the ledger's sequence of changes: all changes up to it are applied."""

    revision: int = 0
    seq: int = 0


@dataclass(frozen=True)
class VectorChange:
    """A change of one event's vector; if ``row`` is None, vector search must no longer find the event."""

    checkpoint: Checkpoint
    event_id: str
    row: EmbeddedEvent | None


class VectorLedger(Protocol):
    """Vectors stored with their events, so that an index is rebuilt without embedding again."""

    async def waiting(self, fingerprint: str, limit: int) -> list[tuple[str, str]]:
        """Return ids and texts of active events without a vector of this embedding model, oldest first."""
        ...

    async def store(self, fingerprint: str, rows: Sequence[VectorRow]) -> None:
        """Store vectors; drop rows whose event is gone or has another text now."""
        ...

    async def lag(self, fingerprint: str) -> int:
        """Return the number of events that :meth:`waiting` would return without a limit."""
        ...

    async def dimensions(self, fingerprint: str) -> int:
        """Return the length of the stored vectors of a fingerprint; 0 if there are none."""
        ...

    async def changes(self, fingerprint: str, after: Checkpoint, limit: int) -> list[VectorChange]:
        """Return at most ``limit`` changes after a checkpoint, in order.

        An event that changed several times occurs once, in its current state; its ``row`` is None unless the event is
        active and has a vector of the fingerprint. Erased events do not occur; :class:`Eraser` returns their ids.
        """
        ...

    async def behind(self, fingerprint: str, after: Checkpoint) -> int:
        """Return the number of changes after a checkpoint."""
        ...

    async def embedded_ids(self, fingerprint: str) -> frozenset[str]:
        """Return the ids of all active events with a vector of the fingerprint."""
        ...


class CheckpointBook(Protocol):
    """The checkpoint of each generation of a vector store.

    It is stored in the ledger, so that after a crash or a restored backup it is never ahead of the ledger's changes.
    """

    async def checkpoint(self, build_id: str) -> Checkpoint | None:
        """Return the checkpoint of the generation with this ``build_id``; None if none was stored."""
        ...

    async def furthest(self) -> Checkpoint | None:
        """Return the furthest checkpoint of all generations; None if none was stored."""
        ...

    async def note(self, build_id: str, checkpoint: Checkpoint) -> None:
        """Store a generation's checkpoint; those of other generations are kept."""
        ...

    async def keep_only(self, build_id: str) -> None:
        """Delete the checkpoints of all other generations."""
        ...
