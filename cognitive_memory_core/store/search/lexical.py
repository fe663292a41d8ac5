"""Search by words: among a place's rows in memory if they fit, else with FTS5."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from sqlite3 import Connection
from typing import Any, TypeVar

import numpy as np

from ...domain.event import Event
from ...domain.message import Message
from ...domain.read_filter import NARROWED, ReadFilter
from ...errors import UnavailableError
from ..database.database import Database
from ..database.rows import bound, micros
from ..database.snapshots import catch_up
from ..database.statements import LISTED, bounded, listed, select
from .corpus import EVENTS, MESSAGES, Corpus, passages_around
from .lines import PARTS, FoundLine, FoundLines, LineKey, LineRows, LineSearch, ScoredLines, scored_lines
from .read_filter_sql import Filter
from .rows import EventRows, PlaceCache, Rows, best
from .words import latest_removal, match, removed_between

HELD_BYTES = 48 * 1024 * 1024  # a place of 100,000 lines of chat takes about 40 MB
TOGETHER = 500  # rows tokenised per step, some twenty milliseconds, as slices of vectors
TERM_BYTES = 8  # of a term of a row, and of its posting
SPARE = 8  # extra matches fetched beyond the limit before a narrow filter costs a second query
SHOWN = 2  # lines before and after a line that are returned with it
SCORED = 40  # lines whose scores are returned
T = TypeVar("T")
R = TypeVar("R", bound=Rows)
ScoredRows = list[tuple[T, float]]
Ranking = Callable[[int, bool], Mapping[int, float]]  # the best so many rows: of a place, or of those that are admitted
_Place = tuple[Corpus[Any, Any], Filter]


@dataclass(frozen=True)
class HeldRows:
    """The rows of a place in memory, complete up to the row ``last`` and the removal ``last_removal``.

    The ``missing`` rows are known but not loaded yet. Only the thread that uses the place changes its rows.
    """

    rows: Rows
    missing: tuple[int, ...] = ()
    last: int = 0
    last_removal: int = 0

    @property
    def bytes(self) -> int:
        """The size in bytes."""
        return self.rows.bytes

    @property
    def at_least(self) -> int:
        """A lower bound of the size in bytes when all rows are loaded: the distinct terms, limited in number, apart."""
        loaded = max(len(self.rows), 1)
        return max(self.bytes, TERM_BYTES * self.rows.terms.size * (loaded + len(self.missing)) // loaded)


class SqliteLexical:
    """Search by words. A place's rows are loaded at its first search; until they are complete, FTS5 is searched."""

    def __init__(self, database: Database, *, held_bytes: int = HELD_BYTES) -> None:
        """Search a database, holding the rows of places in at most ``held_bytes``."""
        self._database = database
        self._cache: PlaceCache[HeldRows] = PlaceCache(held_bytes)
        self._refused: set[_Place] = set()  # places that do not fit into memory
        self._to_load: set[_Place] = set()
        self._loading: dict[_Place, asyncio.Task[None]] = {}
        self._turns = asyncio.Lock()

    async def events(self, terms: Sequence[str], read_filter: ReadFilter, limit: int) -> ScoredRows[Event]:
        """Return at most ``limit`` events that contain one of ``terms`` or more, highest BM25 score first.

        ``read_filter`` bounds which events may be returned; empty without terms.
        """
        found = await self._database.read(self.found_events, terms, read_filter, limit)
        self.load()
        return found

    def load(self) -> None:
        """Begin to load the places that were searched and are not in memory; call it on the event loop."""
        while self._to_load:
            place = self._to_load.pop()
            if place not in self._loading:
                self._loading[place] = asyncio.create_task(self._load(place))

    def clear_caches(self) -> None:
        """Drop all rows: erased data must not stay in memory."""
        self._cache.clear()
        self._refused.clear()

    async def loaded(self) -> None:
        """Wait until the rows of all places searched so far are loaded."""
        await asyncio.gather(*self._loading.values())

    def found_events(
        self, connection: Connection, terms: Sequence[str], read_filter: ReadFilter, limit: int
    ) -> ScoredRows[Event]:
        """Do what :meth:`events` does, on a connection."""
        if limit <= 0 or not terms:
            return []
        place, limit = EVENTS.place_of(read_filter), bounded(limit)

        def among(rows: EventRows) -> ScoredRows[Event]:
            scores = rows.bm25(terms)
            shared = np.flatnonzero(scores)
            seqs, scores = rows.seqs.values[shared], scores[shared]

            def ranked(most: int, is_narrow: bool) -> Mapping[int, float]:  # as a Ranking
                inside = np.isin(seqs, EVENTS.seqs_within(connection, read_filter)) if is_narrow else slice(None)
                return best(seqs[inside], scores[inside], most)

            return _found(connection, EVENTS, read_filter, limit, ranked)

        found = self._among(connection, place and (EVENTS, place), among)
        return found if found is not None else _matching(connection, EVENTS, terms, read_filter, limit)

    def found_lines(self, connection: Connection, search: LineSearch) -> FoundLines:
        """Return lines that have one of the terms or more, or stand near such lines, best first."""
        if search.limit <= 0 or not search.terms:
            return FoundLines()
        within, wide = (
            MESSAGES.place_of(search.read_filter),
            replace(search.read_filter, user_id="", kinds=(), window=None),
        )
        place = within and (MESSAGES, within)

        def among(rows: LineRows) -> FoundLines:
            rows.hide(_hidden(connection, place))
            seqs = rows.seqs.values

            def read(some: Sequence[int]) -> Mapping[int, Message]:
                of_seq = dict(zip(seqs[some].tolist(), some, strict=True))
                return {of_seq[seq]: line for seq, line in MESSAGES.at(connection, wide, list(of_seq)).items()}

            scored = scored_lines(rows, search)
            return found_lines(search, rows, scored, read, partial(_replied, connection, wide))

        found = self._among(connection, place, among)
        return found if found is not None else _lines_matching(connection, search, wide)

    def _among(self, connection: Connection, place: _Place | None, work: Callable[[Any], T]) -> T | None:
        """Bring a place's rows up to date and search them; None if any is missing, which may be loaded then."""
        found: list[T] = []

        def renewed(old: HeldRows) -> HeldRows:
            try:
                held = _advanced(connection, place[0], place[1], old) if place else old
                if not held.missing:
                    found.append(work(held.rows))
            except BaseException:
                self._cache.drop(place)  # its rows may be half changed
                raise
            return held

        if place is None or place in self._refused:
            return None
        held = self._cache.fresh(place, lambda: HeldRows(place[0].rows()), renewed, partial(catch_up, connection))
        if self._cache.find(place) is None or (held.missing and not self._cache.fits(held.at_least)):
            self._cache.drop(place)  # it does not fit into memory
            self._refused.add(place)
        elif not found:
            self._to_load.add(place)
        return found[0] if found else None

    async def _load(self, place: _Place) -> None:
        """Load a place's rows in small steps, so that concurrent reads wait for few rows only."""
        try:
            async with self._turns:  # one place at a time: places that do not fit together would evict each other
                while not await self._database.read(self._among, place, lambda _: True):
                    if place in self._refused:
                        break
        except UnavailableError:  # closed or unreadable: the next search reports it
            pass
        finally:
            self._to_load.discard(place)
            del self._loading[place]


