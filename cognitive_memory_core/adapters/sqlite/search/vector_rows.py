"""Reading the vectors of a place from the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from sqlite3 import Connection

import numpy as np

from ..database.rows import Row
from ..database.statements import LISTED, listed, select
from .filters import Filter
from .vector_cache import Changes, Columns, Cosines, Matrix, Seqs, cosines, joined

FLOAT_BYTES = 4
CHUNK = 500  # rows read together; more of them would be in memory two or three times over
Form = Callable[[Seqs, Matrix], Columns]


@dataclass(frozen=True)
class VectorPlace:
    """The vectors of one model and one length in one place."""

    fingerprint: str
    dimensions: int
    filter: Filter


def changes_of(connection: Connection, place: VectorPlace, form: Form, since: int) -> Changes:
    """Return the changes of a place's vectors after a revision."""
    parts = [form(*_matrix((), place.dimensions))]
    touched: list[int] = []
    revision = since
    for rows in _chunks(_rows(connection, place.fingerprint, place.filter, since)):
        parts.append(form(*_matrix(rows, place.dimensions)))
        touched += [row[0] for row in rows]
        revision = max(revision, *(row[1] for row in rows))
    return Changes(revision, np.array(touched, np.int64), joined(parts))


def scanned(connection: Connection, place: VectorPlace, asked: Cosines) -> tuple[Seqs, Cosines]:
    """Return the cosines of all vectors of a place."""
    return _compared(_rows(connection, place.fingerprint, place.filter, 0), asked)


def compared(connection: Connection, place: VectorPlace, seqs: Seqs, asked: Cosines) -> tuple[Seqs, Cosines]:
    """Return the cosines of the vectors of the given events, those that stand."""
    return _compared(_rows(connection, place.fingerprint, (f"e.seq IN {LISTED}", (listed(seqs.tolist()),)), 0), asked)


def bytes_of(connection: Connection, place: Filter, dimensions: int) -> int:
    """Return the size in bytes of all vectors of a place."""
    query = select("count(*)", "events e", f"{place[0]} AND e.revision > 0")
    return connection.execute(query, place[1]).fetchone()[0] * dimensions * FLOAT_BYTES


def _compared(rows: Iterator[Row], asked: Cosines) -> tuple[Seqs, Cosines]:
    parts: list[tuple[Seqs, Cosines]] = [(np.empty(0, np.int64), np.empty(0, np.float32))]
    for chunk in _chunks(rows):
        seqs, matrix = _matrix(chunk, asked.size)
        parts.append((seqs, cosines(matrix, asked)))
    return np.concatenate([seqs for seqs, _ in parts]), np.concatenate([found for _, found in parts])


def _chunks(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while chunk := list(islice(rows, CHUNK)):
        yield chunk


def _rows(connection: Connection, fingerprint: str, place: Filter, since: int) -> Iterator[Row]:
    """Read seq, revision and vector (None if removed) of the events that changed after a revision."""
    stands = "CASE WHEN e.retired_at IS NULL AND e.embedded_as = ? THEN v.vector END"
    query = select(
        f"e.seq, e.revision, {stands}",
        "events e LEFT JOIN vectors v ON v.seq = e.seq",
        f"{place[0]} AND e.revision > ?",
    )
    return iter(connection.execute(query, (fingerprint, *place[1], since)))


def _matrix(rows: Sequence[Row], dimensions: int) -> tuple[Seqs, Matrix]:
    """Build a matrix of vectors scaled to unit length; those of another length are skipped."""
    fitting = [row for row in rows if row[2] is not None and len(row[2]) == dimensions * FLOAT_BYTES]
    seqs = np.fromiter((row[0] for row in fitting), np.int64, len(fitting))
    numbers = np.frombuffer(b"".join(row[2] for row in fitting), np.float32)
    matrix = np.reshape(numbers, (len(fitting), dimensions))
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
    lengths[lengths == 0] = 1.0
    return seqs, matrix / lengths.astype(np.float32)[:, np.newaxis]
