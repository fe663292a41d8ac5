"""Exact search over the vectors in the ledger, in memory for the places that fit, rounded if large."""

from __future__ import annotations

import asyncio
import math
import mmap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from sqlite3 import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...domain.event import Event
from ...domain.read_filter import ReadFilter
from ...errors import UnavailableError
from ...ports.models import Vector
from ..database.database import Database
from ..database.rows import Row, bound
from ..database.snapshots import catch_up
from ..database.statements import LISTED, bounded, listed, select
from .corpus import EVENTS
from .read_filter_sql import Filter, place_filter
from .rows import PlaceCache, best

_STEPS = 127  # rounding steps on each side of 0
_TOGETHER = 256  # rounded rows multiplied per block, chosen to fit the CPU cache
_EPSILON = 2.0**-23  # machine epsilon of 32-bit floats
_PAGED = 64 * 1024  # bytes from which a column gets its own memory mapping
Matrix = NDArray[np.float32]
Seqs = NDArray[np.int64]
Cosines = NDArray[np.float32]
Columns = tuple[NDArray[Any], ...]  # seqs first; one row per vector
Position = tuple[int, int]  # revision and seq: the order of changes
LAST_SEQ = 2**63 - 1
BEGINNING: Position = (0, LAST_SEQ)  # events without any change have revision 0


@dataclass(frozen=True)
class Changes:
    """A batch of changes to a place's vectors: the seqs to remove (``touched``), and the rows to add.

    ``is_last``: there are no later changes.
    """

    until: Position
    touched: Seqs
    columns: Columns
    is_last: bool = True


@dataclass(frozen=True)
class Slice:
    """Rows of one place, as changed up to the position ``until``. Immutable; a later slice may share its memory.

    ``room`` holds ``size`` rows and free space, into which a later slice writes. Until the slice ``is_whole``, rows
    that changed after ``until`` are missing.
    """

    until: Position
    size: int
    room: Columns
    is_whole: bool = False

    @classmethod
    def of(cls, columns: Columns) -> Slice:
        """Create a slice from columns; their memory is copied."""
        return cls(BEGINNING, 0, tuple(column[:0] for column in columns)).after(Changes(BEGINNING, columns[0], columns))

    @classmethod
    def empty(cls, form: Columns, rows: int) -> Slice:
        """Create a slice without rows, with room for ``rows`` of them in columns like those of ``form``."""
        return cls(BEGINNING, 0, tuple(_empty((rows, *column.shape[1:]), column.dtype) for column in form))

    @property
    def columns(self) -> Columns:
        """The rows in use."""
        return tuple(column[: self.size] for column in self.room)

    @property
    def seqs(self) -> Seqs:
        """The seqs of the events, row by row."""
        return self.room[0][: self.size]

    @property
    def bytes(self) -> int:
        """The size in bytes."""
        return sum(column.nbytes for column in self.room)

    def after(self, changes: Changes) -> Slice:
        """Return the slice with changes applied; call it once per slice, because the result appends to its memory."""
        kept = _without(self, changes.touched)
        size = kept.size + len(changes.columns[0])
        kept = _with_room(kept, size)
        for column, added in zip(kept.room, changes.columns, strict=True):
            column[kept.size : size] = added
        return Slice(changes.until, size, kept.room, changes.is_last)


def whole(seqs: Seqs, matrix: Matrix) -> Columns:
    """Return the columns of exact vectors: the unit vectors as they are."""
    return seqs, matrix


def rounded(seqs: Seqs, matrix: Matrix) -> Columns:
    """Round unit vectors to 8-bit steps, scaled per vector; the last column is the largest error of any cosine."""
    largest = np.abs(matrix).max(axis=1, initial=0.0)
    steps = (np.where(largest > 0, largest, 1.0) / _STEPS).astype(np.float32)
    near = np.rint(matrix / steps[:, np.newaxis]).astype(np.int8)
    lost = np.linalg.norm(matrix - near * steps[:, np.newaxis], axis=1).astype(np.float32)
    return seqs, near, steps, lost


