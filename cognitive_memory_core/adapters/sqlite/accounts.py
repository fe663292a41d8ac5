"""Model calls and tokens by purpose and day."""

from __future__ import annotations

from datetime import date
from sqlite3 import Connection

from ...ports.ledger import Spending
from .database import Database
from .rows import bound


class SqliteAccounts:
    """The spending in a database."""

    def __init__(self, database: Database) -> None:
        """Keep accounts in a database."""
        self._database = database

    async def spend(self, day: date, spending: Spending) -> None:
        """Add to a day."""
        await self._database.write(_spend, day, spending)

    async def spent(self, day: date) -> list[Spending]:
        """Give a day's spending by purpose."""
        return await self._database.read(_spent, day)


def _spend(connection: Connection, day: date, spending: Spending) -> None:
    connection.execute(
        "INSERT INTO spending VALUES (?, ?, ?, ?) ON CONFLICT (day, purpose)"
        " DO UPDATE SET calls = calls + excluded.calls, tokens = tokens + excluded.tokens",
        bound(day.isoformat(), spending.purpose, spending.calls, spending.tokens),
    )


def _spent(connection: Connection, day: date) -> list[Spending]:
    query = "SELECT purpose, calls, tokens FROM spending WHERE day = ? ORDER BY purpose"
    return [Spending(*row) for row in connection.execute(query, (day.isoformat(),))]
