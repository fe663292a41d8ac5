"""Brings a ledger's file to the present format, and inspects files before SQLite, which could change them, opens them.

``user_version`` in the file's header is the format, the number of migrations applied. ``application_id`` is the release
that applied the last one, as 0x00MMmmpp: what an older release tells its operator to install.
"""

from __future__ import annotations

import os
import re
import sqlite3
import struct
from contextlib import closing, suppress
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path
from sqlite3 import Connection, DatabaseError

from ... import sentences
from ...disk import Disk, refusals
from ...errors import StorageRefused, UnavailableError
from .schema import FORMAT, SCHEMA, STEPS

MAGIC, HEAD = b"SQLite format 3\0", 100  # SQLite's file header
LARGEST_PAGE = 65_536
_FRACTIONS = b"\x40\x20\x20"  # payload fractions, bytes 21 to 23 of every SQLite file
DISTRIBUTION = "nonebot-plugin-cognitive-memory"
PART = ".part"  # suffix of an incomplete copy
_VERSIONS = struct.Struct(">60xI4xI28x")  # user_version and application_id within the header
_LOG_HEAD = struct.Struct(">8xI4x8s8x")  # of the write-ahead log: page size, salts
_FRAME_HEAD = struct.Struct(">II8s8x")  # page number, size after a commit or 0, salts


def migrate(connection: Connection, path: Path) -> None:
    """Bring a file of an earlier format, after copying it, or a new file to the present format in one transaction."""
    found = version(connection)
    if found >= FORMAT:
        return
    script = SCHEMA
    if found:
        write_copy(connection, path.with_name(f"{path.stem}.v{found}{path.suffix}"))
        steps = [step for step in STEPS if found < step.number]
        before, after = (step.before for step in steps), (step.after for step in steps)
        script = "\n".join((*_added_columns(connection), *before, SCHEMA, *after))
    stamp = f"PRAGMA user_version = {FORMAT};\nPRAGMA application_id = {installed_release()};"
    connection.execute("PRAGMA temp_store = MEMORY")  # a temporary file would hold rows outside the directory
    connection.executescript(f"BEGIN IMMEDIATE;\n{script}\n{stamp}\nCOMMIT")
    connection.execute("PRAGMA temp_store = DEFAULT")


def _added_columns(connection: Connection) -> list[str]:
    """Return the statements that add the columns which the tables of an earlier format lack."""
    added: list[str] = []
    with closing(sqlite3.connect(":memory:")) as present:
        present.executescript(SCHEMA)
        for (table,) in present.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            known = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
            for _, name, kind, is_filled, default, is_key in present.execute(f"PRAGMA table_info({table})"):
                if known and name not in known and not is_key:
                    filled = f"NOT NULL DEFAULT {default}" if is_filled else ""
                    added.append(f"ALTER TABLE {table} ADD COLUMN {name} {kind} {filled};")
    return added


def check(connection: Connection, path: Path) -> None:
    """Raise UnavailableError unless the file has exactly the schema version of this release."""
    refuse_foreign(path)
    found = version(connection)
    if found < FORMAT:
        raise UnavailableError(sentences.storage_errors.LEDGER_TOO_OLD.format(path=path, found=found, known=FORMAT))


def version(connection: Connection) -> int:
    """Return the format of the file, 0 if it is new; raise DatabaseError if it has tables and no format."""
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if not found and connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
        raise DatabaseError(sentences.storage_errors.NO_LEDGER_VERSION)
    return found


def refuse_foreign(path: Path) -> None:
    """Raise UnavailableError for a file of a newer version or of one byte, without opening it by SQLite.

    SQLite could change the first, and takes the second for an empty file.
    """
    if path.is_file() and path.stat().st_size == 1:
        raise DatabaseError(sentences.storage_errors.NOT_A_LEDGER)
    found, release = stamp_of(path)
    if found > FORMAT:
        words, is_known = sentences.storage_errors, 0 < release < 1 << 24
        sentence = words.LEDGER_TOO_NEW if is_known else words.LEDGER_OF_UNKNOWN_RELEASE
        needed = f"{release >> 16}.{release >> 8 & 0xFF}.{release & 0xFF}"
        raise UnavailableError(sentence.format(path=path, found=found, known=FORMAT, release=needed))


