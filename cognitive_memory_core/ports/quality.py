"""What the quality report reads from the ledger, and its counters; see :mod:`.ledger` for their guarantees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from ..domain.fact import EventKind
from ..domain.scope import Scope
from .ledger import Spending


@dataclass(frozen=True)
class StoredCount:
    """How many active events of a kind one speaker ("" if several) has in a place.

    Of these, ``absolute`` events stand on their own and ``recalled`` events were shown at least once; ``repeats``
    counts how often the events were said.
    """

    scope: Scope
    sender_id: str
    kind: EventKind
    events: int = 0
    absolute: int = 0
    recalled: int = 0
    repeats: int = 0


@dataclass(frozen=True)
class LineCount:
    """How many lines one person has in the log of a place."""

    scope: Scope
    sender_id: str
    lines: int


@dataclass(frozen=True)
class LoggedDay:
    """The number of log lines of one day (UTC), and their estimated size on disk in bytes."""

    day: date
    lines: int
    weight: int


@dataclass(frozen=True, slots=True)
class ExaminedEvent:
    """The fields of one active event that the report examines."""

    seq: int
    id: str
    scope: str
    text: str
    kind: EventKind
    sender_id: str
    subjects: tuple[str, ...]
    is_absolute: bool
    confidence: float
    happened_at: datetime
    replaces: str = ""


REFUSED, RETRIED = "gate:", "retry"  # names of counts: rejected by the gate, with the reason; asked again for that


class Tally(Protocol):
    """Counters for the quality report. Never raise or block; the latest counts may be lost when the process dies."""

    def count(self, name: str, times: int = 1) -> None:
        """Add ``times`` to the counter of this name."""
        ...

    def recalled(self, event_ids: Iterable[str]) -> None:
        """Count events that were shown, in a context or by a search."""
        ...

    def took(self, read: str, seconds: float) -> None:
        """Count one read of the kind ``read`` by its duration."""
        ...


class Untallied:
    """A tally that counts nothing."""

    def count(self, name: str, times: int = 1) -> None:
        """Count nothing."""

    def recalled(self, event_ids: Iterable[str]) -> None:
        """Count nothing."""

    def took(self, read: str, seconds: float) -> None:
        """Count nothing."""


class QualityLedger(Protocol):
    """Figures of the whole ledger. A read is made in slices, so that no other read waits long."""

    async def stored(self) -> list[StoredCount]:
        """Count the active events by place, speaker and kind."""
        ...

    async def line_counts(self) -> list[LineCount]:
        """Count the lines of people in the log by place and person; those of bots are left out."""
        ...

    async def logged(self) -> list[LoggedDay]:
        """Count the lines of the log by day, oldest first."""
        ...

    async def statements(self, before: int | None, limit: int) -> list[ExaminedEvent]:
        """Return active events, the latest stored first; with ``before``, those with a lower ``seq``."""
        ...

    async def spent(self, since: date) -> list[tuple[date, Spending]]:
        """Return what was spent from a day on, oldest first."""
        ...

    async def tally(self, day: date, counts: Mapping[str, int], recalled: Mapping[str, int], at: datetime) -> None:
        """Add ``counts`` to a day, and ``recalled`` to how often each event was shown; deleted events are ignored."""
        ...

    async def tallies(self, since: date) -> list[tuple[date, str, int]]:
        """Return the counts from a day on, oldest first."""
        ...
