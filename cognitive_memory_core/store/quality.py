"""Figures of the whole ledger for the quality report, and the counters behind it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from sqlite3 import Connection

from ..domain.event import EventKind, MissedEvent
from ..domain.figures import Spending
from ..domain.message import BYTE_WEIGHT, ROW_WEIGHT
from ..domain.scope import Scope
from .database.rows import bound, instant_of, micros, moment_of
from .database.sql import bounded
from .database.table import Table, reads, writes
from .search.read_filter_sql import missed_filter

_EPOCH = date(1970, 1, 1)
_DAY = 86_400_000_000  # microseconds
_STORED = """
SELECT e.scope, e.sender_id, e.kind, count(*), sum(e.is_absolute), count(r.seq), sum(e.count)
FROM events e LEFT JOIN recalls r ON r.seq = e.seq
WHERE e.retired_at IS NULL GROUP BY e.scope, e.sender_id, e.kind"""
_SPOKEN = """
SELECT scope, sender_id, count(*) FROM messages WHERE is_bot = 0 GROUP BY scope, sender_id"""
_LOGGED = f"""
SELECT at_us / {_DAY} AS day, count(*), sum({ROW_WEIGHT} + {BYTE_WEIGHT} * length(CAST(text AS BLOB)))
FROM messages GROUP BY day ORDER BY day"""


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
    """Figures of the whole ledger."""

    @reads
    def stored(self, connection: Connection) -> list[StoredCount]:
        """Count the active events by place, speaker and kind."""
        return [StoredCount(Scope.of_key(key), *counts) for key, *counts in connection.execute(_STORED)]

    @reads
    def line_counts(self, connection: Connection) -> list[LineCount]:
        """Count the lines of people in the log by place and person; those of bots are left out."""
        return [LineCount(Scope.of_key(key), *counts) for key, *counts in connection.execute(_SPOKEN)]

    @reads
    def logged(self, connection: Connection) -> list[LoggedDay]:
        """Count the lines of the log by day, oldest first."""
        return [LoggedDay(_EPOCH + timedelta(days=day), *counts) for day, *counts in connection.execute(_LOGGED)]

    @reads
    def statements(self, connection: Connection, before: int | None, limit: int) -> list[ExaminedEvent]:
        """Return active events, the latest stored first; with ``before``, those with a lower ``seq``."""
        query = (
            "SELECT seq, id, scope, text, kind, sender_id, subjects, is_absolute, confidence, happened_at, replaces"
            " FROM events WHERE retired_at IS NULL AND (?1 IS NULL OR seq < ?1) ORDER BY seq DESC LIMIT ?2"
        )
        return [
            ExaminedEvent(
                *(seq, event_id, scope, text, kind, sender_id, tuple(json.loads(subjects))),
                *(bool(is_absolute), confidence, moment_of(at), replaces),
            )
            for seq, event_id, scope, text, kind, sender_id, subjects, is_absolute, confidence, at, replaces in (
                connection.execute(query, (before, bounded(limit)))
            )
        ]

    @reads
    def spent(self, connection: Connection, since: date) -> list[tuple[date, Spending]]:
        """Return what was spent from a day on, oldest first."""
        query = (
            "SELECT day, purpose, calls, tokens, unreachable, bad, answered FROM spending"
            " WHERE day >= ? ORDER BY day, purpose"
        )
        rows = connection.execute(query, bound(since.isoformat()))
        return [(date.fromisoformat(day), Spending(*counts)) for day, *counts in rows]

    @writes
    def tally(
        self, connection: Connection, day: date, counts: Mapping[str, int], recalled: Mapping[str, int], at: datetime
    ) -> None:
        """Add ``counts`` to a day, and ``recalled`` to how often each event was shown; deleted events are ignored."""
        connection.executemany(
            "INSERT INTO tallies (day, name, count) VALUES (?, ?, ?)"
            " ON CONFLICT (day, name) DO UPDATE SET count = count + excluded.count",
            [(*bound(day.isoformat(), name), count) for name, count in counts.items()],
        )
        connection.executemany(
            "INSERT INTO recalls SELECT seq, ?, ? FROM events WHERE id = ?"
            " ON CONFLICT (seq) DO UPDATE SET times = times + excluded.times, last_us = excluded.last_us",
            [(times, micros(at), *bound(event_id)) for event_id, times in recalled.items()],
        )

    @reads
    def tallies(self, connection: Connection, since: date) -> list[tuple[date, str, int]]:
        """Return the counts from a day on, oldest first."""
        query = "SELECT day, name, count FROM tallies WHERE day >= ? ORDER BY day, name"
        rows = connection.execute(query, bound(since.isoformat()))
        return [(date.fromisoformat(day), name, count) for day, name, count in rows]


class MissedBook(Table):
    """Recall failures that an operator noted, as cases, and how often each event was shown.

    A case is erased with its event, the person who asked, or its place.
    """

    @writes
    def note(self, connection: Connection, case: MissedEvent) -> None:
        """Store a case; does nothing if its id is known or its event is not stored."""
        connection.execute(
            "INSERT OR IGNORE INTO missed (id, scope, user_id, text, at_us, event_seq)"
            " SELECT ?, ?, ?, ?, ?, seq FROM events WHERE id = ?",
            bound(case.id, case.scope.key, case.user_id, case.text, micros(case.noted_at), case.event_id),
        )

    @reads
    def cases(
        self, connection: Connection, agent: str | None, limit: int, offset: int = 0, *, without: Collection[str] = ()
    ) -> list[MissedEvent]:
        """Return the cases of an agent, or of all, the latest first, each with its event's text.

        A case is left out if its event is forgotten, or if one of the people ``without`` asked the question, said the
        event, or is a subject of the event.
        """
        clause, values = missed_filter(agent, without)
        rows = connection.execute(
            "SELECT m.id, m.scope, m.user_id, m.text, e.id, m.at_us, e.text"
            f" FROM missed m JOIN events e ON e.seq = m.event_seq WHERE {clause} ORDER BY m.seq DESC LIMIT ? OFFSET ?",
            (*values, bounded(limit), bounded(offset)),
        )
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
        query = "SELECT r.times, r.last_us FROM recalls r JOIN events e ON e.seq = r.seq WHERE e.id = ?"
        row = connection.execute(query, bound(event_id)).fetchone()
        return (row[0], instant_of(row[1])) if row else (0, None)
