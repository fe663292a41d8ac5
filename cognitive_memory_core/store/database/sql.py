"""SQL statements built from this package's own constants and compiled filters; values are always parameters."""

from __future__ import annotations

import json
from collections.abc import Iterable
from sqlite3 import Connection, Cursor, DataError
from typing import Any, cast

MOST = 1_000_000  # maximum rows of one call
LISTED = "(SELECT value FROM json_each(?))"  # any number of values as one parameter


def select(columns: str, source: str, where: str, rest: str = "") -> str:
    """Build a SELECT."""
    return f"SELECT {columns} FROM {source} WHERE {where} {rest}"  # see above: nobody's text is in it


def insert(table: str, columns: Iterable[str], rest: str = "") -> str:
    """Build an INSERT with one parameter per column."""
    names = tuple(columns)
    return " ".join(("INSERT INTO", table, "(" + ", ".join(names) + ")", "VALUES", _marks(len(names)), rest))


def listed(values: Iterable[str | int]) -> str:
    """Return values as a JSON list, the single parameter of :data:`LISTED`."""
    return json.dumps(list(values))


def bounded(limit: int) -> int:
    """Clamp a limit to the range of SQLite's LIMIT; a negative limit becomes 0."""
    return min(max(limit, 0), MOST)


def escaped(text: str) -> str:
    r"""Return a text for LIKE with ESCAPE '\\', which then matches only itself."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def next_revision(connection: Connection) -> int:
    """Increment the ledger's revision and return it; rows of one transaction may share it."""
    connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'revision'")
    return always_kept(connection, "revision")


def always_kept(connection: Connection, key: str) -> Any:
    """Return a value that every ledger keeps in ``meta``; raises sqlite3.DataError if the file was damaged there."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    if row is None:
        raise DataError(f"meta: {key}")
    return row[0]


def new_seq(inserted: Cursor) -> int:
    """Return the seq of the row that a statement has just inserted."""
    return cast("int", inserted.lastrowid)


def _marks(count: int) -> str:
    return "(" + ", ".join("?" * count) + ")"
