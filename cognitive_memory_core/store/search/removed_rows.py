"""Recent removals from the lexical index, so that in-memory caches drop the same rows.

Recorded in the transaction that removes the words, so that a reader sees both or neither. Only row numbers are stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from sqlite3 import Connection

from ..database.statements import listed

KEPT = 64  # removals kept one by one; a cache that is further behind is rebuilt
_SLOTS = 2 * KEPT  # twice as many, so that a slot being read is not overwritten
_PUT = "INSERT OR REPLACE INTO meta VALUES (?, ?)"


def note(connection: Connection, table: str, seqs: Iterable[int]) -> None:
    """Record that rows were removed from the index of a table."""
    number = latest(connection, table) + 1
    connection.execute(_PUT, (table, number))
    connection.execute(_PUT, (_slot(table, number), listed(seqs)))


def latest(connection: Connection, table: str) -> int:
    """Return the sequence number of the last removal; 0 if there was none."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (table,)).fetchone()
    return 0 if row is None else row[0]


def between(connection: Connection, table: str, after: int, last: int) -> set[int] | None:
    """Return the rows of the removals after number ``after`` up to number ``last``.

    None if these are more than :data:`KEPT` removals, because older records are overwritten.
    """
    if last == after:
        return set()
    if last - after > KEPT:
        return None
    slots = listed(_slot(table, number) for number in range(after + 1, last + 1))
    found = connection.execute("SELECT value FROM meta WHERE key IN (SELECT value FROM json_each(?))", (slots,))
    return {seq for row in found for seq in json.loads(row[0])}


def _slot(table: str, number: int) -> str:
    return f"{table}/{number % _SLOTS}"
