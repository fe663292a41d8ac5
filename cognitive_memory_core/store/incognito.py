"""Incognito periods: times in which a person is not recorded."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from sqlite3 import Connection

from ..domain.scope import Incognito, Scope
from . import tombstones
from .database.rows import bound, micros
from .database.statements import delete
from .database.table import Table, reads, writes


class IncognitoBook(Table):
    """Periods in which people asked not to be recorded in a place."""

    @writes
    def keep(self, connection: Connection, period: Incognito) -> None:
        """Store a period, or replace the end of the one with the same place, person and start."""
        connection.execute(
            "INSERT INTO incognito (scope, user_id, starts_at, ends_at, ends_us) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (scope, user_id, starts_at)"
            " DO UPDATE SET ends_at = excluded.ends_at, ends_us = excluded.ends_us",
            bound(
                period.scope.key,
                period.user_id,
                period.starts_at.isoformat(),
                period.ends_at.isoformat(),
                micros(period.ends_at),
            ),
        )

    @reads
    def periods(self, connection: Connection) -> list[Incognito]:
        """Return all incognito periods (times in which nothing is recorded), oldest first."""
        rows = connection.execute("SELECT scope, user_id, starts_at, ends_at FROM incognito ORDER BY seq")
        return [
            Incognito(Scope.of_key(key), user_id, datetime.fromisoformat(start), datetime.fromisoformat(end))
            for key, user_id, start, end in rows
        ]

    @writes
    def drop(self, connection: Connection, before: datetime) -> None:
        """Delete the periods that ended before an instant."""
        connection.execute("DELETE FROM incognito WHERE ends_us < ?", bound(micros(before)))

    @writes
    def erase(self, connection: Connection, periods: Collection[Incognito], at: datetime) -> None:
        """Erase periods because their person or place was erased; a purge is due afterwards."""
        named = [bound(one.scope.key, one.user_id, one.starts_at.isoformat()) for one in periods]
        connection.executemany(delete("incognito", "scope = ? AND user_id = ? AND starts_at = ?"), named)
        if named:
            tombstones.record_purge_due(connection, at)
