"""Incognito stretches: periods in which a person is not recorded."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from sqlite3 import Connection

from ....domain.incognito import Incognito
from ....domain.scope import Scope
from ..database.database import Database
from ..database.rows import bound, micros
from ..database.statements import delete
from . import tombstones


class SqliteIncognito:
    """The incognito stretches in a database."""

    def __init__(self, database: Database) -> None:
        """Keep stretches in a database."""
        self._database = database

    async def keep(self, stretch: Incognito) -> None:
        """Store a stretch; if one with its start is known, replace the end."""
        await self._database.write(_keep, stretch)

    async def stretches(self) -> list[Incognito]:
        """Return all incognito stretches (times in which nothing is recorded), oldest first."""
        return await self._database.read(_stretches)

    async def drop(self, before: datetime) -> None:
        """Delete the stretches that ended before an instant."""
        await self._database.write(_drop, before)

    async def erase(self, stretches: Collection[Incognito], at: datetime) -> None:
        """Erase stretches, in one transaction, and record that a purge is due."""
        await self._database.write(_erase, stretches, at)


def _erase(connection: Connection, stretches: Collection[Incognito], at: datetime) -> None:
    named = [bound(one.scope.key, one.user_id, one.starts_at.isoformat()) for one in stretches]
    connection.executemany(delete("incognito", "scope = ? AND user_id = ? AND starts_at = ?"), named)
    if named:
        tombstones.record_purge_due(connection, at)


def _keep(connection: Connection, stretch: Incognito) -> None:
    connection.execute(
        "INSERT INTO incognito (scope, user_id, starts_at, ends_at, ends_us) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (scope, user_id, starts_at) DO UPDATE SET ends_at = excluded.ends_at, ends_us = excluded.ends_us",
        bound(
            stretch.scope.key,
            stretch.user_id,
            stretch.starts_at.isoformat(),
            stretch.ends_at.isoformat(),
            micros(stretch.ends_at),
        ),
    )


def _stretches(connection: Connection) -> list[Incognito]:
    rows = connection.execute("SELECT scope, user_id, starts_at, ends_at FROM incognito ORDER BY seq")
    return [
        Incognito(Scope.of_key(key), user_id, datetime.fromisoformat(start), datetime.fromisoformat(end))
        for key, user_id, start, end in rows
    ]


def _drop(connection: Connection, before: datetime) -> None:
    connection.execute("DELETE FROM incognito WHERE ends_us < ?", bound(micros(before)))
