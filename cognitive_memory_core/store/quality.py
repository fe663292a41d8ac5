"""Figures of the whole ledger for the quality report, read in slices, and the counters behind it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from sqlite3 import Connection
from typing import Any

from ..domain.event import EventKind, MissedEvent
from ..domain.figures import Spending
from ..domain.message import BYTE_WEIGHT, ROW_WEIGHT
from ..domain.scope import Scope
from .database.rows import Row, bound, instant_of, micros, moment_of
from .database.statements import bounded, insert, select
from .database.table import Table, reads, writes
from .search.read_filter_sql import missed_filter

TOGETHER = 20_000  # rows of one read
_EPOCH = date(1970, 1, 1)
_DAY = 86_400_000_000  # microseconds
_SPENDING = "day, purpose, calls, tokens, unreachable, bad, answered"
_EXAMINED = "seq, id, scope, text, kind, sender_id, subjects, is_absolute, confidence, happened_at, replaces"
_WITHIN = "seq > ?1 AND seq <= ?2"
_STORED = select(
    "e.scope, e.sender_id, e.kind, count(*), sum(e.is_absolute), count(r.seq), sum(e.count)",
    "events e LEFT JOIN recalls r ON r.seq = e.seq",
    "e.seq > ?1 AND e.seq <= ?2 AND e.retired_at IS NULL",
    "GROUP BY e.scope, e.sender_id, e.kind",
)
_SPOKEN = select("scope, sender_id, count(*)", "messages", f"{_WITHIN} AND is_bot = 0", "GROUP BY scope, sender_id")
_LOGGED = select(
    f"at_us / {_DAY} AS day, count(*), sum({ROW_WEIGHT} + {BYTE_WEIGHT} * length(CAST(text AS BLOB)))",
    "messages",
    _WITHIN,
    "GROUP BY day",
)
_COUNTED = "ON CONFLICT (day, name) DO UPDATE SET count = count + excluded.count"
_SHOWN = (
    "INSERT INTO recalls SELECT seq, ?, ? FROM events WHERE id = ?"
    " ON CONFLICT (seq) DO UPDATE SET times = times + excluded.times, last_us = excluded.last_us"
)

_Added = dict[tuple[Any, ...], tuple[int, ...]]


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


class QualityLedger(Table):
    """Figures of the whole ledger. A read is made in slices, so that no other read waits long."""

    async def stored(self) -> list[StoredCount]:
        """Count the active events by place, speaker and kind."""
        found = await self._added("events", _STORED, 3)
        return await self.database.read(_stored_counts, found)

    async def line_counts(self) -> list[LineCount]:
        """Count the lines of people in the log by place and person; those of bots are left out."""
        found = await self._added("messages", _SPOKEN, 2)
        return await self.database.read(_line_counts, found)

    async def logged(self) -> list[LoggedDay]:
        """Count the lines of the log by day, oldest first."""
        found = await self._added("messages", _LOGGED, 1)
        return [LoggedDay(_EPOCH + timedelta(days=day), *counts) for (day,), counts in sorted(found.items())]

    @reads
    def statements(self, connection: Connection, before: int | None, limit: int) -> list[ExaminedEvent]:
        """Return active events, the latest stored first; with ``before``, those with a lower ``seq``."""
        where = "retired_at IS NULL AND (?1 IS NULL OR seq < ?1)"
        query = select(_EXAMINED, "events", where, "ORDER BY seq DESC LIMIT ?2")
        return [_examined(row) for row in connection.execute(query, (before, bounded(limit)))]

    @reads
    def spent(self, connection: Connection, since: date) -> list[tuple[date, Spending]]:
        """Return what was spent from a day on, oldest first."""
        query = select(_SPENDING, "spending", "day >= ?", "ORDER BY day, purpose")
        rows = connection.execute(query, bound(since.isoformat()))
        return [(date.fromisoformat(day), Spending(*counts)) for day, *counts in rows]

    @writes
    def tally(
        self, connection: Connection, day: date, counts: Mapping[str, int], recalled: Mapping[str, int], at: datetime
    ) -> None:
        """Add ``counts`` to a day, and ``recalled`` to how often each event was shown; deleted events are ignored."""
        rows = [(*bound(day.isoformat(), name), count) for name, count in counts.items()]
        connection.executemany(insert("tallies", ("day", "name", "count"), _COUNTED), rows)
        shown = [(times, micros(at), *bound(event_id)) for event_id, times in recalled.items()]
        connection.executemany(_SHOWN, shown)

    @reads
    def tallies(self, connection: Connection, since: date) -> list[tuple[date, str, int]]:
        """Return the counts from a day on, oldest first."""
        query = select("day, name, count", "tallies", "day >= ?", "ORDER BY day, name")
        rows = connection.execute(query, bound(since.isoformat()))
        return [(date.fromisoformat(day), name, count) for day, name, count in rows]

    async def _added(self, table: str, query: str, keys: int) -> _Added:
        """Add up the figures of a query over slices of a table; the first ``keys`` columns are the key."""
        last: int = await self.database.read(_last, table)
        added: _Added = {}
        for first in range(0, last, TOGETHER):
            await self.database.read(_add_slice, query, first, keys, added)
        return added


def _last(connection: Connection, table: str) -> int:
    return connection.execute(select("coalesce(max(seq), 0)", table, "TRUE")).fetchone()[0]


def _add_slice(connection: Connection, query: str, first: int, keys: int, added: _Added) -> None:
    """Add the figures of a slice of rows to ``added``; done in the reading thread, because there can be many."""
    for row in connection.execute(query, (first, first + TOGETHER)):
        key, counts = tuple(row[:keys]), tuple(row[keys:])
        added[key] = tuple(map(sum, zip(added[key], counts, strict=True))) if key in added else counts


def _stored_counts(_: Connection, found: _Added) -> list[StoredCount]:
    scopes = {key: Scope.of_key(key) for key in {key[0] for key in found}}
    return [StoredCount(scopes[scope], *key, *counts) for (scope, *key), counts in found.items()]


def _line_counts(_: Connection, found: _Added) -> list[LineCount]:
    scopes = {key: Scope.of_key(key) for key in {key[0] for key in found}}
    return [LineCount(scopes[scope], person, *counts) for (scope, person), counts in found.items()]


def _examined(row: Row) -> ExaminedEvent:
    seq, event_id, scope, text, kind, sender_id, subjects, is_absolute, confidence, at, replaces = row
    people = tuple(json.loads(subjects))
    return ExaminedEvent(
        seq, event_id, scope, text, kind, sender_id, people, bool(is_absolute), confidence, moment_of(at), replaces
    )


class MissedBook(Table):
    """Recall failures that an operator noted, as cases, and how often each event was shown.

    A case is erased with its event, the person who asked, or its place.
    """

    @writes
    def note(self, connection: Connection, case: MissedEvent) -> None:
        """Store a case; does nothing if its id is known or its event is not stored."""
        row = connection.execute(select("seq", "events", "id = ?"), bound(case.event_id)).fetchone()
        if row is not None:
            values = bound(case.id, case.scope.key, case.user_id, case.text)
            connection.execute(
                "INSERT OR IGNORE INTO missed (id, scope, user_id, text, event_seq, at_us) VALUES (?, ?, ?, ?, ?, ?)",
                (*values, row[0], micros(case.noted_at)),
            )

    @reads
    def cases(
        self, connection: Connection, agent: str | None, limit: int, offset: int = 0, *, without: Collection[str] = ()
    ) -> list[MissedEvent]:
        """Return the cases of an agent, or of all, the latest first, each with its event's text.

        A case is left out if its event is forgotten, or if one of the people ``without`` asked the question, said the
        event, or is a subject of the event.
        """
        columns = "m.id, m.scope, m.user_id, m.text, e.id, m.at_us, e.text"
        source = "missed m JOIN events e ON e.seq = m.event_seq"
        clause, values = missed_filter(agent, without)
        query = select(columns, source, clause, "ORDER BY m.seq DESC LIMIT ? OFFSET ?")
        rows = connection.execute(query, (*values, bounded(limit), bounded(offset)))
        return [
            MissedEvent(case_id, Scope.of_key(scope), user_id, text, event_id, instant_of(at), wanted)
            for case_id, scope, user_id, text, event_id, at, wanted in rows
        ]

    @writes
    def drop(self, connection: Connection, case_id: str) -> None:
        """Delete a case; does nothing if there is none."""
        connection.execute("DELETE FROM missed WHERE id = ?", bound(case_id))

    @reads
    def recalled(self, connection: Connection, event_id: str) -> tuple[int, datetime | None]:
        """Return how often an event was shown, and when last; 0 and None if it never was."""
        query = select("r.times, r.last_us", "recalls r JOIN events e ON e.seq = r.seq", "e.id = ?")
        row = connection.execute(query, bound(event_id)).fetchone()
        return (row[0], instant_of(row[1])) if row else (0, None)
