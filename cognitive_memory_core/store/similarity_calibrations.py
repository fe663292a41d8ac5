"""Measured calibrations by embedder."""

from __future__ import annotations

from sqlite3 import Connection

import orjson

from ..ports.models import Calibration
from .database.database import Database
from .database.rows import bound

_PREFIX = "calibration of "  # key prefix in the table meta


class CalibrationBook:
    """Measured calibrations by the embedder's fingerprint."""

    def __init__(self, database: Database) -> None:
        """Keep calibrations in a database."""
        self._database = database

    async def find(self, fingerprint: str) -> Calibration | None:
        """Return the stored calibration; None if there is none."""
        return await self._database.read(_find, fingerprint)

    async def keep(self, fingerprint: str, calibration: Calibration) -> None:
        """Store a calibration, replacing an earlier one."""
        await self._database.write(_keep, fingerprint, calibration)


def _find(connection: Connection, fingerprint: str) -> Calibration | None:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", bound(_PREFIX + fingerprint)).fetchone()
    return None if row is None else Calibration(**orjson.loads(row[0]))


def _keep(connection: Connection, fingerprint: str, calibration: Calibration) -> None:
    written = orjson.dumps(calibration).decode()
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", bound(_PREFIX + fingerprint, written))
