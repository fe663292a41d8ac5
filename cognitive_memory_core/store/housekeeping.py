"""What the memory knows of itself: model calls by day, the trusted clock, measured calibrations."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from sqlite3 import Connection
from typing import Any

import orjson

from ..domain.figures import Spending
from ..ports.models import Calibration
from .database.rows import bound, instant_of, micros
from .database.table import Table, reads, writes


@dataclass(frozen=True)
class ClockState:
    """The latest trusted instant of the machine's clock (None before the first) and the instant seen last.

    ``steady_seconds`` is how long the clock has run without a jump.
    """

    believed_at: datetime | None
    seen_at: datetime
    steady_seconds: float


class Housekeeping(Table):
    """What the memory stores about itself: model calls by day, the trusted clock, calibrations of embedders."""

    @writes
    def spend(self, connection: Connection, day: date, spending: Spending) -> None:
        """Add the cost of one purpose to a day."""
        added = ", ".join(f"{name} = {name} + excluded.{name}" for name in _COUNTED)
        connection.execute(
            f"INSERT INTO spending (day, purpose, {', '.join(_COUNTED)}) VALUES (?, ?, ?, ?, ?, ?, ?)"
            f" ON CONFLICT (day, purpose) DO UPDATE SET {added}",
            bound(day.isoformat(), spending.purpose, *(getattr(spending, name) for name in _COUNTED)),
        )

    @reads
    def spent(self, connection: Connection, day: date) -> list[Spending]:
        """Return a day's spending by purpose."""
        query = f"SELECT purpose, {', '.join(_COUNTED)} FROM spending WHERE day = ? ORDER BY purpose"
        return [Spending(*row) for row in connection.execute(query, (day.isoformat(),))]

    @reads
    def clock(self, connection: Connection) -> ClockState | None:
        """Return the trust state of the machine's clock; None before the first :meth:`keep_clock`."""
        written = _kept(connection, "clock")
        if written is None:
            return None
        believed_us, seen_us, steady = written
        return ClockState(None if believed_us is None else instant_of(believed_us), instant_of(seen_us), steady)

    @writes
    def keep_clock(self, connection: Connection, state: ClockState) -> None:
        """Store the trust state of the machine's clock."""
        believed_us = None if state.believed_at is None else micros(state.believed_at)
        _keep(connection, "clock", (believed_us, micros(state.seen_at), state.steady_seconds))

    @writes
    def redate_tombstones(self, connection: Connection, after: datetime, to: datetime) -> int:
        """Redate the tombstones dated later than ``after`` to the instant ``to``; return how many."""
        query = "UPDATE erasures SET at_us = ? WHERE at_us > ?"
        return connection.execute(query, (micros(to), micros(after))).rowcount

    @reads
    def calibration(self, connection: Connection, fingerprint: str) -> Calibration | None:
        """Return the calibration measured for an embedder's fingerprint; None if there is none."""
        written = _kept(connection, f"calibration of {fingerprint}")
        return None if written is None else Calibration(**written)

    @writes
    def keep_calibration(self, connection: Connection, fingerprint: str, calibration: Calibration) -> None:
        """Store a calibration, replacing an earlier one."""
        _keep(connection, f"calibration of {fingerprint}", calibration)

    @reads
    def may_borrow(self, connection: Connection) -> bool:
        """Return whether the ledger was begun by a version that borrows models of other programs."""
        return _kept(connection, "borrows") is not None

    @writes
    def note_borrowing(self, connection: Connection) -> None:
        """Mark a new ledger as begun by such a version."""
        _keep(connection, "borrows", value=True)


_COUNTED = ("calls", "tokens", "unreachable", "bad", "answered")


def _kept(connection: Connection, key: str) -> Any:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", bound(key)).fetchone()
    return None if row is None else orjson.loads(row[0])


def _keep(connection: Connection, key: str, value: object) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", bound(key, orjson.dumps(value).decode()))
