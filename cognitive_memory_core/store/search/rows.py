"""The rows of one place in memory: which terms each has, and which rows have a term; and the cache of such places.

Terms are 32-bit hashes (:func:`hashed`); no text is kept here.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from threading import Lock
from typing import Any, ClassVar, Generic, Protocol, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ...text.caches import cleared_on_erasure
from ...text.terms import SEARCHED, index_terms, indexed_text
from ..database.rows import Row, moment_of

READ = 32_768  # postings of a question that are read, a millisecond or two: else the commonest terms are left out
ALWAYS_READ = 8  # terms that are read, however common
SATURATION, LENGTH_SHARE = 1.2, 0.75  # k1 and b of BM25, with the values of FTS5
Array = NDArray[Any]
Mask = NDArray[np.bool_]
Scores = NDArray[np.float64]


@cleared_on_erasure
@lru_cache(maxsize=8_192)  # the words of a place are asked for again and again
def hashed(term: str) -> int:
    """Return the 32-bit hash under which a term is indexed: the same in every process, and no text."""
    return crc32(term.encode("utf-8", "replace"))


class Column:
    """A numpy array to which values are appended; its memory doubles when it is full."""

    def __init__(self, dtype: DTypeLike) -> None:
        """Start empty."""
        self._room: Array = np.empty(64, dtype)
        self.size = 0

    @property
    def values(self) -> Array:
        """The values appended so far, without a copy."""
        return self._room[: self.size]

    @property
    def bytes(self) -> int:
        """The size of the memory in bytes."""
        return self._room.nbytes

    def append(self, added: Array | Sequence[int]) -> None:
        """Append values."""
        size = self.size + len(added)
        if size > len(self._room):
            grown = np.empty(max(size, len(self._room) * 3 // 2), self._room.dtype)
            grown[: self.size] = self.values
            self._room = grown
        self._room[self.size : size] = added
        self.size = size

    def keep(self, stays: Mask) -> None:
        """Remove all other values."""
        self._room = self.values[stays]
        self.size = len(self._room)


class Postings:
    """The rows that contain each term: sorted segments, a small one for new rows, merged by size."""

    def __init__(self) -> None:
        """Start empty."""
        self._segments: list[tuple[Array, Array, Array]] = []  # terms, where the rows of each begin, and the rows

    @property
    def bytes(self) -> int:
        """The size in bytes."""
        return sum(part.nbytes for segment in self._segments for part in segment)

    def add(self, terms: Array, rows: Array) -> None:
        """Add the terms of new rows, each once for a row."""
        while self._segments and len(self._segments[-1][2]) <= 2 * len(terms):
            older, starts, in_older = self._segments.pop()
            terms = np.concatenate((np.repeat(older, np.diff(starts)), terms))
            rows = np.concatenate((in_older, rows))
        order = np.argsort(terms, kind="stable")
        self._append(terms[order], rows[order])

    def keep(self, stays: Mask) -> None:
        """Remove all other rows; those that stay get new numbers."""
        numbers, segments = np.cumsum(stays) - 1, self._segments
        self._segments = []
        for terms, starts, rows in segments:
            kept = stays[rows]
            self._append(np.repeat(terms, np.diff(starts))[kept], numbers[rows[kept]])

    def _append(self, terms: Array, rows: Array) -> None:
        if len(terms):
            starts = np.flatnonzero(np.diff(terms, prepend=terms[:1] + np.uint32(1)))
            ends = np.append(starts, len(terms)).astype(np.int32)
            self._segments.append((terms[starts], ends, rows.astype(np.int32)))

    def find(self, asked: Array, most: int | None = None) -> tuple[Array, Array, Array]:
        """Return the postings of the ``most`` rarest terms: index of the term, and row; and how many rows have a term.

        Of a place of very many rows the postings of the commonest terms are left out.
        """
        spans: list[tuple[Array, Array]] = []
        for terms, starts, _ in self._segments:
            at = np.minimum(np.searchsorted(terms, asked), len(terms) - 1)
            spans.append((starts[at], np.where(terms[at] == asked, starts[at + 1], starts[at])))
        having = sum((end - begin for begin, end in spans), np.zeros(len(asked), np.int64))
        rarest = np.argsort(np.where(having > 0, having, np.iinfo(np.int64).max), kind="stable")
        rarest = rarest[: np.count_nonzero(having)][:most]
        read = rarest[: max(int(np.searchsorted(np.cumsum(having[rarest]), READ, "right")), ALWAYS_READ)]
        found: list[tuple[Array, Array]] = [(np.empty(0, np.int64), np.empty(0, np.int32))]
        for (begin, end), (_, _, rows) in zip(spans, self._segments, strict=True):
            lengths = (end - begin)[read]
            if total := int(lengths.sum()):
                at = np.arange(total) + np.repeat(begin[read] - (np.cumsum(lengths) - lengths), lengths)
                found.append((np.repeat(read, lengths), rows[at]))
        return np.concatenate([term for term, _ in found]), np.concatenate([row for _, row in found]), having


class Rows:
    """The rows of a place, each with its seq in the ledger."""

    COLUMNS: ClassVar[tuple[str, ...]]

    def load(self, rows: Sequence[Row]) -> None:
        """Append rows of :data:`COLUMNS`."""
        raise NotImplementedError

    def __init__(self) -> None:
        """Start without rows."""
        self.terms = Column(np.uint32)  # of all rows, one row's behind the other's
        self.postings = Postings()
        self._columns: list[Column] = []  # with a value for each row
        self.seqs = self.column(np.int64)
        self.lengths = self.column(np.int32)  # numbers of terms

    def column(self, dtype: DTypeLike) -> Column:
        """Add a column."""
        self._columns.append(Column(dtype))
        return self._columns[-1]

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.seqs.size

    @property
    def bytes(self) -> int:
        """The size in bytes."""
        return self.terms.bytes + self.postings.bytes + sum(column.bytes for column in self._columns)

    def add(self, seqs: Sequence[int], terms: Sequence[Sequence[int]]) -> None:
        """Append rows with their hashed terms."""
        lengths = np.array([len(one) for one in terms], np.int64)
        flat = np.fromiter(chain.from_iterable(terms), np.uint32, int(lengths.sum()))
        numbers = np.arange(len(self), len(self) + len(seqs))
        pairs = np.unique(np.repeat(numbers, lengths) << 32 | flat)  # a term of label and text counts once
        self.seqs.append(seqs)
        self.lengths.append(lengths)
        self.terms.append(flat)
        self.postings.add((pairs & 0xFFFFFFFF).astype(np.uint32), pairs >> 32)

    def remove(self, seqs: Collection[int]) -> Array:
        """Remove those of the rows that are here, and return their seqs."""
        stays = ~np.isin(self.seqs.values, list(seqs))
        removed = self.seqs.values[~stays]
        if len(removed):
            self.terms.keep(np.repeat(stays, self.lengths.values))
            self.postings.keep(stays)
            for column in self._columns:
                column.keep(stays)
        return removed

    def terms_of(self, rows: Array) -> tuple[Array, Array, Array]:
        """Return the terms of the given rows; for each the index in ``rows``, and its number among the row's terms."""
        ends, lengths = np.cumsum(self.lengths.values)[rows], self.lengths.values[rows]
        owners = np.repeat(np.arange(len(rows)), lengths)
        within = np.arange(len(owners)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return self.terms.values[np.repeat(ends - lengths, lengths) + within], owners, within


class EventRows(Rows):
    """The events of a place."""

    COLUMNS = ("seq", "sender_name", "happened_at", "text", "pain", "solution", "outcome")

    def load(self, rows: Sequence[Row]) -> None:
        """Append events."""
        terms: list[list[int]] = []
        for _, name, happened_at, *said in rows:
            try:
                text = indexed_text(name, moment_of(happened_at), "\n".join(said))
            except ValueError:  # the file is damaged; nobody can read the row
                text = ""
            terms.append([*{*map(hashed, index_terms(text))}])
        self.add([row[0] for row in rows], terms)

    def bm25(self, terms: Iterable[str]) -> Array:
        """Return each row's BM25 score for the rarest of the terms; 0 if it has none of them."""
        asked = np.fromiter(map(hashed, dict.fromkeys(terms)), np.uint32)
        term, row, having = self.postings.find(asked, SEARCHED)
        usual = max(self.terms.size / max(len(self), 1), 1.0)
        damping = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * self.lengths.values[row] / usual)
        gains = rarity_of(having, len(self))[term] * (SATURATION + 1) / (1 + damping)
        return np.bincount(row, gains, len(self))


