"""Exact search over the vectors in the ledger, in memory for the places that fit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from sqlite3 import Connection

import numpy as np

from ....domain.event import Event
from ....domain.hit import ReadFilter
from ....ports.models import Vector
from ..database.database import Database
from ..database.statements import bounded
from .corpus import EVENTS
from .filters import place_filter
from .place_cache import PlaceCache
from .top_rows import best
from .vector_cache import Cosines, Seqs, Slice, bounds, cosines, possible, rounded, whole
from .vector_changes import dimensions_of
from .vector_rows import FLOAT_BYTES, Form, VectorPlace, bytes_of, changes_of, compared, scanned

HELD_BYTES = 64 * 1024 * 1024
SPARE = 8  # extra rows fetched beyond the limit before a narrow reading costs a second query
COST_OF_A_FILTER = 4  # measured: 15,431 rows of 100,000 take 182 ms from the disk and 349 through Chroma's filter
_SAVED = 3  # a place held rounded may be this many times larger; includes room to grow
_FORMS = (whole, rounded)


class SqliteExactSearch:
    """Cosine search over all events that a reading admits, among vectors of the current model."""

    def __init__(self, database: Database, *, held_bytes: int = HELD_BYTES) -> None:
        """Search a database's vectors, caching at most ``held_bytes`` of them."""
        self._database = database
        self._cache: PlaceCache[Slice] = PlaceCache(held_bytes)
        self._fingerprint = ""
        self._dimensions = 0

    def follow(self, fingerprint: str) -> None:
        """Set the model whose vectors are compared from now on."""
        self._fingerprint = fingerprint

    def clear_caches(self) -> None:
        """Drop all cached vectors: erased data must not stay in memory."""
        self._cache.clear()

    async def nearest(self, vector: Vector, reading: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Return events with their cosine, best first; [] for a vector of another length, or without a direction."""
        asked = _direction(vector)
        if asked is None or limit <= 0 or not self._fingerprint:
            return []
        self._dimensions = asked.size
        place = VectorPlace(self._fingerprint, asked.size, place_filter(reading))
        return await self._database.read(self._nearest, asked, place, reading, bounded(limit))

    async def is_wide(self, reading: ReadFilter) -> bool:
        """Return whether a search would read more vectors from disk than an approximate index would cost.

        Such an index applies a filter row by row: for a filtered place it pays only from several times the cache limit.
        """
        place = VectorPlace(self._fingerprint, self._dimensions, place_filter(reading))
        if self._held_form(place) is not None:
            return False
        is_filtered = reading.scene.kind != "operator" or bool(reading.group_id)
        bound = self._cache.limit * (COST_OF_A_FILTER if is_filtered else 1)
        return await self._database.read(self._is_over, place, bound)

    def _is_over(self, connection: Connection, place: VectorPlace, bound: int) -> bool:
        return bytes_of(connection, place.filter, dimensions_of(connection, place.fingerprint)) > bound

    def _held_form(self, place: VectorPlace) -> Form | None:
        """Return the form in which a place is cached; drop a place that outgrew its form before it evicts others."""
        for form in _FORMS:
            held = self._cache.find((form, place))
            if held is not None and held.size * place.dimensions * FLOAT_BYTES <= self._most(form):
                return form
            self._cache.drop((form, place))
        return None

    def _form(self, connection: Connection, place: VectorPlace) -> Form | None:
        """Choose the form in which to cache a place; None if it is too large."""
        size = bytes_of(connection, place.filter, place.dimensions)
        return next((form for form in _FORMS if size <= self._most(form)), None)

    def _most(self, form: Form) -> int:
        """Return the size in bytes up to which a place is cached in a form; one place must not fill the whole cache."""
        return self._cache.limit // 2 if form is whole else self._cache.limit * _SAVED

    def _nearest(
        self, connection: Connection, asked: Cosines, place: VectorPlace, reading: ReadFilter, limit: int
    ) -> list[tuple[Event, float]]:
        rows = self._compared(connection, asked, place)
        first = rows.best(limit + SPARE)
        found = _admitted(connection, reading, first)
        if len(found) < limit and len(first) < len(rows.seqs):  # too many of the nearest lie outside a narrow reading
            found = _admitted(connection, reading, rows.within(EVENTS.seqs_within(connection, reading)).best(limit))
        return found[:limit]

    def _compared(self, connection: Connection, asked: Cosines, place: VectorPlace) -> _Compared | _Bounded:
        form = self._held_form(place) or self._form(connection, place)
        if form is None:
            return _Compared(*scanned(connection, place, asked))
        held = self._cache.fresh(
            (form, place), lambda: _empty(form, place), lambda old: _renewed(connection, place, form, old)
        )
        if form is whole:
            return _Compared(held.seqs, cosines(held.columns[1], asked))
        return _Bounded(connection, place, asked, held.seqs, *bounds(held, asked))


@dataclass(frozen=True)
class _Compared:
    """Rows with their cosines."""

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
    """Rows with bounds of their cosines; candidates for the nearest are read from the ledger.

    The closer together the cosines lie relative to the rounding error, the more are read: at worst all.
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


def _empty(form: Form, place: VectorPlace) -> Slice:
    return Slice.of(form(np.empty(0, np.int64), np.empty((0, place.dimensions), np.float32)))


def _renewed(connection: Connection, place: VectorPlace, form: Form, old: Slice) -> Slice:
    changes = changes_of(connection, place, form, old.revision)
    return old.after(changes) if len(changes.touched) else old


def _admitted(connection: Connection, reading: ReadFilter, first: Mapping[int, float]) -> list[tuple[Event, float]]:
    events = EVENTS.at(connection, reading, list(first))
    return [(event, first[seq]) for seq, event in events.items()]
