"""Search among the rows of a place: held in memory if they fit, else read from the ledger (FTS5, stored vectors).

A place has two corpora, its events and its lines. Each is loaded in slices after its first search, and then follows the
ledger at the start of each search: new rows by seq, removed ones by the noted removals, vectors by revision.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from sqlite3 import Connection
from threading import Lock
from typing import Any, TypeVar

from ...domain.event import Event
from ...domain.message import Message
from ...domain.reading import NARROWED, ReadFilter
from ...errors import UnavailableError
from ...ports import Vector
from ..database.connections import catch_up, rows_read
from ..database.database import Database
from ..database.rows import LISTED, Row, always_kept, bound, bounded, listed, micros, select
from ..numpy_on_use import Array, np
from .corpus import (
    EVENTS,
    MESSAGES,
    Corpus,
    Filter,
    latest_removal,
    match_words,
    passages_around,
    place_filter,
    removed_between,
    surround,
)
from .lines import FoundLine, FoundLines, LineRows, LineSearch, found_lines
from .rows import FLOAT_BYTES, EventRows, best, cosines, unit_vectors

HELD_BYTES = 112 * 1024 * 1024  # a place of 100,000 lines of chat takes about 40 MB, one of 10,000 events 23
TOGETHER = 500  # rows tokenised per step, some twenty milliseconds
TERM_BYTES = 8  # of a term of a row, and of its posting
OVERHEAD = 1024  # bytes counted for every place, so that the number of empty places is bounded, too
SPARE = 8  # extra matches fetched beyond the limit before a narrow filter costs a second query
SCANNED = 256 * 1024  # bytes of vectors compared at once; blocks of a megabyte would be new memory each time
COST_OF_A_FILTER = 4  # measured: 15,431 rows of 100,000 take 182 ms from the disk and 349 through Chroma's filter
STANDING = "e.embedded_as = ? AND e.retired_at IS NULL"
_VECTOR = f"CASE WHEN {STANDING} THEN v.vector END"
_EMBEDDED = "events e CROSS JOIN vectors v ON v.seq = e.seq"  # CROSS reads the events first
T = TypeVar("T")
Found = list[tuple[T, float]]
Ranking = Callable[[int, bool], Mapping[int, float]]  # the best so many rows: of a place, or of those that are admitted
_Key = tuple[Corpus[Any], Filter, str]  # a corpus, the filter of a place, and the model of its vectors


class HeldCorpus:
    """The events or the lines of one place in memory, as the ledger had them at a seq, a removal and a revision.

    Rows in ``missing`` are known, but not loaded yet. Only the thread that holds the lock changes them.
    """

    def __init__(self, key: _Key, changed_at: float) -> None:
        """Start without rows; ``changed_at`` is the instant of time.monotonic of the last change."""
        self.corpus, self._filter, self._model = key
        self.lock = Lock()
        self.changed_at = changed_at
        self.counted = 0  # bytes
        self.rows = self.corpus.rows()
        self.missing: list[int] = []
        self._known = 0, 0, 0  # the last seq, removal and revision

    def follow(self, connection: Connection) -> None:
        """Note new, removed and changed rows, in an order in which none is missed, and load some that are missing."""
        catch_up(connection, self.changed_at)
        table, words, (where, values) = self.corpus.table, self.corpus.words, self._filter
        known, removed, revised = self._known
        removal, revision = latest_removal(connection, words), always_kept(connection, "revision")
        gone = removed_between(connection, words, removed, removal) if known else None
        if gone is None:  # a new place, or one that missed too many removals
            self.rows, self.missing, known, revised = self.corpus.rows(), [], 0, revision
        elif gone:  # a row that was worded anew is removed, and added with the same seq
            again = {*self.rows.remove(gone).tolist(), *gone.intersection(self.missing)}
            self.missing = [*(seq for seq in self.missing if seq not in again), *sorted(again)]
        last = max(connection.execute(select("max(seq)", table, "TRUE")).fetchone()[0] or 0, known)
        if last > known:  # all new rows are read if those are few, else the place's index is
            is_short = last - known <= max(len(self.rows), TOGETHER)
            source, seq = (" NOT INDEXED", "e.seq") if is_short else ("", "+e.seq")
            query = select("e.seq", f"{table} e{source}", f"{where} AND {seq} > ? AND {seq} <= ?")
            self.missing += (row[0] for row in connection.execute(query, (*values, known, last)))
        if isinstance(self.rows, EventRows) and revision > revised:
            joined = "events e LEFT JOIN vectors v ON v.seq = e.seq"
            query = select(f"e.seq, {_VECTOR}", joined, f"{where} AND e.revision > ?")
            changed = connection.execute(query, (*bound(self._model), *values, revised))
            while some := changed.fetchmany(TOGETHER):
                self.rows.embed(some)
        if isinstance(self.rows, LineRows):
            query = select("DISTINCT v.seq", "veils v CROSS JOIN messages e ON e.seq = v.seq", where, "ORDER BY v.seq")
            self.rows.hide(np.array([row[0] for row in connection.execute(query, values)], np.int64))
        before, self._known = self._known, (last, removal, revision)
        if self.missing or before != self._known:
            self._load(connection)
            self.changed_at = time.monotonic()

    def _load(self, connection: Connection) -> None:
        is_events, table = isinstance(self.rows, EventRows), self.corpus.table
        source = f"{table} e NOT INDEXED{' LEFT JOIN vectors v ON v.seq = e.seq' if is_events else ''}"
        asked = ", ".join(("e.seq", *((_VECTOR,) if is_events else ()), *(f"e.{name}" for name in self.rows.COLUMNS)))
        query = select(asked, source, f"e.seq IN {LISTED} AND {self._filter[0]}")  # by seq
        model = bound(self._model) if is_events else ()
        some, self.missing = self.missing[:TOGETHER], self.missing[TOGETHER:]
        values = (*model, listed(some), *self._filter[1])
        if some and (rows := connection.execute(query, values).fetchall()):
            self.rows.load(rows)


class Corpora:
    """The places in memory, the least recently used evicted first, and the searches among them."""

    def __init__(self, database: Database, *, held_bytes: int = HELD_BYTES) -> None:
        """Search a database, holding at most ``held_bytes`` between calls."""
        self.limit = held_bytes
        self.bytes = 0  # of all places
        self._database = database
        self._held: OrderedDict[_Key, HeldCorpus] = OrderedDict()
        self._lock = Lock()  # of the two above
        self._cleared_at = 0.0
        self._refused: set[_Key] = set()  # places that do not fit into memory
        self._to_load: dict[_Key, None] = {}  # in order
        self._loading: asyncio.Task[None] | None = None
        self._model = ""

    def follow(self, fingerprint: str) -> None:
        """Set the model whose vectors are compared from now on."""
        self._model = fingerprint

    def clear_caches(self) -> None:
        """Drop all rows: erased data must not stay in memory. What is being loaded goes with its search."""
        with self._lock:
            self._held.clear()
            self._refused.clear()
            self.bytes, self._cleared_at = 0, time.monotonic()

    # searches

    def found_events(
        self, connection: Connection, terms: Sequence[str], read_filter: ReadFilter, limit: int
    ) -> Found[Event]:
        """Return at most ``limit`` events that contain one of ``terms`` or more, highest BM25 score first."""
        if limit <= 0 or not terms:
            return []
        with self._rows(connection, self._key(EVENTS, read_filter)) as rows:
            if rows is not None:
                scores = rows.bm25(terms)
                shared = np.flatnonzero(scores)
                return _admitted(connection, read_filter, limit, rows.seqs.values[shared], scores[shared])
        return _matching(connection, EVENTS, terms, read_filter, limit)

    def found_nearest(
        self, connection: Connection, vector: Vector, read_filter: ReadFilter, limit: int
    ) -> Found[Event]:
        """Return events with their cosine, best first; [] for a vector of another length, or without a direction."""
        direction = np.array(vector, np.float64)
        length = float(np.linalg.norm(direction))
        if limit <= 0 or not self._model or not math.isfinite(length) or length <= 0:
            return []
        asked = (direction / length).astype(np.float32)
        with self._rows(connection, self._key(EVENTS, read_filter)) as rows:
            if rows is not None and rows.dimensions in (0, asked.size):
                return _admitted(connection, read_filter, limit, *rows.cosines(asked))
        where, values = place_filter(read_filter)  # all vectors of the place are read from the disk
        stands = "e.retired_at IS NULL AND +e.embedded_as = ? AND e.revision > 0"  # +: not by the index of all places
        query = select("e.seq, v.vector", _EMBEDDED, f"{where} AND {stands} AND length(v.vector) = ?")
        read = connection.execute(query, (*values, *bound(self._model), asked.size * FLOAT_BYTES))
        seqs, found = [np.empty(0, np.int64)], [np.empty(0, np.float32)]
        while some := read.fetchmany(max(SCANNED // (asked.size * FLOAT_BYTES), 1)):
            seqs.append(np.fromiter((row[0] for row in some), np.int64, len(some)))
            found.append(cosines(unit_vectors([row[1] for row in some], asked.size), asked))
        return _admitted(connection, read_filter, limit, np.concatenate(seqs), np.concatenate(found))

    def found_lines(self, connection: Connection, search: LineSearch) -> FoundLines:
        """Return lines that have one of the terms or more, or stand near such lines, best first."""
        if search.limit <= 0 or not search.terms:
            return FoundLines()
        with self._rows(connection, self._key(MESSAGES, search.read_filter)) as rows:
            if rows is not None:
                seqs = rows.seqs.values

                def read(some: Sequence[int]) -> Mapping[int, Message]:
                    of_seq = dict(zip(seqs[some].tolist(), some, strict=True))
                    found = MESSAGES.at(connection, search.read_filter, list(of_seq))
                    return {of_seq[seq]: line for seq, line in found.items()}

                return found_lines(rows, search, read)
        return _lines_matching(connection, search)

    def surround(
        self, connection: Connection, found: Sequence[FoundLine], read_filter: ReadFilter, around: int | None = None
    ) -> None:
        """Add to lines what :func:`surround` adds, of all that the filter's scene may read."""
        surround(connection, found, replace(read_filter, user_id="", kinds=(), window=None), around)

    def is_wide(self, connection: Connection, read_filter: ReadFilter) -> bool:
        """Return whether a search would read so many vectors from disk that an approximate index is likely faster.

        Such an index applies a filter row by row: for a filtered place it pays only from several times the cache limit.
        """
        where = place_filter(read_filter)
        if (EVENTS, where, self._model) in self._held:
            return False
        query = select("count(*)", "events e", f"{where[0]} AND e.revision > 0")
        count = connection.execute(query, where[1]).fetchone()[0]
        is_filtered = read_filter.scene.kind != "operator" or bool(read_filter.group_id)
        size = count * dimensions_of(connection, self._model) * FLOAT_BYTES
        return size > self.limit * (COST_OF_A_FILTER if is_filtered else 1)

    # places

    def _key(self, corpus: Corpus[Any], read_filter: ReadFilter) -> _Key | None:
        """Return the key of the place that contains all that a filter admits; None for the lines of all places."""
        if corpus is MESSAGES and read_filter.scene.kind == "operator" and not read_filter.group_id:
            return None
        return corpus, place_filter(read_filter), self._model if corpus is EVENTS else ""

    @contextmanager
    def _rows(self, connection: Connection, key: _Key | None) -> Generator[Any, None, None]:
        """Yield a place's rows, up to date and unchanged meanwhile; None if one is missing, to be loaded then."""
        if key is None or key in self._refused:
            yield None
            return
        with self._lock:
            place = self._held.get(key) or self._held.setdefault(key, HeldCorpus(key, self._cleared_at))
            self._held.move_to_end(key)
        with place.lock:
            if rows_read(connection, "places").get(key) != (place, place.changed_at):
                self._follow(connection, key, place)
            yield None if place.missing else place.rows

    def _follow(self, connection: Connection, key: _Key, place: HeldCorpus) -> None:
        """Bring a place up to date, and evict what does not fit beside it, or the place if it is too large."""
        is_kept = False  # after a failure, its rows may be half changed
        try:
            place.follow(connection)
            rows, loaded = place.rows, max(len(place.rows), 1)
            row_bytes = TERM_BYTES * len(rows.terms.values)
            row_bytes += len(rows) * rows.dimensions * FLOAT_BYTES if isinstance(rows, EventRows) else 0
            counted = rows.bytes + OVERHEAD
            # at least, when all rows are loaded: the distinct terms, limited in number, apart
            is_kept = max(counted, row_bytes * (loaded + len(place.missing)) // loaded) <= self.limit
            with self._lock:
                before, place.counted = place.counted, counted
                if self._held.get(key) is place:  # otherwise it was dropped in the meantime
                    self.bytes += counted - before
                while self.bytes > self.limit and self._held:
                    self.bytes -= self._held.popitem(last=False)[1].counted
            if not is_kept:
                self._refused.add(key)
            elif place.missing:
                self._to_load[key] = None
            else:
                rows_read(connection, "places")[key] = place, place.changed_at
        finally:
            with self._lock:
                if not is_kept and (held := self._held.pop(key, None)):
                    self.bytes -= held.counted

    def load(self) -> None:
        """Begin to load the places that were searched and are not in memory; call it on the event loop."""
        if self._to_load and (self._loading is None or self._loading.done()):
            self._loading = asyncio.create_task(self._load())

    async def loaded(self) -> None:
        """Wait until the rows of all places searched so far are loaded."""
        if self._loading is not None:
            await self._loading

    async def _load(self) -> None:
        """Load one place after the other, as places that do not fit together would evict each other.

        Each is loaded in small steps, so that concurrent reads wait for few rows only.
        """

        def is_missing(connection: Connection, key: _Key) -> bool:
            with self._rows(connection, key) as rows:
                return rows is None and key not in self._refused

        while self._to_load:
            key = list(self._to_load)[0]  # noqa: RUF015  # at once, for other threads add places
            with suppress(UnavailableError):  # closed or unreadable: the next search reports it
                while await self._database.read(is_missing, key):
                    pass
            self._to_load.pop(key, None)


def dimensions_of(connection: Connection, fingerprint: str) -> int:
    """Return the vector length of the oldest active event with a vector of this model; 0 if there is none.

    The oldest one is used so that later vectors are checked against those already stored.
    """
    query = select("length(v.vector)", _EMBEDDED, STANDING, "ORDER BY e.seq LIMIT 1")
    row = connection.execute(query, bound(fingerprint)).fetchone() if fingerprint else None
    return 0 if row is None else row[0] // FLOAT_BYTES


def _admitted(connection: Connection, read_filter: ReadFilter, limit: int, seqs: Array, scores: Array) -> Found[Event]:
    """Return the best events that the filter admits."""

    def ranked(most: int, is_narrow: bool) -> Mapping[int, float]:  # as a Ranking
        if not is_narrow:
            return best(seqs, scores, most)
        clause, values = EVENTS.filter_of(read_filter)
        admitted = [row[0] for row in connection.execute(select("e.seq", "events e", clause), values)]
        inside = np.isin(seqs, admitted)
        return best(seqs[inside], scores[inside], most)

    return _found(connection, EVENTS, read_filter, limit, ranked)


def _found(connection: Connection, corpus: Corpus[T], read_filter: ReadFilter, limit: int, ranked: Ranking) -> Found[T]:
    limit = bounded(limit)
    scores = ranked(limit + SPARE, False)  # as a Ranking
    found = corpus.at(connection, read_filter, [*islice(scores, limit)])
    if len(found) < min(limit, len(scores)):
        found = corpus.at(connection, read_filter, [*scores])
    if len(found) < limit and len(scores) == limit + SPARE:  # too many of the best lie outside a narrow filter
        scores = ranked(limit, True)  # the same
        found = corpus.at(connection, read_filter, [*scores])
    return [(item, scores[seq]) for seq, item in islice(found.items(), limit)]


def _matching(
    connection: Connection, corpus: Corpus[T], terms: Sequence[str], read_filter: ReadFilter, limit: int
) -> Found[T]:
    """Search with FTS5."""
    expression, words = match_words(terms, read_filter), corpus.words
    if expression is None:
        return []

    def ranked(most: int, is_narrow: bool) -> Mapping[int, float]:  # as a Ranking
        clause, values = corpus.filter_of(read_filter) if is_narrow else ("TRUE", ())
        source = f"{words} w CROSS JOIN {corpus.table} e ON e.seq = w.rowid" if is_narrow else f"{words} w"
        query = select("w.rowid, -w.rank", source, f"{words} MATCH ? AND {clause}", "ORDER BY w.rank LIMIT ?")
        return dict(connection.execute(query, (expression, *values, most)))

    return _found(connection, corpus, read_filter, limit, ranked)


def _lines_matching(connection: Connection, search: LineSearch) -> FoundLines:
    """Search with FTS5, and score the lines found among those around them."""
    wide = replace(search.read_filter, user_id="", kinds=(), window=None)
    narrow, more = search.read_filter.narrowed(search.windows, search.people), min(search.candidates, NARROWED)
    asked = [(search.read_filter, search.candidates), *((one, more) for one in narrow)]
    found = [line for one, most in asked for line, _ in _matching(connection, MESSAGES, search.terms, one, most)]
    keys, lines, rows = {line.key for line in found}, list[Message](), LineRows()
    for number, passage in enumerate(passages_around(connection, found, wide, search.reach)):
        rows.load([row_of(len(lines) + at, line) for at, line in enumerate(passage)], number)
        lines += passage
    among, admits = [at for at, line in enumerate(lines) if line.key in keys], search.read_filter.admits_line

    def read(some: Sequence[int]) -> Mapping[int, Message]:
        return {row: lines[row] for row in some if admits(lines[row])}

    return found_lines(rows, search, read, np.array(among, np.int64))


def row_of(seq: int, line: Message) -> Row:
    """Return a line as a row that :class:`LineRows` loads."""
    scene = line.scene
    who = line.is_bot, scene.user_id, scene.user_name
    about = micros(line.sent_at), scene.scope.key, scene.scope.kind, line.id, line.reply_to
    return seq, *about, *who, line.sent_at.isoformat(), line.text
