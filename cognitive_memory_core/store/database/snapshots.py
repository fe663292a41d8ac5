"""Snapshots: reads that a thread carries out together see one state of the file, and convert each row only once.

Converted rows are kept until another connection writes to the file or caches are cleared.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Generator, Hashable
from contextlib import contextmanager, suppress
from sqlite3 import Connection
from typing import Any

from ...text.caches import register_cache

MOST = 10_000  # rows that a connection keeps, a few megabytes; one that a read filter was asked about counts again


class SnapshotConnection(Connection):
    """A reading connection with the rows that were converted from the present state of the file, by table and seq.

    ``began`` is the instant of time.monotonic after which the snapshot was taken, ``version`` SQLite's number of that
    state.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        """Open a connection as sqlite3.connect does."""
        super().__init__(*args, **options)
        self.rows: dict[Hashable, dict[Any, Any]] = {}
        self.began = 0.0
        self.version = -1
        register_cache(self)

    def clear_caches(self) -> None:
        """Drop the converted rows: erased data must not stay in memory."""
        self.rows = {}


def rows_read(connection: Connection, key: Hashable) -> dict[Any, Any]:
    """Return the rows that this snapshot keeps under a key, to be added to; outside a snapshot a new dictionary.

    The key is a table, for converted rows, a table with a read filter, for those of them that it admits, or "places",
    for the places in memory that are known to equal the snapshot.
    """
    if isinstance(connection, SnapshotConnection) and connection.in_transaction:
        return connection.rows.setdefault(key, {})
    return {}


@contextmanager
def snapshot(connection: SnapshotConnection) -> Generator[None, None, None]:
    """Run the ``with`` block in one reading transaction; if none can begin, each of its statements has its own."""
    _begin(connection)
    try:
        yield
    finally:
        _end(connection)


def catch_up(connection: Connection, instant: float) -> None:
    """Begin a new snapshot if the present one may be older than an instant of time.monotonic.

    A cache that another thread has brought up to date since may know rows that an older snapshot does not have.
    """
    if isinstance(connection, SnapshotConnection) and connection.in_transaction and connection.began <= instant:
        _begin(connection)


def _begin(connection: SnapshotConnection) -> None:
    _end(connection)  # or the one before, if it could not be ended then
    connection.began = time.monotonic()
    rows, connection.rows = connection.rows, {}
    with suppress(sqlite3.Error):
        connection.execute("BEGIN")
        version = connection.execute("PRAGMA data_version").fetchone()[0]  # this takes the snapshot
        if version == connection.version and sum(map(len, rows.values())) <= MOST:
            connection.rows = rows
        connection.version = version


def _end(connection: SnapshotConnection) -> None:
    if connection.in_transaction:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
