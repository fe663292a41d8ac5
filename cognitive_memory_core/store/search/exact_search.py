"""Exact search over the vectors in the ledger, in memory for the places that fit."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from sqlite3 import Connection

import numpy as np

from ...domain.event import Event
from ...domain.read_filter import ReadFilter
from ...errors import UnavailableError
from ...ports.models import Vector
from ..database.database import Database
from ..database.snapshots import catch_up
from ..database.statements import bounded
from .corpus import EVENTS
from .place_cache import PlaceCache
from .read_filter_sql import place_filter
from .rows import best
from .vector_cache import Cosines, Seqs, Slice, bounds, cosines, possible, rounded, whole
from .vector_changes import dimensions_of
from .vector_rows import CHUNK, FLOAT_BYTES, Form, VectorPlace, changes_of, compared, count_of, scanned

HELD_BYTES = 64 * 1024 * 1024
SPARE = 8  # extra rows fetched beyond the limit before a narrow filter costs a second query
COST_OF_A_FILTER = 4  # measured: 15,431 rows of 100,000 take 182 ms from the disk and 349 through Chroma's filter
_SAVED = 3  # a place held rounded may be this many times larger; includes room to grow
_FORMS = (whole, rounded)


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
        return self._cache.fresh(
            (form, place),
            lambda: _empty(connection, place, form),
            lambda old: _renewed(connection, place, form, old),
            partial(catch_up, connection),
        )


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


def _empty(connection: Connection, place: VectorPlace, form: Form) -> Slice:
    columns = form(np.empty(0, np.int64), np.empty((0, place.dimensions), np.float32))
    return Slice.empty(columns, count_of(connection, place.filter))


def _renewed(connection: Connection, place: VectorPlace, form: Form, old: Slice) -> Slice:
    changes = changes_of(connection, place, form, old.until, is_more=not old.is_whole)
    return old if changes is None else old.after(changes)


def _admitted(connection: Connection, read_filter: ReadFilter, first: Mapping[int, float]) -> list[tuple[Event, float]]:
    events = EVENTS.at(connection, read_filter, list(first))
    return [(event, first[seq]) for seq, event in events.items()]