def rarity_of(having: Array, rows: int) -> Scores:
    """Return the weight of terms that so many of the rows have, always above 0."""
    return np.log1p((rows - having + 0.5) / (having + 0.5))


SORTED = 512  # scores that are sorted sooner than the highest of them are found


def best(seqs: NDArray[np.int64], scores: NDArray[Any], limit: int) -> dict[int, float]:
    """Return the highest scores by seq, best first; equal scores are ordered newest first."""
    if 0 < limit < len(seqs) and len(seqs) > SORTED:
        least = np.partition(scores, len(seqs) - limit)[len(seqs) - limit]
        among = np.flatnonzero(scores >= least)
        seqs, scores = seqs[among], scores[among]
    order = np.lexsort((-seqs, -scores))[:limit]
    return dict(zip(seqs[order].tolist(), scores[order].tolist(), strict=True))


_OVERHEAD = 1024  # bytes counted for every place, so that the number of empty places is bounded, too


class Sized(Protocol):
    """An object of known size in memory."""

    @property
    def bytes(self) -> int:
        """Its size in bytes."""
        ...


S = TypeVar("S", bound=Sized)


class _CachedPlace(Generic[S]):
    """The cached content of one place, the lock that serialises its updates, its counted size, and its last change."""

    def __init__(self, content: S, changed_at: float) -> None:
        self.lock = Lock()
        self.content = content
        self.changed_at = changed_at
        self.counted = 0


