"""Copies of the whole ledger, and the list of copies made by export and backup."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection
from typing import Literal

from ... import sentences
from ...disk import Disk, refusals
from ...errors import StorageRefused
from .rows import bound, instant_of, micros

PART = ".part"


@dataclass(frozen=True)
class Copy:
    """A copy of the memory made for people: an export or a backup."""

    path: str
    kind: Literal["export", "backup"]
    at: datetime


def write(connection: Connection, path: Path) -> None:
    """Copy the current ledger into a file, which gets its name only when the copy is complete and synced.

    Raises StorageRefused; the partial copy is removed.
    """
    disk, draft = Disk(), path.with_name(path.name + PART)
    try:
        with refusals(path):
            _fill(connection, draft)
        disk.sync_file(draft)
        disk.put_in_place(draft, path)
    except sqlite3.OperationalError as refused:
        disk.discard(draft)
        raise StorageRefused(sentences.storage_errors.STORAGE_REFUSED.format(path=path, reason=refused)) from refused
    except StorageRefused:
        disk.discard(draft)
        raise


def _fill(connection: Connection, draft: Path) -> None:
    draft.unlink(missing_ok=True)  # left by a crashed attempt
    os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(sqlite3.connect(draft)) as target:
        connection.backup(target)


def note(connection: Connection, copy: Copy) -> None:
    """Record a copy that was made."""
    connection.execute(
        "INSERT OR REPLACE INTO copies VALUES (?, ?, ?)", (*bound(copy.path, copy.kind), micros(copy.at))
    )


def drop(connection: Connection, path: str) -> None:
    """Remove a copy from the list because its file was deleted."""
    connection.execute("DELETE FROM copies WHERE path = ?", bound(path))


def noted(connection: Connection) -> list[Copy]:
    """Return the recorded copies, oldest first."""
    rows = connection.execute("SELECT path, kind, at_us FROM copies ORDER BY at_us, path")
    return [Copy(path, kind, instant_of(at_us)) for path, kind, at_us in rows]
