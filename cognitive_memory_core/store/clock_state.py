"""The clock's trusted state, and the correction of wrongly dated tombstones."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from sqlite3 import Connection

import orjson

from .database.rows import instant_of, micros
from .database.table import Table, reads, writes

_KEY = "clock"  # key in the table meta


@dataclass(frozen=True)
class ClockState:
    """The latest trusted instant of the machine's clock (None before the first) and the instant seen last.

    ``steady_seconds`` is how long the clock has run without a jump.
    """

    believed_at: datetime | None
    seen_at: datetime
    steady_seconds: float


class ClockStore(Table):
    """The trust state of the machine's clock, and the correction of wrongly dated tombstones."""

    @reads
    def find(self, connection: Connection) -> ClockState | None:
        """Return the stored state; None before the first :meth:`keep`."""
        row = connection.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)).fetchone()
        if row is None:
            return None
        believed_us, seen_us, steady = orjson.loads(row[0])
        return ClockState(None if believed_us is None else instant_of(believed_us), instant_of(seen_us), steady)

    @writes
    def keep(self, connection: Connection, state: ClockState) -> None:
        """Store the state."""
        believed_us = None if state.believed_at is None else micros(state.believed_at)
        written = orjson.dumps((believed_us, micros(state.seen_at), state.steady_seconds)).decode()
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_KEY, written))

    async def redate_tombstones(self, after: datetime, to: datetime) -> int:
        """Redate the tombstones dated later than ``after`` to the instant ``to``; return how many."""
        if not await self.database.read(_has_later_than, after):
            return 0
        return await self.database.write(_redate_tombstones, after, to)


def _has_later_than(connection: Connection, after: datetime) -> bool:
    found = connection.execute("SELECT 1 FROM erasures WHERE at_us > ? LIMIT 1", (micros(after),)).fetchone()
    return found is not None


def _redate_tombstones(connection: Connection, after: datetime, to: datetime) -> int:
    query = "UPDATE erasures SET at_us = ? WHERE at_us > ?"
    return connection.execute(query, (micros(to), micros(after))).rowcount
