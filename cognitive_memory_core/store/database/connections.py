"""Opens connections, and snapshots on those that read.

Reads that a thread carries out together see one state of the file. What they found is kept until another connection
writes to the file or caches are cleared.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Generator, Hashable
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from sqlite3 import Connection
from typing import Any, TypeVar

from ...text.characters import register_cache
from . import migrations

BUSY_SECONDS = 5.0  # how long a write waits for another process that reads the file
READER_CACHE = "-8000"  # KiB of page cache per reading connection
STEPS = 20_000  # instructions of SQLite between two looks whether to halt
FILES = ("", "-wal", "-shm")  # suffixes of the files of a database
REFUSED_IF_READ_ONLY = "DELETE FROM meta WHERE FALSE"  # SQLite opens such a file without error, and refuses each write
C = TypeVar("C", bound=Connection)
MOST = 10_000  # rows that a connection keeps, a few megabytes; one that a read filter was asked about counts again


class SnapshotConnection(Connection):
    """A reading connection; its snapshot was taken after the instant of time.monotonic ``began``.

    ``found`` is what was read from the present state of the file, of which ``version`` is SQLite's number.
    """

    began, version = 0.0, -1
    found: dict[Hashable, dict[Any, Any]]

    def clear_caches(self) -> None:
        """Drop what was read: erased data must not stay in memory."""
        self.found = {}


def kept(connection: Connection, key: Hashable) -> dict[Any, Any]:
    """Return what the snapshot of a connection keeps under a key, to be added to; outside a snapshot nothing is kept.

    The key is a table with a read filter, for the rows that it admits, or "state".
    """
    if isinstance(connection, SnapshotConnection) and connection.in_transaction:
        return connection.found.setdefault(key, {})
    return {}


@contextmanager
def snapshot(connection: SnapshotConnection) -> Generator[None, None, None]:
    """Run the ``with`` block in one reading transaction; if none can begin, each statement reads by itself."""
    _end(connection)  # the one before, if it could not be ended then
    connection.began, found, connection.found = time.monotonic(), connection.found, {}
    with suppress(sqlite3.Error):
        connection.execute("BEGIN")
        version = connection.execute("PRAGMA data_version").fetchone()[0]  # this takes the snapshot
        if version == connection.version and sum(map(len, found.values())) <= MOST:
            connection.found = found
        connection.version = version
    try:
        yield
    finally:
        _end(connection)


def _end(connection: SnapshotConnection) -> None:
    if connection.in_transaction:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")


def opened_for_writing(path: Path) -> Connection:
    """Open a file, or create it if it is missing, check its structure and bring it to the present format."""
    migrations.refuse_foreign(path)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for ending in FILES:  # accessible to their owner only; SQLite gives files that it adds the same mode
        with suppress(OSError):  # missing, or on a file system without modes
            path.with_name(path.name + ending).chmod(0o600)
    with ExitStack() as undo:
        connection = _connection(path, "rw", Connection)
        undo.callback(connection.close)
        found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise sqlite3.DatabaseError(found)
        migrations.version(connection)
        for setting in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {setting}")
        migrations.migrate(connection, path)
        connection.execute(REFUSED_IF_READ_ONLY)
        undo.pop_all()
    return connection


def opened_for_reading(path: Path) -> SnapshotConnection:
    """Open a connection that cannot write."""
    with ExitStack() as undo:
        connection = _connection(path, "ro", SnapshotConnection)
        undo.callback(connection.close)
        connection.clear_caches()
        register_cache(connection)
        connection.execute("PRAGMA query_only = ON")
        connection.execute(f"PRAGMA cache_size = {READER_CACHE}")
        undo.pop_all()
    return connection


def _connection(path: Path, mode: str, kind: type[C]) -> C:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(
        uri, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, factory=kind, uri=True
    )