class PlaceCache(Generic[S]):
    """Contents by key; the least recently used ones are evicted when the total exceeds ``limit`` bytes."""

    def __init__(self, limit: int) -> None:
        """Hold at most ``limit`` bytes between calls."""
        self.limit = limit
        self._held: OrderedDict[Hashable, _CachedPlace[S]] = OrderedDict()
        self._lock = Lock()
        self._bytes = 0
        self._cleared_at = 0.0

    @property
    def bytes(self) -> int:
        """The total size of the cached contents in bytes."""
        return self._bytes

    def fits(self, size: int) -> bool:
        """Return whether a place of this size fits into an otherwise empty cache."""
        return size + _OVERHEAD <= self.limit

    def find(self, key: Hashable) -> S | None:
        """Return the cached content as it is, or None; this does not count as a use."""
        with self._lock:
            held = self._held.get(key)
        return None if held is None else held.content

    def fresh(
        self,
        key: Hashable,
        empty: Callable[[], S],
        renewed: Callable[[S], S],
        catch_up: Callable[[float], None] | None = None,
    ) -> S:
        """Return the content of a key after ``renewed`` has updated it; ``empty`` makes the content of a new key.

        Thread-safe; updates of one key run one after the other. ``catch_up`` is called before each update with the
        instant (of time.monotonic) of the last change, so that ``renewed`` does not read a state older than that.
        """
        with self._lock:
            held = self._held.get(key) or self._held.setdefault(key, _CachedPlace(empty(), self._cleared_at))
            self._held.move_to_end(key)
        with held.lock:
            if catch_up is not None:
                catch_up(held.changed_at)
            fresh = renewed(held.content)
            if fresh is not held.content or not held.counted:
                held.content, held.changed_at = fresh, time.monotonic()
        self._count(key, held)
        return fresh

    def drop(self, key: Hashable) -> None:
        """Drop one place."""
        with self._lock:
            held = self._held.pop(key, None)
            self._bytes -= held.counted if held else 0

    def clear(self) -> None:
        """Drop everything; content that is being loaded is returned to its caller, but not cached."""
        with self._lock:
            self._held.clear()
            self._bytes = 0
            self._cleared_at = time.monotonic()

    def _count(self, key: Hashable, held: _CachedPlace[S]) -> None:
        with self._lock:
            size = held.content.bytes + _OVERHEAD  # of what it holds now: another thread may have updated it since
            if self._held.get(key) is held:  # otherwise it was dropped in the meantime
                self._bytes += size - held.counted
                held.counted = size
            while self._bytes > self.limit and self._held:
                _, oldest = self._held.popitem(last=False)
                self._bytes -= oldest.counted
