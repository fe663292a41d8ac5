"""Cached postings of recently searched places, updated incrementally from the ledger."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import partial
from sqlite3 import Connection
from typing import Any

import numpy as np

from ..database.snapshots import catch_up
from ..database.statements import LISTED, listed, select
from . import removed_rows
from .corpus import Corpus
from .place_cache import PlaceCache
from .postings import Postings, Seqs
from .read_filter_sql import Filter

HELD_BYTES = 48 * 1024 * 1024  # a place of 100,000 lines of chat takes about 35 MB
TOGETHER = 250  # rows tokenised per step, about ten milliseconds
AGAIN = 64  # searches after which a refused place is tried again, if rows left the index in the meantime
_MOST_REFUSED = 1024
_NONE: Seqs = np.empty(0, np.int64)


@dataclass(frozen=True)
class PlacePostings:
    """The postings of a place, complete up to the row ``last`` and the removal ``last_removal``.

    The ``missing`` rows are known but not loaded yet.
    """

    postings: Postings = field(default_factory=Postings)
    missing: Seqs = field(default_factory=lambda: _NONE)
    last: int = 0
    last_removal: int = 0

    @property
    def bytes(self) -> int:
        """The size in bytes."""
        return self.postings.bytes + self.missing.nbytes

    @property
    def at_least(self) -> int:
        """A lower bound of the size in bytes that the postings will have when all rows are loaded."""
        rows = len(self.postings.seqs)
        expected = self.postings.size * (rows + len(self.missing)) // rows if rows else 0
        return max(self.bytes, expected)


@dataclass(frozen=True)
class _Refusal:
    """A place that did not fit into memory: the last removal at that time, and how often it was searched since."""

    last_removal: int
    asks: int = 0


class PostingsCache:
    """Caches postings by corpus and place; a place that does not fit into memory is not cached."""

    def __init__(self, limit: int = HELD_BYTES) -> None:
        """Hold at most ``limit`` bytes between calls."""
        self._cache: PlaceCache[PlacePostings] = PlaceCache(limit)
        self._refused: dict[Hashable, _Refusal] = {}

    @property
    def bytes(self) -> int:
        """The total size of the cached postings in bytes."""
        return self._cache.bytes

    def clear_caches(self) -> None:
        """Drop all cached postings: erased data must not stay in memory."""
        self._cache.clear()
        self._refused.clear()

    def advance(self, connection: Connection, corpus: Corpus[Any], place: Filter) -> PlacePostings | None:
        """Load some more rows of a place and return its postings; None if the place does not fit into memory."""
        key = (corpus.table, place)
        if key in self._refused and self._is_refused(key, removed_rows.latest(connection, corpus.words)):
            return None
        advanced, catching_up = partial(_advanced, connection, corpus, place), partial(catch_up, connection)
        words = self._cache.fresh(key, PlacePostings, advanced, catching_up)
        if self._cache.fits(words.at_least):
            return words
        self._cache.drop(key)
        while len(self._refused) >= _MOST_REFUSED:
            self._refused.pop(next(iter(self._refused)), None)
        self._refused[key] = _Refusal(words.last_removal)
        return None

    def _is_refused(self, key: Hashable, last_removal: int) -> bool:
        """Return whether a place still counts as too large.

        It is tried again after some searches, if rows were removed in the meantime.
        """
        refusal = self._refused.pop(key, None)
        if refusal is None or (refusal.asks >= AGAIN and refusal.last_removal != last_removal):
            return False
        self._refused[key] = replace(refusal, asks=refusal.asks + 1)
        return True


def _advanced(connection: Connection, corpus: Corpus[Any], place: Filter, old: PlacePostings) -> PlacePostings:
    """Record new and removed rows, in an order in which none is missed, and load some of the missing rows."""
    current = _noted(connection, corpus, place, old)
    if not len(current.missing):
        return current
    now, later = current.missing[:TOGETHER], current.missing[TOGETHER:]
    columns = ", ".join(f"e.{name}" for name in ("seq", *corpus.words_from))
    query = select(columns, f"{corpus.table} e NOT INDEXED", f"e.seq IN {LISTED} AND {place[0]}")  # by seq
    rows = connection.execute(query, (listed(now.tolist()), *place[1]))
    postings = current.postings.having([(row[0], corpus.terms_of(row[1:])) for row in rows])
    return replace(current, postings=postings, missing=later)


def _noted(connection: Connection, corpus: Corpus[Any], place: Filter, old: PlacePostings) -> PlacePostings:
    last_removal = removed_rows.latest(connection, corpus.words)
    gone = removed_rows.between(connection, corpus.words, old.last_removal, last_removal)
    if gone is None:
        return _noted(connection, corpus, place, replace(PlacePostings(), last_removal=last_removal))
    last = _last(connection, corpus)
    if last <= old.last and not gone:
        return replace(old, last_removal=last_removal) if last_removal != old.last_removal else old
    new = np.fromiter(_new_seqs(connection, corpus, place, old, last), np.int64)
    if not gone:
        return replace(
            old, missing=np.concatenate((old.missing, new)), last=max(last, old.last), last_removal=last_removal
        )
    again = np.intersect1d(np.fromiter(gone, np.int64), np.concatenate((old.postings.seqs, old.missing)))
    missing = np.concatenate((np.setdiff1d(old.missing, again), again, new))
    return PlacePostings(old.postings.without(again), missing, max(last, old.last), last_removal)


def _last(connection: Connection, corpus: Corpus[Any]) -> int:
    return connection.execute(select("max(seq)", corpus.table, "TRUE")).fetchone()[0] or 0


def _new_seqs(connection: Connection, corpus: Corpus[Any], place: Filter, old: PlacePostings, last: int) -> list[int]:
    """Return the seqs of a place's new rows, by reading all new rows if those are few, else by the place's index."""
    is_short = last - old.last <= max(len(old.postings.seqs), TOGETHER)
    source = f"{corpus.table} e{' NOT INDEXED' if is_short else ''}"
    after = "e.seq" if is_short else "+e.seq"
    query = select("e.seq", source, f"{place[0]} AND {after} > ? AND {after} <= ?")
    return [row[0] for row in connection.execute(query, (*place[1], old.last, last))]
