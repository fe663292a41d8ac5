"""Search by words: with a place's postings in memory if they fit, else with FTS5."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ...domain.event import Event
from ...domain.message import Message, Passage
from ...domain.read_filter import ReadFilter
from ...errors import UnavailableError
from ...ports.words import LineSearch
from ..database.database import Database
from ..database.statements import bounded, select
from .corpus import EVENTS, MESSAGES, Corpus
from .passages import passages_around
from .postings import Postings
from .postings_cache import HELD_BYTES, PostingsCache
from .read_filter_sql import Filter
from .top_rows import best
from .words import match

SPARE = 8  # extra matches fetched beyond the limit before a narrow filter costs a second query
T = TypeVar("T")
ScoredRows = list[tuple[T, float]]
_Place = tuple[Corpus[Any], Filter]


class SqliteLexical:
    """BM25 search. A place's postings are loaded at its first search; until they are complete, FTS5 is searched."""

    def __init__(self, database: Database, *, held_bytes: int = HELD_BYTES) -> None:
        """Search a database, caching postings of places in at most ``held_bytes``."""
        self._database = database
        self._postings_cache = PostingsCache(held_bytes)
        self._loading: dict[_Place, asyncio.Task[None]] = {}
        self._turns = asyncio.Lock()

    async def events(self, terms: Sequence[str], read_filter: ReadFilter, limit: int) -> ScoredRows[Event]:
        """Return at most ``limit`` events that contain one of ``terms`` or more, highest BM25 score first.

        ``read_filter`` bounds which events may be returned; empty without terms.
        """
        return await self._search(EVENTS, terms, read_filter, bounded(limit))

    async def messages(self, terms: Sequence[str], read_filter: ReadFilter, limit: int) -> ScoredRows[Message]:
        """Return at most ``limit`` messages that contain one of ``terms`` or more, highest BM25 score first.

        ``read_filter`` bounds which messages may be returned; empty without terms.
        """
        return await self._search(MESSAGES, terms, read_filter, bounded(limit))

    async def passages(self, searches: Sequence[LineSearch], read_filter: ReadFilter, reach: int) -> list[Passage]:
        """Return the lines around the messages that the searches find, all read in one request."""
        asked = [_LexicalSearch(MESSAGES, tuple(one.terms), one.read_filter, bounded(one.limit)) for one in searches]
        found, loading = await self._database.read(_passages, self._postings_cache, asked, read_filter, bounded(reach))
        for search in loading:
            self._begin_loading(search)
        return found

    def clear_caches(self) -> None:
        """Drop all cached postings: erased data must not stay in memory."""
        self._postings_cache.clear_caches()

    async def loaded(self) -> None:
        """Wait until the postings of all places searched so far are loaded."""
        await asyncio.gather(*self._loading.values())

    async def _search(
        self, corpus: Corpus[T], terms: Sequence[str], read_filter: ReadFilter, limit: int
    ) -> ScoredRows[T]:
        if not limit:
            return []
        search = _LexicalSearch(corpus, tuple(terms), read_filter, limit)
        found, is_loading = await self._database.read(_searched, self._postings_cache, search)
        if is_loading:
            self._begin_loading(search)
        return found

    def _begin_loading(self, search: _LexicalSearch[Any]) -> None:
        corpus, place = search.corpus, search.corpus.place_of(search.read_filter)
        if place and (corpus, place) not in self._loading:
            self._loading[corpus, place] = asyncio.create_task(self._load(corpus, place))

    async def _load(self, corpus: Corpus[Any], place: Filter) -> None:
        """Load a place's postings in small batches, so that concurrent reads wait for few rows only."""
        is_loading = True
        try:
            async with self._turns:  # one place at a time: places that do not fit together would evict each other
                while is_loading:
                    is_loading = await self._database.read(_is_loading, self._postings_cache, corpus, place)
        except UnavailableError:  # closed or unreadable: the next search reports it
            pass
        finally:
            del self._loading[corpus, place]


@dataclass(frozen=True)
class _LexicalSearch(Generic[T]):
    """One search by words: corpus, terms, read filter and limit."""

    corpus: Corpus[T]
    terms: Sequence[str]
    read_filter: ReadFilter
    limit: int


