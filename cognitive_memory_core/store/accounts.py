"""Model calls and tokens by purpose and day."""

from __future__ import annotations

from datetime import date
from sqlite3 import Connection

from ..domain.figures import Spending
from .database.database import Database
from .database.rows import bound
from .database.statements import insert, select

_COLUMNS = ("purpose", "calls", "tokens", "unreachable", "bad", "answered")
_ADDED = ", ".join(f"{name} = {name} + excluded.{name}" for name in _COLUMNS[1:])


class Accounts:
    """Daily accounts of model calls and tokens, by purpose."""

    def __init__(self, database: Database) -> None:
        """Keep accounts in a database."""
        self._database = database

    async def spend(self, day: date, spending: Spending) -> None:
        """Add the cost of one purpose to a day."""
        await self._database.write(_spend, day, spending)

    async def spent(self, day: date) -> list[Spending]:
        """Return a day's spending by purpose."""
        return await self._database.read(_spent, day)


def _spend(connection: Connection, day: date, spending: Spending) -> None:
    query = insert("spending", ("day", *_COLUMNS), f"ON CONFLICT (day, purpose) DO UPDATE SET {_ADDED}")
    counts = (spending.calls, spending.tokens, spending.unreachable, spending.bad, spending.answered)
    connection.execute(query, (*bound(day.isoformat(), spending.purpose), *counts))


def _spent(connection: Connection, day: date) -> list[Spending]:
    query = select(", ".join(_COLUMNS), "spending", "day = ?", "ORDER BY purpose")
    return [Spending(*row) for row in connection.execute(query, (day.isoformat(),))]
