"""Exact search over the vectors that the ledger holds: a place's own, from memory where they fit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from sqlite3 import Connection

import numpy as np
from numpy.typing import NDArray

from ...domain.hit import Reading
from ...ports.models import Vector
from .changes import dimensions_of
from .corpus import EVENTS
from .database import Database
from .filters import Filter, place_filter
from .rows import Row
from .statements import bounded, select
from .vector_cache import Changes, Matrix, Seqs, SliceCache

HELD_BYTES = 64 * 1024 * 1024
SPARE = 8  # nearest rows looked at beyond the limit, before a narrow reading pays for a query
COST_OF_A_FILTER = 4  # measured: 15,431 rows of 100,000 take 182 ms from the disk and 349 through Chroma's filter
CHUNK = 500  # rows read together: more would be held in memory two or three times over
_FLOAT_BYTES = 4
Cosines = NDArray[np.float32]
Scores = tuple[Seqs, Cosines]
_Key = tuple[str, int, Filter]  # model, length of its vectors, place


class ExactIndex:
    """Cosine over all that a reading admits, of vectors of one model: the one that is followed."""

    def __init__(self, database: Database, *, held_bytes: int = HELD_BYTES) -> None:
        """Search a database's vectors, holding at most ``held_bytes`` of them in memory."""
        self._database = database
        self._cache = SliceCache(held_bytes)
        self._fingerprint = ""

    def follow(self, fingerprint: str) -> None:
        """Compare only vectors of this model from now on."""
        self._fingerprint = fingerprint

    def let_go(self) -> None:
        """Hold nothing in memory: what was erased must not stay there."""
        self._cache.clear()

    async def nearest(self, vector: Vector, reading: Reading, limit: int) -> list[tuple[str, float]]:
        """Give event ids with their cosine, best first; [] for a vector of another length, or no direction."""
        asked = _direction(vector)
        if asked is None or limit <= 0 or not self._fingerprint:
            return []
        return await self._database.read(self._nearest, asked, self._fingerprint, reading, bounded(limit))

    async def is_wide(self, reading: Reading) -> bool:
        """Tell whether a search would read more vectors from the disk than a store of neighbours would cost.

        A store walks a filter row by row: a place pays for it only from several times the size that memory holds.
        """
        is_filtered = reading.scene.kind != "operator" or bool(reading.group_id)
        bound = self._cache.limit * (COST_OF_A_FILTER if is_filtered else 1)
        return await self._database.read(self._is_wide, self._fingerprint, place_filter(reading), bound)

    def _is_wide(self, connection: Connection, fingerprint: str, place: Filter, bound: int) -> bool:
        return self._is_over(connection, (fingerprint, dimensions_of(connection, fingerprint), place), bound)

    def _is_over(self, connection: Connection, key: _Key, bound: int) -> bool:
        _, dimensions, place = key
        return self._cache.find(key) is None and _bytes_of(connection, place, dimensions) > bound

    def _nearest(
        self, connection: Connection, asked: Cosines, fingerprint: str, reading: Reading, limit: int
    ) -> list[tuple[str, float]]:
        seqs, cosines = self._scores(connection, asked, fingerprint, place_filter(reading))
        first = _best(seqs, cosines, limit + SPARE)
        found = _admitted(connection, reading, first)
        if len(found) < limit and len(first) < len(seqs):  # too many of the nearest lie outside a narrow reading
            inside = np.isin(seqs, _seqs_within(connection, reading))
            found = _admitted(connection, reading, _best(seqs[inside], cosines[inside], limit))
        return found[:limit]

    def _scores(self, connection: Connection, asked: Cosines, fingerprint: str, place: Filter) -> Scores:
        key = (fingerprint, asked.size, place)
        if self._is_over(connection, key, self._cache.limit):
            return _scanned(connection, asked, fingerprint, place)
        held = self._cache.fresh(
            key, asked.size, lambda since: _changes(connection, fingerprint, place, asked.size, since)
        )
        return held.seqs, _cosines(held.matrix, asked)


def _direction(vector: Vector) -> Cosines | None:
    asked = np.array(vector, np.float64)
    length = float(np.linalg.norm(asked))
    return (asked / length).astype(np.float32) if math.isfinite(length) and length > 0 else None


