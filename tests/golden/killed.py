"""Migrate copies of a ledger, each killed before another of its statements.

Called as ``killed.py LEDGER FOLDER EVERY``: before the first statement, and then before every EVERY-th.

The n-th copy is FOLDER/n/ledger.db; the last one was not killed. A killed process runs no cleanup of SQLite's.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import sys
from itertools import count
from pathlib import Path

from cognitive_memory_core.store.database import migrations


def migrate_until(path: Path, statement: int) -> None:
    """Migrate a ledger and die before a statement of the migration."""
    left = count(1)

    def die(_: str) -> None:
        if next(left) == statement:
            os.kill(os.getpid(), signal.SIGKILL)

    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.set_trace_callback(die)
    migrations.migrate(connection, path)
    os._exit(0)


def main(ledger: Path, folder: Path, every: int) -> None:
    """Kill one copy after another until one lives."""
    for number in count(1, every):
        path = folder / str(number) / ledger.name
        path.parent.mkdir(parents=True)
        shutil.copy(ledger, path)
        child = os.fork()
        if not child:
            migrate_until(path, number)
        if os.waitpid(child, 0)[1] == 0:
            break


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
