"""The full check of a ledger's file: that tables agree with their indexes, and that each row is consistent in itself.

The check at opening (``quick_check``) reads the structure of the file only. A flipped bit in an id leaves table and
index apart: the row is there, and a read that goes through the index does not find it.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection

from ...errors import UnavailableError
from ...tasks import seen
from .connections import opened_for_reading

MOST_ROWS = 20  # of each table
STEPS = 20_000  # instructions of SQLite between two looks at the time
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


@dataclass(frozen=True)
class LedgerExamination:
    """The damage found in the ledger's file, one line each in SQLite's words; ``is_complete``: all was examined."""

    damages: tuple[str, ...] = ()
    is_complete: bool = True


async def examined(path: Path, seconds: float, rows: Mapping[str, str] = ROWS) -> LedgerExamination:
    """Find rows that are damaged although the file can be read, for at most ``seconds``; change nothing.

    Tables are compared with their indexes and rows with themselves: ``rows`` is, by table, an SQL condition that must
    hold for each row. If the caller is cancelled, the examination has ended when the cancellation is raised.
    """
    halt, until = threading.Event(), time.monotonic() + seconds
    work = asyncio.ensure_future(asyncio.to_thread(_examined, path, rows, until, halt))
    try:
        return await asyncio.shield(work)
    finally:
        halt.set()
        await asyncio.wait({work})
        seen(work)


def _examined(path: Path, rows: Mapping[str, str], until: float, halt: threading.Event) -> LedgerExamination:
    def is_over() -> bool:
        return halt.is_set() or time.monotonic() > until

    damages: list[str] = []
    try:
        with closing(opened_for_reading(path)) as connection:
            connection.set_progress_handler(is_over, STEPS)
            tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage").fetchall()
            for (table,) in tables:  # one read transaction each: the log can be emptied in between
                if is_over():
                    return LedgerExamination(tuple(damages), is_complete=False)
                damages += _of_table(connection, table, rows.get(table, "TRUE"))
    except sqlite3.OperationalError as refused:
        if not is_over():
            raise UnavailableError(str(refused)) from refused
        return LedgerExamination(tuple(damages), is_complete=False)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as damage:
        damages.append(str(damage))
    return LedgerExamination(tuple(damages))


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