def _bytes_of(connection: Connection, place: Filter, dimensions: int) -> int:
    query = select("count(*)", "events e", f"{place[0]} AND e.revision > 0")
    return connection.execute(query, place[1]).fetchone()[0] * dimensions * _FLOAT_BYTES


def _changes(connection: Connection, fingerprint: str, place: Filter, dimensions: int, since: int) -> Changes:
    seqs: list[Seqs] = [np.empty(0, np.int64)]
    vectors: list[Matrix] = [np.empty((0, dimensions), np.float32)]
    touched: list[int] = []
    revision = since
    for rows in _chunks(connection, fingerprint, place, since):
        here, matrix = _matrix(rows, dimensions)
        seqs.append(here)
        vectors.append(matrix)
        touched += [row[0] for row in rows]
        revision = max(revision, *(row[1] for row in rows))
    return Changes(revision, np.array(touched, np.int64), np.concatenate(seqs), np.concatenate(vectors))


def _scanned(connection: Connection, asked: Cosines, fingerprint: str, place: Filter) -> Scores:
    seqs: list[Seqs] = [np.empty(0, np.int64)]
    cosines: list[Cosines] = [np.empty(0, np.float32)]
    for rows in _chunks(connection, fingerprint, place):
        here, matrix = _matrix(rows, asked.size)
        seqs.append(here)
        cosines.append(_cosines(matrix, asked))
    return np.concatenate(seqs), np.concatenate(cosines)


def _chunks(connection: Connection, fingerprint: str, place: Filter, since: int = 0) -> Iterator[list[Row]]:
    rows = _rows(connection, fingerprint, place, since)
    while chunk := list(islice(rows, CHUNK)):
        yield chunk


def _rows(connection: Connection, fingerprint: str, place: Filter, since: int) -> Iterator[Row]:
    """Give seq, revision and vector (None where it is out) of what changed after a revision."""
    stands = "CASE WHEN e.retired_at IS NULL AND e.embedded_as = ? THEN v.vector END"
    query = select(
        f"e.seq, e.revision, {stands}",
        "events e LEFT JOIN vectors v ON v.seq = e.seq",
        f"{place[0]} AND e.revision > ?",
    )
    return iter(connection.execute(query, (fingerprint, *place[1], since)))


def _cosines(matrix: Matrix, asked: Cosines) -> Cosines:
    """Multiply row by row: the threads of one big product wait for each other on a busy machine, up to 20 ms."""
    return np.matmul(matrix[:, np.newaxis, :], asked[:, np.newaxis])[:, 0, 0]


def _matrix(rows: Sequence[Row], dimensions: int) -> tuple[Seqs, Matrix]:
    """Put vectors together, each made a unit; those of another length are left out."""
    whole = [row for row in rows if row[2] is not None and len(row[2]) == dimensions * _FLOAT_BYTES]
    seqs = np.fromiter((row[0] for row in whole), np.int64, len(whole))
    numbers = np.frombuffer(b"".join(row[2] for row in whole), np.float32)
    matrix = np.reshape(numbers, (len(whole), dimensions))
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
    lengths[lengths == 0] = 1.0
    return seqs, matrix / lengths.astype(np.float32)[:, np.newaxis]


def _best(seqs: Seqs, cosines: Cosines, limit: int) -> list[tuple[int, float]]:
    candidates = np.arange(len(seqs))
    if len(seqs) > limit:
        candidates = np.argpartition(-cosines, limit - 1)[:limit]
    order = candidates[np.lexsort((-seqs[candidates], -cosines[candidates]))]
    return list(zip(seqs[order].tolist(), cosines[order].tolist(), strict=True))


def _admitted(connection: Connection, reading: Reading, best: Sequence[tuple[int, float]]) -> list[tuple[str, float]]:
    events = EVENTS.at(connection, reading, [seq for seq, _ in best])
    return [(events[seq].id, cosine) for seq, cosine in best if seq in events]


def _seqs_within(connection: Connection, reading: Reading) -> Seqs:
    clause, values = EVENTS.filter_of(reading)
    found = connection.execute(select("e.seq", "events e", clause), values).fetchall()
    return np.fromiter((row[0] for row in found), np.int64, len(found))
