"""What the memory knows of itself: model calls by day, the trusted clock, measured calibrations."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from sqlite3 import Connection

import orjson

from ..domain.figures import Spending
from ..ports.models import Calibration
from .database.rows import bound, instant_of, micros
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

    @writes
    def redate_tombstones(self, connection: Connection, after: datetime, to: datetime) -> int:
        """Redate the tombstones dated later than ``after`` to the instant ``to``; return how many."""
        query = "UPDATE erasures SET at_us = ? WHERE at_us > ?"
        return connection.execute(query, (micros(to), micros(after))).rowcount


_PREFIX = "calibration of "  # key prefix in the table meta


class CalibrationBook(Table):
    """Measured calibrations by the embedder's fingerprint."""

    @reads
    def find(self, connection: Connection, fingerprint: str) -> Calibration | None:
        """Return the stored calibration; None if there is none."""
        row = connection.execute("SELECT value FROM meta WHERE key = ?", bound(_PREFIX + fingerprint)).fetchone()
        return None if row is None else Calibration(**orjson.loads(row[0]))

    @writes
    def keep(self, connection: Connection, fingerprint: str, calibration: Calibration) -> None:
        """Store a calibration, replacing an earlier one."""
        written = orjson.dumps(calibration).decode()
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", bound(_PREFIX + fingerprint, written))
