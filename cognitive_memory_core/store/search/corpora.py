"""Search among the rows of a place: held in memory if they fit, else read from the ledger (FTS5, stored vectors).

A place has two corpora, its events and its lines. Each is loaded in slices after its first search, and then follows the
ledger at the start of each search: new rows by seq, removed ones by the noted removals, vectors by revision.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from sqlite3 import Connection
from threading import Lock
from typing import Any, TypeVar

from ...domain.event import Event
from ...domain.message import Message
from ...domain.read_filter import NARROWED, ReadFilter
from ...errors import UnavailableError
from ...ports.models import Vector
from ..database.connections import catch_up, rows_read
from ..database.database import Database
from ..database.rows import Row, bound, micros
from ..database.sql import LISTED, always_kept, bounded, listed, select
from ..numpy_on_use import Array, Vectors, np
from .corpus import EVENTS, MESSAGES, Corpus, passages_around, surround
from .lines import FoundLine, FoundLines, LineRows, LineSearch, found_lines, scored_lines
from .read_filter_sql import Filter, place_filter
from .rows import FLOAT_BYTES, EventRows, best, cosines, unit_vectors
from .words import latest_removal, match, removed_between

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
_Key = tuple[Corpus[Any, Any], Filter, str]  # a corpus, the filter of a place, and the model of its vectors


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
        self._begin(0, 0)

    def _begin(self, removal: int, revision: int) -> None:
        self.rows = self.corpus.rows()
        self.missing: list[int] = []  # known, but not loaded yet
        self._last, self._removal, self._revision = 0, removal, revision

    @property
    def at_least(self) -> int:
        """A lower bound of the size when all rows are loaded: the distinct terms, limited in number, apart."""
        loaded, held = max(len(self.rows), 1), TERM_BYTES * len(self.rows.terms.values)
        if isinstance(self.rows, EventRows):
            held += len(self.rows) * self.rows.dimensions * FLOAT_BYTES
        return max(self.counted, held * (loaded + len(self.missing)) // loaded)

    def follow(self, connection: Connection) -> None:
        """Note new, removed and changed rows, in an order in which none is missed, and load some that are missing."""
        catch_up(connection, self.changed_at)
        table, words, before = self.corpus.table, self.corpus.words, (self._last, self._removal, self._revision)
        removal = latest_removal(connection, words)
        revision = always_kept(connection, "revision")
        gone = removed_between(connection, words, self._removal, removal) if self._last else set[int]()
        if gone is None or not self._last:
            self._begin(removal, revision)
        elif gone:  # a row that was worded anew is removed, and added with the same seq
            again = {*self.rows.remove(gone).tolist(), *gone.intersection(self.missing)}
            self.missing = [*(seq for seq in self.missing if seq not in again), *sorted(again)]
        last = max(connection.execute(select("max(seq)", table, "TRUE")).fetchone()[0] or 0, self._last)
        if last > self._last:
            self.missing += self._new_seqs(connection, last)
        if isinstance(self.rows, EventRows) and revision > self._revision:
            where = f"{self._filter[0]} AND e.revision > ?"
            query = select(f"e.seq, {_VECTOR}", "events e LEFT JOIN vectors v ON v.seq = e.seq", where)
            changed = connection.execute(query, (*bound(self._model), *self._filter[1], self._revision))
            while some := changed.fetchmany(TOGETHER):
                self.rows.embed(some)
        self._last, self._removal, self._revision = last, removal, revision
        if isinstance(self.rows, LineRows):
            source = "veils v CROSS JOIN messages e ON e.seq = v.seq"
            query = select("DISTINCT v.seq", source, self._filter[0], "ORDER BY v.seq")
            self.rows.hide(np.array([row[0] for row in connection.execute(query, self._filter[1])], np.int64))
        if self.missing:
            self._load(connection)
        elif before == (last, removal, revision):
            return
        self.changed_at = time.monotonic()

    def _load(self, connection: Connection) -> None:
        columns, is_events = self.rows.COLUMNS, self.corpus is EVENTS
        source = f"{self.corpus.table} e NOT INDEXED{' LEFT JOIN vectors v ON v.seq = e.seq' if is_events else ''}"
        asked = ", ".join(("e.seq", *((_VECTOR,) if is_events else ()), *(f"e.{name}" for name in columns)))
        query = select(asked, source, f"e.seq IN {LISTED} AND {self._filter[0]}")  # by seq
        model = bound(self._model) if is_events else ()
        if rows := connection.execute(query, (*model, listed(self.missing[:TOGETHER]), *self._filter[1])).fetchall():
            self.rows.load(rows)
        del self.missing[:TOGETHER]

    def _new_seqs(self, connection: Connection, last: int) -> Iterator[int]:
        """Yield the seqs of new rows, by reading all new rows if those are few, else by the place's index."""
        is_short = last - self._last <= max(len(self.rows), TOGETHER)
        source, after = (" NOT INDEXED", "e.seq") if is_short else ("", "+e.seq")
        query = select("e.seq", f"{self.corpus.table} e{source}", f"{self._filter[0]} AND {after} > ? AND {after} <= ?")
        yield from (row[0] for row in connection.execute(query, (*self._filter[1], self._last, last)))


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
        self._to_load: set[_Key] = set()
        self._loading: dict[_Key, asyncio.Task[None]] = {}
        self._turns = asyncio.Lock()
        self._model = ""
        self._dimensions = 0

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
                return _admitted(connection, read_filter, bounded(limit), rows.seqs.values[shared], scores[shared])
        return _matching(connection, EVENTS, terms, read_filter, bounded(limit))

    def found_nearest(
        self, connection: Connection, vector: Vector, read_filter: ReadFilter, limit: int
    ) -> Found[Event]:
        """Return events with their cosine, best first; [] for a vector of another length, or without a direction."""
        direction = np.array(vector, np.float64)
        length = float(np.linalg.norm(direction))
        if limit <= 0 or not self._model or not math.isfinite(length) or length <= 0:
            return []
        asked = (direction / length).astype(np.float32)
        self._dimensions = asked.size
        with self._rows(connection, self._key(EVENTS, read_filter)) as rows:
            if rows is not None and rows.dimensions in (0, asked.size):
                return _admitted(connection, read_filter, bounded(limit), *rows.cosines(asked))
        return _admitted(connection, read_filter, bounded(limit), *self._scanned(connection, read_filter, asked))

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

                return found_lines(search, rows, scored_lines(rows, search), read)
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

    def _scanned(self, connection: Connection, read_filter: ReadFilter, asked: Vectors) -> tuple[Array, Vectors]:
        """Return the seqs and cosines of all vectors of a place, read from the disk."""
        where, values = place_filter(read_filter)
        stands = "e.retired_at IS NULL AND +e.embedded_as = ? AND e.revision > 0"  # +: not by the index of all places
        query = select("e.seq, v.vector", _EMBEDDED, f"{where} AND {stands} AND length(v.vector) = ?")
        rows = connection.execute(query, (*values, *bound(self._model), asked.size * FLOAT_BYTES))
        parts: list[tuple[Array, Vectors]] = [(np.empty(0, np.int64), np.empty(0, np.float32))]
        while some := rows.fetchmany(max(SCANNED // (asked.size * FLOAT_BYTES), 1)):
            seqs = np.fromiter((row[0] for row in some), np.int64, len(some))
            parts.append((seqs, cosines(unit_vectors([row[1] for row in some], asked.size), asked)))
        return np.concatenate([seqs for seqs, _ in parts]), np.concatenate([found for _, found in parts])

    # places

    def _key(self, corpus: Corpus[Any, Any], read_filter: ReadFilter) -> _Key | None:
        """Return the key of the place that contains all that a filter admits; None for the lines of all places."""
        if corpus is MESSAGES:
            is_bounded = read_filter.scene.kind != "operator" or read_filter.group_id
            return (corpus, place_filter(read_filter), "") if is_bounded else None
        return corpus, place_filter(read_filter), self._model

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
        try:
            place.follow(connection)
        except BaseException:
            self._drop(key)  # its rows may be half changed
            raise
        with self._lock:
            before, place.counted = place.counted, place.rows.bytes + OVERHEAD
            if self._held.get(key) is place:  # otherwise it was dropped in the meantime
                self.bytes += place.counted - before
            while self.bytes > self.limit and self._held:
                self.bytes -= self._held.popitem(last=False)[1].counted
        if place.at_least > self.limit:
            self._drop(key)
            self._refused.add(key)
        elif place.missing:
            self._to_load.add(key)
        else:
            rows_read(connection, "places")[key] = place, place.changed_at

    def _drop(self, key: _Key) -> None:
        with self._lock:
            if held := self._held.pop(key, None):
                self.bytes -= held.counted

    def load(self) -> None:
        """Begin to load the places that were searched and are not in memory; call it on the event loop."""
        while self._to_load:
            key = self._to_load.pop()
            if key not in self._loading:
                self._loading[key] = asyncio.create_task(self._load(key))

    async def loaded(self) -> None:
        """Wait until the rows of all places searched so far are loaded."""
        await asyncio.gather(*self._loading.values())

    async def _load(self, key: _Key) -> None:
        """Load a place's rows in small steps, so that concurrent reads wait for few rows only."""

        def is_missing(connection: Connection) -> bool:
            with self._rows(connection, key) as rows:
                return rows is None and key not in self._refused

        try:
            async with self._turns:  # one place at a time: places that do not fit together would evict each other
                while await self._database.read(is_missing):
                    pass
        except UnavailableError:  # closed or unreadable: the next search reports it
            pass
        finally:
            self._to_load.discard(key)
            del self._loading[key]


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
        inside = np.isin(seqs, EVENTS.seqs_within(connection, read_filter)) if is_narrow else slice(None)
        return best(seqs[inside], scores[inside], most)

    return _found(connection, EVENTS, read_filter, limit, ranked)


def _found(
    connection: Connection, corpus: Corpus[T, Any], read_filter: ReadFilter, limit: int, ranked: Ranking
) -> Found[T]:
    scores = ranked(limit + SPARE, False)  # as a Ranking
    found = corpus.at(connection, read_filter, [*islice(scores, limit)])
    if len(found) < min(limit, len(scores)):
        found = corpus.at(connection, read_filter, [*scores])
    if len(found) < limit and len(scores) == limit + SPARE:  # too many of the best lie outside a narrow filter
        scores = ranked(limit, True)  # the same
        found = corpus.at(connection, read_filter, [*scores])
    return [(item, scores[seq]) for seq, item in islice(found.items(), limit)]


def _matching(
    connection: Connection, corpus: Corpus[T, Any], terms: Sequence[str], read_filter: ReadFilter, limit: int
) -> Found[T]:
    """Search with FTS5."""
    expression, words = match(terms, read_filter), corpus.words
    if expression is None:
        return []

    def ranked(most: int, is_narrow: bool) -> Mapping[int, float]:  # as a Ranking
        if not is_narrow:
            query = select("rowid, -rank", words, f"{words} MATCH ?", "ORDER BY rank LIMIT ?")
            return dict(connection.execute(query, (expression, most)))
        clause, values = corpus.filter_of(read_filter)
        source = f"{words} w CROSS JOIN {corpus.table} e ON e.seq = w.rowid"  # CROSS forces the word index first
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
    among = [at for at, line in enumerate(lines) if line.key in keys]
    scored = scored_lines(rows, search, np.array(among, np.int64))
    admits = search.read_filter.admits_line
    return found_lines(search, rows, scored, lambda some: {row: lines[row] for row in some if admits(lines[row])})


def row_of(seq: int, line: Message) -> Row:
    """Return a line as a row that :class:`LineRows` loads."""
    scene = line.scene
    who = line.is_bot, scene.user_id, scene.user_name
    about = micros(line.sent_at), scene.scope.key, scene.scope.kind, line.id, line.reply_to
    return seq, *about, *who, line.sent_at.isoformat(), line.text
