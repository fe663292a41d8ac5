"""Measured calibrations by embedder."""

from __future__ import annotations

from sqlite3 import Connection

import orjson

from ..ports.models import Calibration
from .database.rows import bound
from .database.table import Table, reads, writes

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
