"""Incognito periods: times in which a person is not recorded."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from sqlite3 import Connection

from ..domain.incognito import Incognito
from ..domain.scope import Scope
from . import tombstones
from .database.database import Database
from .database.rows import bound, micros
from .database.statements import delete


class IncognitoBook:
    """Periods in which people asked not to be recorded in a place."""

    def __init__(self, database: Database) -> None:
        """Keep periods in a database."""
        self._database = database

    async def keep(self, period: Incognito) -> None:
        """Store a period, or replace the end of the one with the same place, person and start."""
        await self._database.write(_keep, period)

    async def periods(self) -> list[Incognito]:
        """Return all incognito periods (times in which nothing is recorded), oldest first."""
        return await self._database.read(_periods)

    async def drop(self, before: datetime) -> None:
        """Delete the periods that ended before an instant."""
        await self._database.write(_drop, before)

    async def erase(self, periods: Collection[Incognito], at: datetime) -> None:
        """Erase periods because their person or place was erased; a purge is due afterwards."""
        await self._database.write(_erase, periods, at)


def _erase(connection: Connection, periods: Collection[Incognito], at: datetime) -> None:
    named = [bound(one.scope.key, one.user_id, one.starts_at.isoformat()) for one in periods]
    connection.executemany(delete("incognito", "scope = ? AND user_id = ? AND starts_at = ?"), named)
    if named:
        tombstones.record_purge_due(connection, at)


def _keep(connection: Connection, period: Incognito) -> None:
    connection.execute(
        "INSERT INTO incognito (scope, user_id, starts_at, ends_at, ends_us) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (scope, user_id, starts_at) DO UPDATE SET ends_at = excluded.ends_at, ends_us = excluded.ends_us",
        bound(
            period.scope.key,
            period.user_id,
            period.starts_at.isoformat(),
            period.ends_at.isoformat(),
            micros(period.ends_at),
        ),
    )


def _periods(connection: Connection) -> list[Incognito]:
    rows = connection.execute("SELECT scope, user_id, starts_at, ends_at FROM incognito ORDER BY seq")
    return [
        Incognito(Scope.of_key(key), user_id, datetime.fromisoformat(start), datetime.fromisoformat(end))
        for key, user_id, start, end in rows
    ]


def _drop(connection: Connection, before: datetime) -> None:
    connection.execute("DELETE FROM incognito WHERE ends_us < ?", bound(micros(before)))