def _found(
    connection: Connection, corpus: Corpus[T, Any], read_filter: ReadFilter, limit: int, ranked: Ranking
) -> ScoredRows[T]:
    scores = ranked(limit + SPARE, False)  # as a Ranking
    seqs = list(scores)
    found = corpus.at(connection, read_filter, seqs[:limit])
    if len(found) < min(limit, len(seqs)):
        found = corpus.at(connection, read_filter, seqs)
    if len(found) < limit and len(scores) == limit + SPARE:  # too many of the best lie outside a narrow filter
        scores = ranked(limit, True)  # the same
        found = corpus.at(connection, read_filter, list(scores))
    return [(item, scores[seq]) for seq, item in found.items()][:limit]


def _matching(
    connection: Connection, corpus: Corpus[T, Any], terms: Sequence[str], read_filter: ReadFilter, limit: int
) -> ScoredRows[T]:
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


def _lines_matching(connection: Connection, search: LineSearch, wide: ReadFilter) -> FoundLines:
    """Search with FTS5, and score the lines found among those around them."""
    narrow, more = search.read_filter.narrowed(search.window, search.people), min(search.candidates, NARROWED)
    asked = [(search.read_filter, search.candidates), *((one, more) for one in narrow)]
    found = [line for one, most in asked for line, _ in _matching(connection, MESSAGES, search.terms, one, most)]
    keys, lines, rows = {(line.scene.scope, line.id) for line in found}, list[Message](), LineRows()
    for number, passage in enumerate(passages_around(connection, found, wide, search.reach)):
        rows.load([row_of(len(lines) + at, line) for at, line in enumerate(passage)], number)
        lines += passage
    among = [at for at, line in enumerate(lines) if (line.scene.scope, line.id) in keys]
    scored = scored_lines(rows, search, np.array(among, np.int64))
    replied = partial(_replied, connection, wide)
    return found_lines(search, rows, scored, lambda some: {row: lines[row] for row in some}, replied)


def row_of(seq: int, line: Message) -> tuple[Any, ...]:
    """Return a line as a row of :class:`LineRows`."""
    scene = line.scene
    who = line.is_bot, scene.user_id, scene.user_name
    about = micros(line.sent_at), scene.scope.key, scene.scope.kind, line.id, line.reply_to
    return seq, *about, *who, line.sent_at.isoformat(), line.text


