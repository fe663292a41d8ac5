"""Failed recalls that an operator noted, and how often events were shown."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from sqlite3 import Connection

from ..domain.event import MissedEvent
from ..domain.scope import Scope
from .database.rows import bound, instant_of, micros
from .database.statements import bounded, select
from .database.table import Table, reads, writes
from .search.read_filter_sql import missed_filter


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
