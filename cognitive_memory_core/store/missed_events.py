"""Failed recalls that an operator noted, and how often events were shown."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from sqlite3 import Connection

from ..domain.missed_event import MissedEvent
from ..domain.scope import Scope
from .database.database import Database
from .database.rows import bound, instant_of, micros
from .database.statements import bounded, select
from .search.read_filter_sql import Filter, missed_filter


class MissedBook:
    """Recall failures that an operator noted, as cases, and how often each event was shown.

    A case is erased with its event, the person who asked, or its place.
    """

    def __init__(self, database: Database) -> None:
        """Keep cases in a database."""
        self._database = database

    async def note(self, case: MissedEvent) -> None:
        """Store a case; does nothing if its id is known or its event is not stored."""
        await self._database.write(_note, case)

    async def cases(
        self, agent: str | None, limit: int, offset: int = 0, *, without: Collection[str] = ()
    ) -> list[MissedEvent]:
        """Return the cases of an agent, or of all, the latest first, each with its event's text.

        A case is left out if its event is forgotten, or if one of the people ``without`` asked the question, said the
        event, or is a subject of the event.
        """
        return await self._database.read(_cases, missed_filter(agent, without), bounded(limit), bounded(offset))

    async def drop(self, case_id: str) -> None:
        """Delete a case; does nothing if there is none."""
        await self._database.write(_drop, case_id)

    async def recalled(self, event_id: str) -> tuple[int, datetime | None]:
        """Return how often an event was shown, and when last; 0 and None if it never was."""
        return await self._database.read(_recalled, event_id)


def _note(connection: Connection, case: MissedEvent) -> None:
    row = connection.execute(select("seq", "events", "id = ?"), bound(case.event_id)).fetchone()
    if row is not None:
        values = bound(case.id, case.scope.key, case.user_id, case.text)
        connection.execute(
            "INSERT OR IGNORE INTO missed (id, scope, user_id, text, event_seq, at_us) VALUES (?, ?, ?, ?, ?, ?)",
            (*values, row[0], micros(case.noted_at)),
        )


def _cases(connection: Connection, chosen: Filter, limit: int, offset: int) -> list[MissedEvent]:
    columns = "m.id, m.scope, m.user_id, m.text, e.id, m.at_us, e.text"
    source = "missed m JOIN events e ON e.seq = m.event_seq"
    clause, values = chosen
    query = select(columns, source, clause, "ORDER BY m.seq DESC LIMIT ? OFFSET ?")
    rows = connection.execute(query, (*values, limit, offset))
    return [
        MissedEvent(case_id, Scope.of_key(scope), user_id, text, event_id, instant_of(at), wanted)
        for case_id, scope, user_id, text, event_id, at, wanted in rows
    ]


def _drop(connection: Connection, case_id: str) -> None:
    connection.execute("DELETE FROM missed WHERE id = ?", bound(case_id))


def _recalled(connection: Connection, event_id: str) -> tuple[int, datetime | None]:
    query = select("r.times, r.last_us", "recalls r JOIN events e ON e.seq = r.seq", "e.id = ?")
    row = connection.execute(query, bound(event_id)).fetchone()
    return (row[0], instant_of(row[1])) if row else (0, None)
