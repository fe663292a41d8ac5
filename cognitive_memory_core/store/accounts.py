"""Model calls and tokens by purpose and day."""

from __future__ import annotations

from datetime import date
from sqlite3 import Connection

from ..domain.figures import Spending
from .database.rows import bound
from .database.statements import insert, select
from .database.table import Table, reads, writes

_COLUMNS = ("purpose", "calls", "tokens", "unreachable", "bad", "answered")
_ADDED = ", ".join(f"{name} = {name} + excluded.{name}" for name in _COLUMNS[1:])


class Accounts(Table):
    """Daily accounts of model calls and tokens, by purpose."""

    @writes
    def spend(self, connection: Connection, day: date, spending: Spending) -> None:
        """Add the cost of one purpose to a day."""
        query = insert("spending", ("day", *_COLUMNS), f"ON CONFLICT (day, purpose) DO UPDATE SET {_ADDED}")
        counts = (spending.calls, spending.tokens, spending.unreachable, spending.bad, spending.answered)
        connection.execute(query, (*bound(day.isoformat(), spending.purpose), *counts))

    @reads
    def spent(self, connection: Connection, day: date) -> list[Spending]:
        """Return a day's spending by purpose."""
        query = select(", ".join(_COLUMNS), "spending", "day = ?", "ORDER BY purpose")
        return [Spending(*row) for row in connection.execute(query, (day.isoformat(),))]