def cosines(matrix: Matrix, asked: Cosines) -> Cosines:
    """Return the cosine of each row.

    Rows are multiplied one by one, because the threads of one matrix product wait for each other on a busy machine.
    """
    return np.matmul(matrix[:, np.newaxis, :], asked[:, np.newaxis])[:, 0, 0]


def bounds(held: Slice, asked: Cosines) -> tuple[Cosines, Cosines]:
    """Return lower and upper bounds of the cosine of each rounded vector, arithmetic errors included.

    The rounding error is a vector, and its product with a unit vector is at most its length (Cauchy-Schwarz).
    """
    near: NDArray[np.int8]
    steps: Cosines
    lost: Cosines
    _, near, steps, lost = held.columns
    about = np.empty(held.size, np.float32)
    numbers = np.empty((_TOGETHER, asked.size), np.float32)
    for start in range(0, held.size, _TOGETHER):
        some = near[start : start + _TOGETHER]
        np.copyto(numbers[: len(some)], some)
        about[start : start + len(some)] = cosines(numbers[: len(some)], asked)
    about *= steps
    margin = lost + np.float32(asked.size * _EPSILON)
    return about - margin, about + margin


def possible(low: Cosines, high: Cosines, limit: int) -> NDArray[np.intp]:
    """Return the rows that may be among the best ``limit``: their upper bound reaches the limit-th lower bound."""
    if limit >= len(low):
        return np.arange(len(low))
    least = np.partition(low, len(low) - limit)[len(low) - limit]
    return np.flatnonzero(high >= least)


def _without(old: Slice, touched: Seqs) -> Slice:
    stays = ~np.isin(old.seqs, touched)
    if stays.all():
        return old
    size = int(stays.sum())
    room = tuple(_empty((size, *column.shape[1:]), column.dtype) for column in old.room)
    for column, before in zip(room, old.columns, strict=True):
        np.compress(stays, before, axis=0, out=column)
    return replace(old, size=size, room=room)


def _with_room(old: Slice, rows: int) -> Slice:
    if rows <= len(old.room[0]):
        return old
    rows += rows // 4 if old.size else 0
    room = tuple(_empty((rows, *column.shape[1:]), column.dtype) for column in old.room)
    for column, before in zip(room, old.columns, strict=True):
        column[: old.size] = before
    return replace(old, room=room)


def _empty(shape: tuple[int, ...], kind: np.dtype[Any]) -> NDArray[Any]:
    """Allocate an array; a large one gets its own memory mapping, which returns to the system when it is freed.

    Large arrays allocated among small objects would fragment the heap, which is then never returned.
    """
    size = math.prod(shape) * kind.itemsize
    if size < _PAGED:
        return np.empty(shape, kind)
    return np.ndarray(shape, kind, mmap.mmap(-1, size))


FLOAT_BYTES = 4
STANDING = "e.embedded_as = ? AND e.retired_at IS NULL"
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


HELD_BYTES = 64 * 1024 * 1024
SPARE = 8  # extra rows fetched beyond the limit before a narrow filter costs a second query
COST_OF_A_FILTER = 4  # measured: 15,431 rows of 100,000 take 182 ms from the disk and 349 through Chroma's filter
_SAVED = 3  # a place held rounded may be this many times larger; includes room to grow
_FORMS = (whole, rounded)


def dimensions_of(connection: Connection, fingerprint: str) -> int:
    """Return the vector length of the oldest active event with a vector of this model; 0 if there is none.

    The oldest one is used so that later vectors are checked against those already stored.
    """
    source = "events e CROSS JOIN vectors v ON v.seq = e.seq"
    query = select("length(v.vector)", source, STANDING, "ORDER BY e.seq LIMIT 1")
    row = connection.execute(query, bound(fingerprint)).fetchone() if fingerprint else None
    return 0 if row is None else row[0] // FLOAT_BYTES


