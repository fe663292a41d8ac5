"""Search among the rows of a place: one way for every place, for all places of an agent, too.

A place has up to three sets of rows: the words of its events, the words of its lines, the vectors of its events. Each
is read from the ledger by the first search that needs it, and then follows the ledger at the start of each search. What
does not fit into memory is read again by each search.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from sqlite3 import Connection
from threading import Lock
from typing import Any, TypeVar

from ...domain.event import Event
from ...domain.reading import ReadFilter
from ...ports import Vector
from ...text.characters import register_cache
from ..database.connections import SnapshotConnection
from ..database.database import Database
from ..database.rows import bound, bounded, select
from ..database.words import READ, hashed
from ..numpy_on_use import Array, np
from .filters import EVENTS, MESSAGES, Values, place_filter
from .lines import SHOWN, WHOLE, FoundLine, FoundLines, LineRows, LineSearch, found_lines
from .rows import FLOAT_BYTES, EventRows, Rows, VectorRows, best, cosines, state_of, unit_vectors

HELD_BYTES = 112 * 1024 * 1024  # a place of 100,000 lines of chat takes some 40 MB, one of 10,000 events 23
SPARE = 8  # extra matches fetched beyond the limit before a narrow filter costs a second query
COST_OF_A_FILTER = 4  # measured: 15,431 rows of 100,000 take 182 ms from the disk and 349 through Chroma's filter
STANDING = "e.embedded_as = ? AND e.retired_at IS NULL"
R = TypeVar("R", bound=Rows)


class Corpora:
    """The places in memory, the least recently used evicted first, and the searches among them."""

    def __init__(self, database: Database, *, held_bytes: int = HELD_BYTES) -> None:
        """Search a database, holding at most ``held_bytes`` between calls."""
        self.limit = held_bytes
        self._database = database
        self._held: OrderedDict[tuple[Any, ...], Rows] = OrderedDict()
        self._lock = Lock()  # of the one above
        self._cleared_at = -1.0
        self._model = ""
        register_cache(self)

    @property
    def bytes(self) -> int:
        """How much is held."""
        return sum(rows.bytes for rows in self._held.values())

    def follow(self, fingerprint: str) -> None:
        """Set the model whose vectors are compared from now on."""
        self._model = fingerprint

    def clear_caches(self) -> None:
        """Drop all rows: erased data must not stay in memory."""
        with self._lock:
            self._held.clear()
            self._cleared_at = time.monotonic()

    def found_events(
        self, connection: Connection, terms: Sequence[str], read_filter: ReadFilter, limit: int
    ) -> list[tuple[Event, float]]:
        """Return at most ``limit`` events that contain one of ``terms`` or more, best first, each with its score."""
        if limit <= 0 or not terms:
            return []
        with self._rows(connection, EventRows, *place_filter(read_filter)) as rows:
            scores = rows.scores(terms) if len(rows) else np.zeros(0)
            shared = np.flatnonzero(scores)
            seqs = rows.seqs.values[shared]
        return _admitted(connection, read_filter, limit, seqs, scores[shared])

    def found_nearest(
        self, connection: Connection, vector: Vector, read_filter: ReadFilter, limit: int
    ) -> list[tuple[Event, float]]:
        """Return events with their cosine, best first; [] for a vector of another length, or without a direction."""
        direction = np.array(vector, np.float64)
        length = math.sqrt(direction @ direction)
        if limit <= 0 or not self._model or not math.isfinite(length) or length <= 0:
            return []
        asked = (direction / length).astype(np.float32)
        place = *place_filter(read_filter), self._model, asked.size
        if self._fits(connection, *place):
            with self._rows(connection, VectorRows, *place) as rows:
                seqs, found = rows.seqs.values, cosines(rows.vectors.values, asked)
        else:
            read, parts = list[int](), [np.empty(0, np.float32)]
            for some in VectorRows(*place).read(connection):
                read += [row[0] for row in some]
                parts.append(cosines(unit_vectors([row[1] for row in some], asked.size), asked))
            seqs, found = np.array(read, np.int64), np.concatenate(parts)
        return _admitted(connection, read_filter, limit, seqs, found)

    def found_lines(self, connection: Connection, search: LineSearch) -> FoundLines:
        """Return lines that have one of the terms or more, or stand near such lines, best first."""
        if search.limit <= 0 or not search.query.terms:
            return FoundLines()
        with self._rows(connection, LineRows, *place_filter(search.read_filter)) as rows:
            return found_lines(rows, search, partial(MESSAGES.at, connection, search.read_filter))

    def heard(self, connection: Connection, terms: Sequence[str], read_filter: ReadFilter) -> frozenset[str]:
        """Return which of the terms are in lines of the place that the read filter does not leave out."""
        with self._rows(connection, LineRows, *place_filter(read_filter)) as rows:
            return rows.heard(terms, read_filter.without)

    @staticmethod
    def surround(
        connection: Connection, found: Sequence[FoundLine], read_filter: ReadFilter, around: int | None = None
    ) -> None:
        """Add to lines the ones they reply to and, to the first ``around`` (None: all), those before and after them.

        Lines around a line are of the same session. Only lines that the read filter's scene may read are read.
        """
        wide = replace(read_filter, user_id="", kinds=(), window=None)
        query = select("e.seq", "messages e", "e.scope = ? AND e.id = ?")
        replied = [0] * len(found)
        for at, one in enumerate(found):
            if one.line.reply_to:
                row = connection.execute(query, bound(one.line.scene.scope.key, one.line.reply_to)).fetchone()
                replied[at] = row[0] if row else 0
        asked = {*replied, *chain(*(one.beside for one in found[:around]))}
        lines = MESSAGES.at(connection, wide, sorted(asked - {0}))
        for one, seq in zip(found, replied, strict=True):
            one.replied = lines.get(seq)
        for one in found[:around]:
            sides = one.beside[:SHOWN], one.beside[SHOWN:]
            one.before, one.after = (tuple(lines[seq] for seq in side if seq in lines) for side in sides)

    def is_wide(self, connection: Connection, read_filter: ReadFilter) -> bool:
        """Return whether a search would read so many vectors from disk that an approximate index is likely faster.

        Such an index applies a filter row by row: for a filtered place it pays only from several times the cache limit.
        """
        is_filtered = read_filter.scene.kind != "operator" or bool(read_filter.group_id)
        dimensions = dimensions_of(connection, self._model)
        place = *place_filter(read_filter), self._model, dimensions
        return not self._fits(connection, *place, times=COST_OF_A_FILTER if is_filtered else 1)

    def _fits(
        self, connection: Connection, where: str, values: Values, model: str, dimensions: int, *, times: int = 1
    ) -> bool:
        """Return whether the vectors of a place are held, or fit into so many times the limit."""
        if (VectorRows, where, values, model, dimensions) in self._held:
            return True
        query = select("count(*)", "events e", f"{where} AND e.revision > 0")
        return connection.execute(query, values).fetchone()[0] * dimensions * FLOAT_BYTES <= self.limit * times

    @contextmanager
    def _rows(self, connection: Connection, kind: Callable[..., R], *about: Any) -> Generator[R, None, None]:
        """Yield the rows of a place, up to date and unchanged meanwhile; they are held from now on if they fit."""
        key = kind, *about
        with self._lock:
            rows: Any = self._held.pop(key, None)
            self._held[key] = rows = kind(*about) if rows is None else rows  # the last one, as the most recent
        state, counted = state_of(connection), rows.bytes
        with rows.lock:
            if state > rows.state:
                rows.follow(connection, state)
            yield rows
            began = connection.began if isinstance(connection, SnapshotConnection) else 0.0
            with self._lock:
                taken = rows.bytes
                if taken > self.limit or began <= self._cleared_at:  # or erased data could be held
                    self._held.pop(key, None)
                while taken != counted and self.bytes > self.limit:
                    self._held.popitem(last=False)


def _admitted(
    connection: Connection, read_filter: ReadFilter, limit: int, seqs: Array, scores: Array
) -> list[tuple[Event, float]]:
    """Return the best events that the filter admits."""
    limit = bounded(limit)
    scored = best(seqs, scores, limit + SPARE)
    found = EVENTS.at(connection, read_filter, [*islice(scored, limit)])
    if len(found) < min(limit, len(scored)):
        found |= EVENTS.at(connection, read_filter, [*islice(scored, limit, None)])
    if len(found) < limit and len(scored) == limit + SPARE:  # too many of the best lie outside a narrow filter
        clause, values = EVENTS.filter_of(read_filter)
        query = select("e.seq", "events e", clause)
        inside = np.isin(seqs, [row[0] for row in connection.execute(query, values)])
        scored = best(seqs[inside], scores[inside], limit)
        found = EVENTS.at(connection, read_filter, [*scored])
    return [(item, scored[seq]) for seq, item in islice(found.items(), limit)]


def dimensions_of(connection: Connection, fingerprint: str) -> int:
    """Return the vector length of the oldest active event with a vector of this model; 0 if there is none.

    The oldest one is used so that later vectors are checked against those already stored.
    """
    query = select("length(v.vector)", VectorRows.SOURCE, STANDING, "ORDER BY e.seq LIMIT 1")
    row = connection.execute(query, bound(fingerprint)).fetchone() if fingerprint else None
    return 0 if row is None else row[0] // FLOAT_BYTES


def lines_sharing(connection: Connection, terms: Collection[str], where: str, values: Values) -> list[int]:
    """Return the seqs of lines that contain one of the terms, and of lines too long for their words to tell."""
    stored = f"e.seq, {LineRows.STORED}, length(e.text) > {READ}"
    read = connection.execute(select(stored, "messages e", f"{where} AND {WHOLE}"), values).fetchall()
    rows = LineRows()
    rows.load(read)
    _, found = rows.looked_through(np.fromiter(map(hashed, terms), np.uint32))
    return sorted({*rows.seqs.values[found].tolist(), *(row[0] for row in read if row[2])})
