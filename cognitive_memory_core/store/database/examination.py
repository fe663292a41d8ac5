"""Examines the file of a ledger for damaged rows.

The check at opening (``quick_check``) reads the structure of the file only. A flipped bit in an id leaves table and
index apart: the row is there, and a read that goes through the index does not find it. ``examined`` finds such rows.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection

from ...errors import UnavailableError
from ...tasks import seen
from .connections import STEPS, opened_for_reading

MOST_ROWS = 20  # of each table
_SCOPE = "agent || char(31) || {kind} || char(31) || CASE {kind} WHEN 'group' THEN group_id ELSE user_id END"
_JSON = "CASE WHEN json_valid({0}) THEN json_type({0}) = 'array' END"
ROWS = {  # what holds for each row of a table, beyond what SQLite checks
    "events": (
        f"request_type IN ('group', 'private') AND scope = {_SCOPE.format(kind='request_type')}"
        f" AND {_JSON.format('subjects')} AND {_JSON.format('message_ids')}"
    ),
    "messages": f"request_type IN ('group', 'private') AND scope = {_SCOPE.format(kind='request_type')}",
    "beliefs": " AND ".join(_JSON.format(name) for name in ("tags", "message_ids", "event_ids", "supporters")),
}


async def examined(path: Path, rows: Mapping[str, str] = ROWS) -> list[str]:
    """Return the damage of a file that can be read nevertheless, one line each in SQLite's words; change nothing.

    Tables are compared with their indexes and rows with themselves: ``rows`` is, by table, an SQL condition that must
    hold for each row. If the caller is cancelled, the examination has ended when the cancellation is raised.
    """
    halt = threading.Event()
    work = asyncio.ensure_future(asyncio.to_thread(_examined, path, rows, halt))
    try:
        return await asyncio.shield(work)
    finally:
        halt.set()
        await asyncio.wait({work})
        seen(work)


def _examined(path: Path, rows: Mapping[str, str], halt: threading.Event) -> list[str]:
    damages: list[str] = []
    try:
        with closing(opened_for_reading(path)) as connection:
            connection.set_progress_handler(halt.is_set, STEPS)
            tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage").fetchall()
            for (table,) in tables:  # one read transaction each: the log can be emptied in between
                damages += _of_table(connection, table, rows.get(table, "TRUE"))
    except sqlite3.OperationalError as refused:
        raise UnavailableError(str(refused)) from refused
    except (sqlite3.DatabaseError, UnicodeDecodeError) as damage:
        damages.append(str(damage))
    return damages


def _of_table(connection: Connection, table: str, holds: str) -> Iterator[str]:
    """Compare a table with its indexes and its rows with a condition; read every text until one is not readable."""
    for (found,) in connection.execute(f"PRAGMA integrity_check('{table}')"):
        if found != "ok":
            yield f"{table}: {found}"
    if holds != "TRUE":
        for (seq,) in connection.execute(
            f"SELECT seq FROM {table} WHERE NOT coalesce({holds}, FALSE) LIMIT {MOST_ROWS}"
        ):
            yield f"{table}: row {seq}"
    columns = [name for _, name, kind, *_ in connection.execute(f"PRAGMA table_info('{table}')") if kind == "TEXT"]
    instants = [index for index, name in enumerate(columns) if name.endswith("_at")]
    if not columns:
        return
    try:
        for row in connection.execute(f"SELECT {', '.join(columns)} FROM {table}"):
            for index in instants:
                if not _is_instant(row[index]):
                    yield f"{table}.{columns[index]}"
                    return
    except sqlite3.OperationalError as refused:
        if "UTF-8" not in str(refused):
            raise
        yield f"{table}: UTF-8"


def _is_instant(text: str | None) -> bool:
    try:
        return text is None or bool(datetime.fromisoformat(text))
    except (TypeError, ValueError):
        return False
