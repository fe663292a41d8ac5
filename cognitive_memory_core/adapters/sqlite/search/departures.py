"""What left the lexical index lately, so that whoever holds words in memory lets go of them, too.

Noted in the transaction that takes the words out, so that a reader sees both or neither. Only numbers of rows are kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from sqlite3 import Connection

from ..database.statements import listed

KEPT = 64  # departures that are known one by one; whoever missed more reads anew
_SLOTS = 2 * KEPT  # one that is being read is not overwritten meanwhile
_PUT = "INSERT OR REPLACE INTO meta VALUES (?, ?)"


def note(connection: Connection, table: str, seqs: Iterable[int]) -> None:
    """Remember that rows left the index that is kept in a table."""
    number = latest(connection, table) + 1
    connection.execute(_PUT, (table, number))
    connection.execute(_PUT, (_slot(table, number), listed(seqs)))


def latest(connection: Connection, table: str) -> int:
    """Give the number of the last departure; 0 while there was none."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (table,)).fetchone()
    return 0 if row is None else row[0]


def between(connection: Connection, table: str, after: int, last: int) -> set[int] | None:
    """Give the rows that left with the departures after one and up to another; None where too many did."""
    if last - after > KEPT:
        return None
    slots = listed(_slot(table, number) for number in range(after + 1, last + 1))
    found = connection.execute("SELECT value FROM meta WHERE key IN (SELECT value FROM json_each(?))", (slots,))
    return {seq for row in found for seq in json.loads(row[0])}


def _slot(table: str, number: int) -> str:
    return f"{table}/{number % _SLOTS}"