class _Ranking(Protocol):
    """The scores of the rows of a place for a query, as a dictionary by row number."""

    def best(self, limit: int) -> dict[int, float]:
        """Return the best rows of the place; the read filter may admit only some of them."""
        ...

    def best_within(self, limit: int) -> dict[int, float]:
        """Return the best rows that the read filter admits; slower than :meth:`best`."""
        ...


class _PostingsRanking:
    """The ranking by a place's own postings."""

    def __init__(self, connection: Connection, search: _LexicalSearch[Any], postings: Postings) -> None:
        self._connection, self._request = connection, search
        scores = postings.scores(search.terms)
        shared = np.flatnonzero(scores != 0)  # several times faster than of numbers
        self._seqs, self._scores = postings.seqs[shared], scores[shared]

    def best(self, limit: int) -> dict[int, float]:
        return best(self._seqs, self._scores, limit)

    def best_within(self, limit: int) -> dict[int, float]:
        inside = np.isin(self._seqs, self._request.corpus.seqs_within(self._connection, self._request.read_filter))
        return best(self._seqs[inside], self._scores[inside], limit)


class _FtsRanking:
    """The ranking by FTS5, used while a place's postings are not loaded."""

    def __init__(self, connection: Connection, search: _LexicalSearch[Any], expression: str) -> None:
        self._connection, self._request, self._expression = connection, search, expression

    def best(self, limit: int) -> dict[int, float]:
        words = self._request.corpus.words
        query = select("rowid, -rank", words, f"{words} MATCH ?", "ORDER BY rank LIMIT ?")
        return dict(self._connection.execute(query, (self._expression, limit)))

    def best_within(self, limit: int) -> dict[int, float]:
        corpus = self._request.corpus
        clause, values = corpus.filter_of(self._request.read_filter)
        source = f"{corpus.words} w CROSS JOIN {corpus.table} e ON e.seq = w.rowid"  # CROSS forces the word index first
        where = f"{corpus.words} MATCH ? AND {clause}"
        query = select("w.rowid, -w.rank", source, where, "ORDER BY w.rank LIMIT ?")
        return dict(self._connection.execute(query, (self._expression, *values, limit)))


def _searched(
    connection: Connection, postings_cache: PostingsCache, search: _LexicalSearch[T]
) -> tuple[ScoredRows[T], bool]:
    """Return the rows found, and whether the postings of their place are still to be loaded."""
    place = search.corpus.place_of(search.read_filter)
    words = postings_cache.advance(connection, search.corpus, place) if place else None
    if words is not None and not len(words.missing):
        return _found(connection, search, _PostingsRanking(connection, search, words.postings)), False
    expression = match(search.terms, search.read_filter)
    if expression is None:
        return [], words is not None
    return _found(connection, search, _FtsRanking(connection, search, expression)), words is not None


def _passages(
    connection: Connection,
    postings_cache: PostingsCache,
    asked: Sequence[_LexicalSearch[Message]],
    read_filter: ReadFilter,
    reach: int,
) -> tuple[list[Passage], list[_LexicalSearch[Message]]]:
    """Return the passages found, and the searches whose places' postings are still to be loaded."""
    answers = [(search, *_searched(connection, postings_cache, search)) for search in asked if search.limit]
    messages = [message for _, rows, _ in answers for message, _ in rows]
    loading = [search for search, _, is_loading in answers if is_loading]
    return passages_around(connection, messages, read_filter, reach), loading


def _found(connection: Connection, search: _LexicalSearch[T], ranking: _Ranking) -> ScoredRows[T]:
    limit, at = search.limit, search.corpus.at
    ranked = ranking.best(limit + SPARE)
    seqs = list(ranked)
    found = at(connection, search.read_filter, seqs[:limit])
    if len(found) < min(limit, len(seqs)):
        found = at(connection, search.read_filter, seqs)
    if len(found) < limit and len(ranked) == limit + SPARE:  # too many of the best lie outside a narrow filter
        ranked = ranking.best_within(limit)
        found = at(connection, search.read_filter, list(ranked))
    return [(item, ranked[seq]) for seq, item in found.items()][:limit]


def _is_loading(connection: Connection, postings_cache: PostingsCache, corpus: Corpus[Any], place: Filter) -> bool:
    words = postings_cache.advance(connection, corpus, place)
    return words is not None and len(words.missing) > 0
