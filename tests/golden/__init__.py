"""Data directories that earlier versions wrote, one archive for each ledger format.

``python -m tests.golden`` makes one. Each was filled by :mod:`tests.golden.fill`, run with the code of its time: lines
of three people, turns, pins, a switch, an opt-out, a forgotten event, jobs in pending/ and one in failed/,
profiles, overrides.json and, in three of them, a generation of Chroma.
"""

from __future__ import annotations

import sqlite3
import tarfile
from collections import Counter
from contextlib import closing
from pathlib import Path

FOLDER = Path(__file__).absolute().with_name("directories")
ENDING = ".tar.xz"
Row = tuple[tuple[str, object], ...]
_KEPT_BY_SQLITE = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
_DERIVED = ("sqlite_", "event_words", "message_words", "row_changes")  # of SQLite, an index, what is in memory
_MOVING = ("meta",)


def names() -> list[str]:
    """Return the names of the archives, oldest format first."""
    return sorted((path.name.removesuffix(ENDING) for path in FOLDER.glob(f"*{ENDING}")), key=format_of)


def unpacked(name: str, folder: Path) -> Path:
    """Extract an archive into a new folder and return it."""
    folder.mkdir(parents=True)
    with tarfile.open(FOLDER / f"{name}{ENDING}") as archive:
        archive.extractall(folder, filter="data")
    return folder


def holds(name: str, path: str) -> bool:
    """Return whether an archive has a file."""
    with tarfile.open(FOLDER / f"{name}{ENDING}") as archive:
        return f"./{path}" in archive.getnames()


def generation_of(data: Path) -> str:
    """Return the generation of Chroma that a directory uses."""
    return (data / "chromadb" / "current").read_text("utf-8").strip()


def format_of(name: str) -> int:
    """Return the ledger format of an archive."""
    return int(name.rpartition("-")[2])


def rows_of(ledger: Path) -> dict[str, list[Row]]:
    """Return the rows of every table that is no index, as pairs of column and value."""
    with closing(sqlite3.connect(ledger)) as connection:
        tables = [row[0] for row in connection.execute(_KEPT_BY_SQLITE)]
        return {
            table: _rows(connection, table)
            for table in tables
            if not table.startswith(_DERIVED) and table not in _MOVING
        }


def _rows(connection: sqlite3.Connection, table: str) -> list[Row]:
    cursor = connection.execute(f"SELECT * FROM {table}")
    columns = [column[0] for column in cursor.description]
    return [tuple(zip(columns, row, strict=True)) for row in cursor]


def missing(before: dict[str, list[Row]], after: dict[str, list[Row]]) -> list[str]:
    """Return the rows of ``before`` that ``after`` lacks, looking only at the columns that both have."""
    lost: list[str] = []
    for table, rows in before.items():
        columns = {name for row in after.get(table, []) for name, _ in row}
        kept = Counter(_narrowed(row, {name for name, _ in rows[0]}) for row in after.get(table, [])) if rows else None
        for row in rows:
            wanted = _narrowed(row, columns or {name for name, _ in row})
            if not kept or not kept[wanted]:
                lost.append(f"{table}: {wanted}")
            else:
                kept[wanted] -= 1
    return lost


def _narrowed(row: Row, columns: set[str]) -> Row:
    return tuple((name, value) for name, value in row if name in columns)