def found_lines(
    search: LineSearch,
    rows: LineRows,
    scored: ScoredLines,
    read: Callable[[Sequence[int]], Mapping[int, Message]],
    replied: Callable[[Sequence[Message]], Mapping[LineKey, Message]],
) -> FoundLines:
    """Return the best lines, each with those beside it and the one it replies to, as far as the scene may read them."""
    best_rows = scored.rows[: search.limit]
    near = scored.talk.beside(best_rows, SHOWN)
    near = near if search.before else [(list[int](), after) for _, after in near]
    lines = read(sorted({*best_rows.tolist(), *(row for sides in near for side in sides for row in side)}))
    answered = replied([lines[row] for row in best_rows.tolist() if row in lines])
    factors = zip(*(one[: search.limit].tolist() for one in scored.factors.values()), strict=True)
    each = zip(best_rows.tolist(), scored.relevance.tolist(), factors, near, strict=False)
    found = tuple(
        FoundLine(
            line,
            relevance,
            tuple(zip(scored.factors, factors_of, strict=True)),
            tuple(lines[other] for other in before if other in lines),
            tuple(lines[other] for other in after if other in lines),
            answered.get((line.scene.scope, line.reply_to or "")),
            () if scored.parts is None else tuple(zip(PARTS, scored.parts[at].tolist(), strict=True)),
        )
        for at, (row, relevance, factors_of, (before, after)) in enumerate(each)
        if (line := lines.get(row)) and search.read_filter.admits_line(line)
    )
    keys = rows.ids.values[scored.rows[:SCORED]].tolist()
    return FoundLines(found, dict(zip(keys, scored.scores.tolist(), strict=False)))


def _replied(connection: Connection, wide: ReadFilter, lines: Sequence[Message]) -> Mapping[LineKey, Message]:
    """Return the lines to which some lines reply."""
    query = select("seq", "messages", "scope = ? AND id = ?")
    asked = (bound(line.scene.scope.key, line.reply_to) for line in lines if line.reply_to)
    seqs = [row[0] for place in asked for row in connection.execute(query, place)]
    found = MESSAGES.at(connection, wide, seqs).values() if seqs else ()
    return {(line.scene.scope, line.id): line for line in found}


def _hidden(connection: Connection, place: _Place | None) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the seqs of a place's lines that nobody may read at present."""
    clause, values = place[1] if place else ("TRUE", ())
    query = select("DISTINCT v.seq", "veils v CROSS JOIN messages e ON e.seq = v.seq", clause, "ORDER BY v.seq")
    return np.array([row[0] for row in connection.execute(query, values)], np.int64)


def _advanced(connection: Connection, corpus: Corpus[Any, Any], place: Filter, old: HeldRows) -> HeldRows:
    """Record new and removed rows, in an order in which none is missed, and load some of the missing rows."""
    held = _noted(connection, corpus, place, old)
    if not held.missing:
        return held
    columns = ", ".join(f"e.{name}" for name in held.rows.COLUMNS)
    query = select(columns, f"{corpus.table} e NOT INDEXED", f"e.seq IN {LISTED} AND {place[0]}")  # by seq
    rows = connection.execute(query, (listed(held.missing[:TOGETHER]), *place[1])).fetchall()
    if rows:
        held.rows.load(rows)
    return replace(held, missing=held.missing[TOGETHER:])


def _noted(connection: Connection, corpus: Corpus[Any, Any], place: Filter, old: HeldRows) -> HeldRows:
    last_removal = latest_removal(connection, corpus.words)
    gone = removed_between(connection, corpus.words, old.last_removal, last_removal)
    if gone is None:
        return _noted(connection, corpus, place, HeldRows(corpus.rows(), last_removal=last_removal))
    last = max(connection.execute(select("max(seq)", corpus.table, "TRUE")).fetchone()[0] or 0, old.last)
    if last == old.last and not gone:
        return old if last_removal == old.last_removal else replace(old, last_removal=last_removal)
    again = {*old.rows.remove(gone).tolist(), *gone.intersection(old.missing)} if gone else gone
    left = [seq for seq in old.missing if seq not in again]
    missing = (*left, *sorted(again), *_new_seqs(connection, corpus, place, old, last))
    return HeldRows(old.rows, missing, last, last_removal)


def _new_seqs(
    connection: Connection, corpus: Corpus[Any, Any], place: Filter, old: HeldRows, last: int
) -> Iterator[int]:
    """Yield the seqs of a place's new rows, by reading all new rows if those are few, else by the place's index."""
    is_short = last - old.last <= max(len(old.rows), TOGETHER)
    source = f"{corpus.table} e{' NOT INDEXED' if is_short else ''}"
    after = "e.seq" if is_short else "+e.seq"
    query = select("e.seq", source, f"{place[0]} AND {after} > ? AND {after} <= ?")
    yield from (row[0] for row in connection.execute(query, (*place[1], old.last, last)))