def installed_release() -> int:
    """Return the installed release as a number, 0 if unknown."""
    try:  # None if the disk does not deliver the metadata
        found = re.match(r"(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?", installed_version(DISTRIBUTION) or "")
    except PackageNotFoundError:
        return 0
    major, minor, patch = (min(int(part or 0), 0xFF) for part in found.groups()) if found else (0, 0, 0)
    return major << 16 | minor << 8 | patch


def is_blank(path: Path) -> bool:
    """Return whether a file is missing, empty, or a single page without tables; the file is not opened by SQLite.

    SQLite would treat each of them as a new database, and remove the write-ahead log beside an empty file.
    """
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
            size = file.seek(0, os.SEEK_END)
    except FileNotFoundError:
        return True
    except OSError:
        return False  # opening it reports the error
    page = int.from_bytes(head[16:18], "big")
    log = path.with_name(path.name + "-wal")
    has_log = log.exists() and log.stat().st_size > 0
    is_unused = head.startswith(MAGIC) and not int.from_bytes(head[60:64], "big")  # its user_version
    return not size or (is_unused and size <= page and not has_log)


def stamp_of(path: Path) -> tuple[int, int]:
    """Return the format that SQLite will see when it opens a file, and the release that made it, as a number; blocking.

    If a write-ahead log is beside the file, it is read up to its last commit. Both are 0 for a file that is missing,
    unreadable or no database: opening it reports why.
    """
    stamp = 0, 0
    with suppress(OSError), path.open("rb") as file:
        head = file.read(HEAD)
        if len(head) < HEAD or not head.startswith(MAGIC) or head[21:24] != _FRACTIONS:
            return stamp
        stamp = written = _VERSIONS.unpack(head)
        with path.with_name(path.name + "-wal").open("rb") as log:
            page_size, salts = _LOG_HEAD.unpack(log.read(_LOG_HEAD.size).ljust(_LOG_HEAD.size))
            while page_size <= LARGEST_PAGE and len(frame := log.read(_FRAME_HEAD.size)) == _FRAME_HEAD.size:
                page, size_after_commit, own = _FRAME_HEAD.unpack(frame)
                content = log.read(page_size)
                if own != salts or len(content) < max(page_size, HEAD):  # left of an earlier log, or torn
                    break
                if page == 1:
                    written = _VERSIONS.unpack(content[:HEAD])
                if size_after_commit:
                    stamp = written
    return stamp


def write_copy(connection: Connection, path: Path) -> None:
    """Copy the current ledger into a file, which gets its name only when the copy is complete and synced.

    Raises StorageRefused; the partial copy is removed.
    """
    disk, draft = Disk(), path.with_name(path.name + PART)
    try:
        with refusals(path):
            draft.unlink(missing_ok=True)  # left by a crashed attempt
            os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            with closing(sqlite3.connect(draft)) as target:
                connection.backup(target)
        disk.sync_file(draft)
        disk.put_in_place(draft, path)
    except sqlite3.OperationalError as refused:
        disk.discard(draft)
        raise StorageRefused(sentences.storage_errors.STORAGE_REFUSED.format(path=path, reason=refused)) from refused
    except StorageRefused:
        disk.discard(draft)
        raise


def copies_of(path: Path) -> list[Path]:
    """List the copies of a file that migrations kept, complete or partial, with SQLite's side files."""
    kept = re.compile(rf"{re.escape(path.stem)}\.v\d+{re.escape(path.suffix)}(\.part)?(-wal|-shm|-journal)?")
    return [file for file in sorted(path.parent.iterdir()) if kept.fullmatch(file.name)]
