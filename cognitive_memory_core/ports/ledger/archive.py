"""All rows, for export, import and status."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from ...domain.belief import Belief, Change
from ...domain.interval import Interval
from ...domain.message import Message
from ...domain.note import Memo, Pin
from ...domain.place_switch import PlaceSwitch
from ...domain.scope import Scope
from ...domain.suggestion import SuggestionDecision
from .event_vectors import EmbeddedEvent
from .people import Alias


@dataclass(frozen=True)
class OptOut:
    """One person's opt-out, as exported."""

    user_id: str
    at: datetime


@dataclass(frozen=True)
class Shared:
    """One person's consent to show their own profile in every place, as exported."""

    user_id: str
    at: datetime


ArchiveRow = (
    EmbeddedEvent | Message | Memo | Pin | Alias | OptOut | Shared | PlaceSwitch | Belief | Change | SuggestionDecision
)


@dataclass(frozen=True)
class Totals:
    """Row counts of the ledger: active events, forgotten or withdrawn events, messages, memos, pins, active beliefs."""

    events: int = 0
    retired: int = 0
    messages: int = 0
    memos: int = 0
    pins: int = 0
    beliefs: int = 0


@dataclass(frozen=True)
class DayCount:
    """The lines that were logged on one day, and the active events that happened on it."""

    day: date
    messages: int = 0
    events: int = 0


@dataclass(frozen=True)
class Activity:
    """Active events and logged lines of a place or of the whole ledger: in total, and by day, the oldest day first."""

    events: int = 0
    messages: int = 0
    days: tuple[DayCount, ...] = ()


class RowSource(Protocol):
    """Reads all rows of the ledger for an export."""

    def rows(self, *, user_id: str | None = None) -> AsyncIterator[ArchiveRow]:
        """Stream all active rows in batches, or only what one person said and the pins that they own or wrote.

        Opt-outs come first, because an import must apply them before all other rows.
        """
        ...


class Archive(RowSource, Protocol):
    """Reads, counts and imports all rows of the ledger."""

    async def import_rows(self, rows: Sequence[ArchiveRow], told: Sequence[Alias] = ()) -> int:
        """Write rows in one transaction; return the number of new rows.

        Names that the rows only ``told`` are written if their person has them nowhere, and not counted.

        Rows are skipped if their id exists, if their person opted out or was erased, or if they are texts of other
        people that contain the id of an erased person.
        """
        ...

    async def totals(self) -> Totals:
        """Return the row counts."""
        ...

    async def activity(self, scope: Scope | None, days: Sequence[Interval]) -> Activity:
        """Count the active events and logged messages of a place (None: all places), in total and on each of the days.

        ``days`` must follow each other without a gap.
        """
        ...
