"""Snapshots: reads that a thread carries out together see one state of the file, and convert each row only once."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, suppress
from sqlite3 import Connection
from typing import Any


class SnapshotConnection(Connection):
    """A reading connection with the rows that were converted in its present snapshot, by table and seq."""

    def __init__(self, *args: Any, **options: Any) -> None:
        """Open a connection as sqlite3.connect does."""
        super().__init__(*args, **options)
        self.rows: dict[str, dict[int, Any]] = {}


def rows_read(connection: Connection, table: str) -> dict[int, Any]:
    """Return the rows of a table that this snapshot converted, to be added to; outside a snapshot a new dictionary."""
    if isinstance(connection, SnapshotConnection) and connection.in_transaction:
        return connection.rows.setdefault(table, {})
    return {}


@contextmanager
def snapshot(connection: SnapshotConnection) -> Generator[None, None, None]:
    """Run the ``with`` block in one reading transaction; if none can begin, each of its statements has its own."""
    _end(connection)  # one that an earlier snapshot could not end
    with suppress(sqlite3.Error):
        connection.execute("BEGIN")
    try:
        yield
    finally:
        _end(connection)


def _end(connection: SnapshotConnection) -> None:
    connection.rows.clear()
    if connection.in_transaction:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
