"""The size of the message log, and which of its messages are deleted first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from ..domain.message import BYTE_WEIGHT, ROW_WEIGHT
from .database.statements import select

WEIGHED_TOGETHER = 20_000  # messages per read
LogPlace = tuple[int, int]  # at_us and seq: the order of the log
BEGINNING: LogPlace = (-(2**63), 0)
_WEIGHT = f"{ROW_WEIGHT} + {BYTE_WEIGHT} * length(CAST(text AS BLOB))"


@dataclass(frozen=True)
class Oldest:
    """Messages to delete and their size in bytes; the search continues at ``next``, None at the end of the log."""

    seqs: Sequence[int]
    weight: int
    next: LogPlace | None


def last(connection: Connection) -> int:
    """Return the highest row number of the log; 0 if it is empty."""
    return connection.execute(select("coalesce(max(seq), 0)", "messages", "TRUE")).fetchone()[0]


def weight(connection: Connection, first: int) -> int:
    """Return the bytes of the messages whose row number is in the next :data:`WEIGHED_TOGETHER` from ``first`` on."""
    query = select(f"coalesce(sum({_WEIGHT}), 0)", "messages", "seq >= ? AND seq < ?")
    return connection.execute(query, (first, first + WEIGHED_TOGETHER)).fetchone()[0]


def oldest(connection: Connection, place: LogPlace, excess: int, kept_per_place: int, *, limit: int) -> Oldest:
    """Choose the oldest messages after ``place`` to delete, until they have ``excess`` bytes.

    At most ``limit`` messages are read. The ``kept_per_place`` newest messages of each scope are never chosen.
    """
    query = select(f"seq, at_us, scope, {_WEIGHT}", "messages", "(at_us, seq) > (?, ?)", "ORDER BY at_us, seq LIMIT ?")
    rows = connection.execute(query, (*place, limit)).fetchall()
    kept_from = {scope: _kept_from(connection, scope, kept_per_place) for scope in {row[2] for row in rows}}
    seqs: list[int] = []
    weight = 0
    for seq, at_us, scope, weighs in rows:
        if weight < excess and (at_us, seq) < kept_from[scope]:
            seqs.append(seq)
            weight += weighs
    return Oldest(seqs, weight, (rows[-1][1], rows[-1][0]) if len(rows) == limit else None)


def _kept_from(connection: Connection, scope: str, kept_per_place: int) -> LogPlace:
    """Return where the ``kept_per_place`` newest messages of a scope begin; older ones may be deleted."""
    if kept_per_place <= 0:
        return (2**63 - 1, 0)
    query = select("at_us, seq", "messages", "scope = ?", "ORDER BY at_us DESC, seq DESC LIMIT 1 OFFSET ?")
    row = connection.execute(query, (scope, kept_per_place - 1)).fetchone()
    return BEGINNING if row is None else (row[0], row[1])