class SqliteExactSearch:
    """Cosine search over all events that a read filter admits and that have a vector of the current model.

    A large place is loaded into memory in slices after its first search; until all of it is loaded, searches read its
    vectors from the disk.
    """

    def __init__(self, database: Database, *, held_bytes: int = HELD_BYTES) -> None:
        """Search a database's vectors, caching at most ``held_bytes`` of them."""
        self._database = database
        self._cache: PlaceCache[Slice] = PlaceCache(held_bytes)
        self._to_load: set[VectorPlace] = set()
        self._loading: dict[VectorPlace, asyncio.Task[None]] = {}
        self._turns = asyncio.Lock()
        self._fingerprint = ""
        self._dimensions = 0

    def follow(self, fingerprint: str) -> None:
        """Set the model whose vectors are compared from now on."""
        self._fingerprint = fingerprint

    def clear_caches(self) -> None:
        """Drop all cached vectors: erased data must not stay in memory."""
        self._cache.clear()

    async def nearest(self, vector: Vector, read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Return events with their cosine, best first; [] for a vector of another length, or without a direction."""
        found = await self._database.read(self.found_nearest, vector, read_filter, limit)
        self.load()
        return found

    def found_nearest(
        self, connection: Connection, vector: Vector, read_filter: ReadFilter, limit: int
    ) -> list[tuple[Event, float]]:
        """Do what :meth:`nearest` does, on a connection."""
        asked = _direction(vector)
        if asked is None or limit <= 0 or not self._fingerprint:
            return []
        self._dimensions = asked.size
        place = VectorPlace(self._fingerprint, asked.size, place_filter(read_filter))
        return self._nearest(connection, asked, place, read_filter, bounded(limit))

    def load(self) -> None:
        """Begin to load the places that were searched and are not in memory; call it on the event loop."""
        while self._to_load:
            place = self._to_load.pop()
            if place not in self._loading:
                self._loading[place] = asyncio.create_task(self._load(place))

    async def loaded(self) -> None:
        """Wait until the vectors of all places searched so far are loaded."""
        await asyncio.gather(*self._loading.values())

    async def _load(self, place: VectorPlace) -> None:
        """Load a place's vectors slice by slice, so that other reads wait for one slice at most."""
        try:
            async with self._turns:  # one place at a time: places that do not fit together would evict each other
                while await self._database.read(self._is_loading, place):
                    pass
        except UnavailableError:  # closed or unreadable: the next search reports it
            pass
        finally:
            del self._loading[place]

    def is_wide(self, connection: Connection, read_filter: ReadFilter) -> bool:
        """Return whether a search would read so many vectors from disk that an approximate index is likely faster.

        Such an index applies a filter row by row: for a filtered place it pays only from several times the cache limit.
        """
        place = VectorPlace(self._fingerprint, self._dimensions, place_filter(read_filter))
        if self._held_form(place) is not None:
            return False
        is_filtered = read_filter.scene.kind != "operator" or bool(read_filter.group_id)
        bound = self._cache.limit * (COST_OF_A_FILTER if is_filtered else 1)
        row = dimensions_of(connection, place.fingerprint) * FLOAT_BYTES
        return count_of(connection, place.filter) * row > bound

    def _held_form(self, place: VectorPlace) -> Form | None:
        """Return the form in which a place is cached; drop it from the cache if it has outgrown that form."""
        for form in _FORMS:
            held = self._cache.find((form, place))
            if held is not None and held.size * place.dimensions * FLOAT_BYTES <= self._most(form):
                return form
            self._cache.drop((form, place))
        return None

    def _form(self, connection: Connection, place: VectorPlace) -> Form | None:
        """Choose the form in which to cache a place; None if it is too large."""
        size = count_of(connection, place.filter) * place.dimensions * FLOAT_BYTES
        return next((form for form in _FORMS if size <= self._most(form)), None)

    def _most(self, form: Form) -> int:
        """Return the largest size in bytes, unrounded, of a place that is cached in this form.

        A larger place would fill the cache alone.
        """
        return self._cache.limit // 2 if form is whole else self._cache.limit * _SAVED

    def _nearest(
        self, connection: Connection, asked: Cosines, place: VectorPlace, read_filter: ReadFilter, limit: int
    ) -> list[tuple[Event, float]]:
        rows, is_loading = self._compared(connection, asked, place)
        if is_loading:
            self._to_load.add(place)
        first = rows.best(limit + SPARE)
        found = _admitted(connection, read_filter, dict(islice(first.items(), limit)))
        if len(found) < limit < len(first):
            found = _admitted(connection, read_filter, first)
        if len(found) < limit and len(first) < len(rows.seqs):  # too many of the nearest lie outside a narrow filter
            found = _admitted(
                connection, read_filter, rows.within(EVENTS.seqs_within(connection, read_filter)).best(limit)
            )
        return found[:limit]

    def _compared(
        self, connection: Connection, asked: Cosines, place: VectorPlace
    ) -> tuple[_Compared | _Bounded, bool]:
        form = self._held_form(place) or self._form(connection, place)
        is_ready = form is not None and not self._is_far_behind(connection, place, form)
        held = self._advanced(connection, place, form) if form and is_ready else None
        if held is None or not held.is_whole:
            return _Compared(*scanned(connection, place, asked)), form is not None
        if form is whole:
            return _Compared(held.seqs, cosines(held.columns[1], asked)), False
        return _Bounded(connection, place, asked, held.seqs, *bounds(held, asked)), False

    def _is_far_behind(self, connection: Connection, place: VectorPlace, form: Form) -> bool:
        """Return whether more than one slice of a place is not in memory yet; a search does not wait for that."""
        held = self._cache.find((form, place))
        return count_of(connection, place.filter) >= CHUNK if held is None else not held.is_whole

    def _is_loading(self, connection: Connection, place: VectorPlace) -> bool:
        form = self._held_form(place) or self._form(connection, place)
        return form is not None and not self._advanced(connection, place, form).is_whole

    def _advanced(self, connection: Connection, place: VectorPlace, form: Form) -> Slice:
        """Apply the next changes of a place's vectors to its slice in memory; return the new slice."""

        def empty() -> Slice:
            columns = form(np.empty(0, np.int64), np.empty((0, place.dimensions), np.float32))
            return Slice.empty(columns, count_of(connection, place.filter))

        def renewed(old: Slice) -> Slice:
            changes = changes_of(connection, place, form, old.until, is_more=not old.is_whole)
            return old if changes is None else old.after(changes)

        return self._cache.fresh((form, place), empty, renewed, partial(catch_up, connection))


@dataclass(frozen=True)
class _Compared:
    """Rows with their exact cosines."""

    seqs: Seqs
    cosines: Cosines

    def best(self, limit: int) -> dict[int, float]:
        """Return the nearest rows."""
        return best(self.seqs, self.cosines, limit)

    def within(self, seqs: Seqs) -> _Compared:
        """Keep only the given rows."""
        inside = np.isin(self.seqs, seqs)
        return _Compared(self.seqs[inside], self.cosines[inside])


@dataclass(frozen=True)
class _Bounded:
    """Rows with bounds of their cosines; rows that may be among the nearest are read from the ledger.

    If the cosines differ by less than the rounding error, many rows must be read; at worst all.
    """

    connection: Connection
    place: VectorPlace
    asked: Cosines
    seqs: Seqs
    low: Cosines
    high: Cosines

    def best(self, limit: int) -> dict[int, float]:
        """Return the nearest rows, by their exact cosines."""
        seqs = self.seqs[possible(self.low, self.high, limit)]
        return best(*compared(self.connection, self.place, seqs, self.asked), limit)

    def within(self, seqs: Seqs) -> _Bounded:
        """Keep only the given rows."""
        inside = np.isin(self.seqs, seqs)
        return _Bounded(self.connection, self.place, self.asked, self.seqs[inside], self.low[inside], self.high[inside])


def _direction(vector: Vector) -> Cosines | None:
    asked = np.array(vector, np.float64)
    length = float(np.linalg.norm(asked))
    return (asked / length).astype(np.float32) if math.isfinite(length) and length > 0 else None


def _admitted(connection: Connection, read_filter: ReadFilter, first: Mapping[int, float]) -> list[tuple[Event, float]]:
    events = EVENTS.at(connection, read_filter, list(first))
    return [(event, first[seq]) for seq, event in events.items()]
