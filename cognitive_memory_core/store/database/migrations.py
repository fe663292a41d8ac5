"""Brings a ledger's file to the present schema, and inspects files before they are opened."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from sqlite3 import Connection, DatabaseError

from ... import sentences
from ...errors import UnavailableError
from . import copies, file_header
from .schema import STEPS

_MAGIC, _HEAD = file_header.MAGIC, file_header.HEAD


def migrate(connection: Connection, path: Path, steps: Sequence[str] = STEPS) -> None:
    """Copy the file, then apply the migrations that it lacks, each atomically.

    Raises UnavailableError for a file of a newer version.
    """
    found = version(connection)
    _refuse_newer(path, file_header.Stamp(found, connection.execute("PRAGMA application_id").fetchone()[0]), len(steps))
    if 0 < found < len(steps):
        copies.write(connection, path.with_name(f"{path.stem}.v{found}{path.suffix}"))
    for number, step in enumerate(steps[found:], found + 1):
        stamp = f"PRAGMA user_version = {number};\nPRAGMA application_id = {file_header.installed_release()};"
        connection.executescript(f"BEGIN IMMEDIATE;\n{step}\n{stamp}\nCOMMIT")


def refuse_foreign(path: Path) -> None:
    """Raise UnavailableError for a file of a newer version or of one byte, without opening it by SQLite.

    SQLite could change the first, and takes the second for an empty file.
    """
    if path.is_file() and path.stat().st_size == 1:
        raise DatabaseError(sentences.storage_errors.NOT_A_LEDGER)
    _refuse_newer(path, file_header.stamp_of(path), len(STEPS))


def _refuse_newer(path: Path, stamp: file_header.Stamp, known: int) -> None:
    if stamp.version > known:
        refusal = sentences.storage_errors.ledger_too_new(path, stamp.version, known, stamp.needed_release)
        raise UnavailableError(refusal)


def copies_of(path: Path) -> list[Path]:
    """List the copies of a file that migrations kept, complete or partial, with SQLite's side files."""
    kept = re.compile(rf"{re.escape(path.stem)}\.v\d+{re.escape(path.suffix)}(\.part)?(-wal|-shm|-journal)?")
    return [file for file in sorted(path.parent.iterdir()) if kept.fullmatch(file.name)]


def is_blank(path: Path) -> bool:
    """Return whether a file is missing, empty, or a single page without tables; the file is not opened by SQLite.

    SQLite would treat each of them as a new database, and remove the write-ahead log beside an empty file.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
            size = file.seek(0, os.SEEK_END)
    except FileNotFoundError:
        return True
    except OSError:
        return False  # opening it reports the error
    page = int.from_bytes(head[16:18], "big")
    version = int.from_bytes(head[60:64], "big")
    log = path.with_name(path.name + "-wal")
    has_log = log.exists() and log.stat().st_size > 0
    return not size or (head.startswith(_MAGIC) and not version and size <= page and not has_log)


def check(connection: Connection, path: Path) -> None:
    """Raise UnavailableError unless the file has exactly the schema version of this release."""
    refuse_foreign(path)
    found = version(connection)
    if found < len(STEPS):
        raise UnavailableError(sentences.storage_errors.LEDGER_TOO_OLD.format(path=path, found=found, known=len(STEPS)))


def version(connection: Connection) -> int:
    """Return the format of the file, 0 if it is new; raise DatabaseError if it has tables and no format."""
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if not found and connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
        raise DatabaseError(sentences.storage_errors.NO_LEDGER_VERSION)
    return found
