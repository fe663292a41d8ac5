"""Reading the vectors of a place from the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from sqlite3 import Connection

import numpy as np

from ..database.rows import Row
from ..database.statements import LISTED, listed, select
from .read_filter_sql import Filter
from .vector_cache import LAST_SEQ, Changes, Columns, Cosines, Matrix, Position, Seqs, cosines

FLOAT_BYTES = 4
CHUNK = 500  # rows of a slice, 30 ms; more of them would be in memory two or three times over
SCANNED = 256 * 1024  # bytes of vectors compared at once; blocks of a megabyte would be new memory each time
Form = Callable[[Seqs, Matrix], Columns]


@dataclass(frozen=True)
class VectorPlace:
    """The vectors of one model and one length in one place."""

    fingerprint: str
    dimensions: int
    filter: Filter


def changes_of(
    connection: Connection, place: VectorPlace, form: Form, since: Position, *, is_more: bool
) -> Changes | None:
    """Return the next changes of a place's vectors after a position, at most :data:`CHUNK`; None if there are none.

    With ``is_more``, because the slice is not whole yet, an empty last batch is returned instead of None: it makes the
    slice whole.
    """
    found = _changed_events(connection, place.filter, since)
    if not found and not is_more:
        return None
    seqs = np.fromiter((seq for seq, _ in found), np.int64, len(found))
    rows = list(_rows(connection, place.fingerprint, _among(seqs))) if found else []
    is_last = len(found) < CHUNK
    revision = found[-1][1] if found else since[0]
    until = (revision, LAST_SEQ if is_last else found[-1][0])  # a transaction writes one revision, and all of it
    return Changes(until, seqs, form(*_matrix(rows, place.dimensions)), is_last=is_last)


def scanned(connection: Connection, place: VectorPlace, asked: Cosines) -> tuple[Seqs, Cosines]:
    """Return the seqs and cosines of all vectors of a place, read from the disk."""
    return _compared(_rows(connection, place.fingerprint, place.filter), asked)


def compared(connection: Connection, place: VectorPlace, seqs: Seqs, asked: Cosines) -> tuple[Seqs, Cosines]:
    """Return the seqs and cosines of the given events, of those that are active and have a vector."""
    return _compared(_rows(connection, place.fingerprint, _among(seqs)), asked)


def count_of(connection: Connection, place: Filter) -> int:
    """Return how many events of a place have, or had, a vector."""
    query = select("count(*)", "events e", f"{place[0]} AND e.revision > 0")
    return connection.execute(query, place[1]).fetchone()[0]


def _compared(rows: Iterator[Row], asked: Cosines) -> tuple[Seqs, Cosines]:
    parts: list[tuple[Seqs, Cosines]] = [(np.empty(0, np.int64), np.empty(0, np.float32))]
    for chunk in _chunks(rows, max(SCANNED // (asked.size * FLOAT_BYTES), 1)):
        seqs, matrix = _matrix(chunk, asked.size)
        parts.append((seqs, cosines(matrix, asked)))
    return np.concatenate([seqs for seqs, _ in parts]), np.concatenate([found for _, found in parts])


def _changed_events(connection: Connection, place: Filter, since: Position) -> list[tuple[int, int]]:
    """Return seq and revision of the first events that changed after a position."""
    revision, seq = since
    later = "e.revision > ?" if seq == LAST_SEQ else "e.revision >= ? AND (e.revision, e.seq) > (?, ?)"
    query = select("e.seq, e.revision", "events e", f"{place[0]} AND {later}", "ORDER BY e.revision, e.seq LIMIT ?")
    values = (revision,) if seq == LAST_SEQ else (revision, revision, seq)  # >= uses the index of the place
    return connection.execute(query, (*place[1], *values, CHUNK)).fetchall()


def _chunks(rows: Iterator[Row], size: int) -> Iterator[list[Row]]:
    while chunk := list(islice(rows, size)):
        yield chunk


def _rows(connection: Connection, fingerprint: str, which: Filter) -> Iterator[Row]:
    """Read seq and vector of the active events with a vector of the model."""
    stands = "e.retired_at IS NULL AND +e.embedded_as = ? AND e.revision > 0"  # +: not by the index of all places
    source = "events e CROSS JOIN vectors v ON v.seq = e.seq"  # CROSS reads the events first
    query = select("e.seq, v.vector", source, f"{which[0]} AND {stands}")
    return iter(connection.execute(query, (*which[1], fingerprint)))


def _among(seqs: Seqs) -> Filter:
    return f"e.seq IN {LISTED}", (listed(seqs.tolist()),)


def _matrix(rows: Sequence[Row], dimensions: int) -> tuple[Seqs, Matrix]:
    """Build a matrix of vectors scaled to unit length; those of another length are skipped."""
    fitting = [row for row in rows if len(row[1]) == dimensions * FLOAT_BYTES]
    seqs = np.fromiter((row[0] for row in fitting), np.int64, len(fitting))
    numbers = np.frombuffer(b"".join(row[1] for row in fitting), np.float32)
    matrix = np.reshape(numbers, (len(fitting), dimensions))
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
    lengths[lengths == 0] = 1.0
    return seqs, matrix / lengths.astype(np.float32)[:, np.newaxis]
