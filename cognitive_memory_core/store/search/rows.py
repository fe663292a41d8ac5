"""The rows of one place in memory, in growing arrays: which terms each has, which rows have a term, and vectors.

Terms are 32-bit hashes (:func:`hashed`); no text is kept here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any
from zlib import crc32

from ...text.characters import cleared_on_erasure
from ...text.terms import SEARCHED, index_terms, indexed_text
from ..database.rows import Row, moment_of
from ..numpy_on_use import Array, DTypeLike, Mask, NDArray, Scores, Vectors, np

READ = 32_768  # postings of a question that are read, a millisecond or two: else the commonest terms are left out
ALWAYS_READ = 8  # terms that are read, however common
SATURATION, LENGTH_SHARE = 1.2, 0.75  # k1 and b of BM25, with the values of FTS5
SORTED = 512  # scores that are sorted sooner than the highest of them are found
FLOAT_BYTES = 4


@cleared_on_erasure
@lru_cache(maxsize=8_192)  # the words of a place are asked for again and again
def hashed(term: str) -> int:
    """Return the 32-bit hash under which a term is indexed: the same in every process, and no text."""
    return crc32(term.encode("utf-8", "replace"))


class Column:
    """A numpy array to which values, or rows of ``width`` values, are appended; its memory grows by half."""

    def __init__(self, dtype: DTypeLike, *width: int) -> None:
        """Start empty."""
        self.room: Array = np.empty((64, *width), dtype)
        self.values = self.room[:0]

    def append(self, added: Array | Sequence[int]) -> None:
        """Append values."""
        before, size = len(self.values), len(self.values) + len(added)
        if size > len(self.room):
            grown = np.empty((max(size, len(self.room) * 3 // 2), *self.room.shape[1:]), self.room.dtype)
            grown[:before] = self.values
            self.room = grown
        self.room[before:size] = added
        self.values = self.room[:size]

    def keep(self, stays: Mask) -> None:
        """Remove all other values."""
        self.room = self.values = self.values[stays]


class Postings:
    """The rows that contain each term: sorted segments, a small one for new rows, merged by size."""

    def __init__(self) -> None:
        """Start empty."""
        self.segments: list[tuple[Array, Array, Array]] = []  # terms, where the rows of each begin, and the rows

    def add(self, terms: Array, rows: Array) -> None:
        """Add the terms of new rows, each once for a row."""
        while self.segments and len(self.segments[-1][2]) <= 2 * len(terms):
            older, starts, in_older = self.segments.pop()
            terms = np.concatenate((np.repeat(older, np.diff(starts)), terms))
            rows = np.concatenate((in_older, rows))
        order = np.argsort(terms, kind="stable")
        self._append(terms[order], rows[order])

    def keep(self, stays: Mask) -> None:
        """Remove all other rows; those that stay get new numbers."""
        numbers, segments = np.cumsum(stays) - 1, self.segments
        self.segments = []
        for terms, starts, rows in segments:
            kept = stays[rows]
            self._append(np.repeat(terms, np.diff(starts))[kept], numbers[rows[kept]])

    def _append(self, terms: Array, rows: Array) -> None:
        if len(terms):
            starts = np.flatnonzero(np.diff(terms, prepend=terms[:1] + np.uint32(1)))
            ends = np.append(starts, len(terms)).astype(np.int32)
            self.segments.append((terms[starts], ends, rows.astype(np.int32)))

    def find(self, asked: Array, most: int | None = None) -> tuple[Array, Array, Array]:
        """Return the postings of the ``most`` rarest terms: index of the term, and row; and how many rows have a term.

        Of a place of very many rows the postings of the commonest terms are left out.
        """
        spans: list[tuple[Array, Array]] = []
        for terms, starts, _ in self.segments:
            at = np.minimum(np.searchsorted(terms, asked), len(terms) - 1)
            spans.append((starts[at], np.where(terms[at] == asked, starts[at + 1], starts[at])))
        having = sum((end - begin for begin, end in spans), np.zeros(len(asked), np.int64))
        rarest = np.argsort(np.where(having > 0, having, np.iinfo(np.int64).max), kind="stable")
        rarest = rarest[: np.count_nonzero(having)][:most]
        read = rarest[: max(int(np.searchsorted(np.cumsum(having[rarest]), READ, "right")), ALWAYS_READ)]
        found: list[tuple[Array, Array]] = [(np.empty(0, np.int64), np.empty(0, np.int32))]
        for (begin, end), (_, _, rows) in zip(spans, self.segments, strict=True):
            lengths = (end - begin)[read]
            if total := int(lengths.sum()):
                at = np.arange(total) + np.repeat(begin[read] - (np.cumsum(lengths) - lengths), lengths)
                found.append((np.repeat(read, lengths), rows[at]))
        return np.concatenate([term for term, _ in found]), np.concatenate([row for _, row in found]), having


class Rows:
    """The rows of a place, each with its seq in the ledger."""

    def __init__(self) -> None:
        """Start without rows."""
        self.terms = Column(np.uint32)  # of all rows, one row's behind the other's
        self.postings = Postings()
        self._columns: list[Column] = []  # with a value for each row
        self.seqs = self.column(np.int64)
        self.lengths = self.column(np.int32)  # numbers of terms

    def column(self, dtype: DTypeLike, *width: int) -> Column:
        """Add a column, 0 for the rows that there are."""
        self._columns.append(Column(dtype, *width))
        self._columns[-1].append(np.zeros((len(self), *width), dtype))
        return self._columns[-1]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._columns[0].values)

    @property
    def bytes(self) -> int:
        """The size in bytes."""
        parts = [part for segment in self.postings.segments for part in segment]
        return sum(one.nbytes for one in (*parts, self.terms.room, *(column.room for column in self._columns)))

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
    """The events of a place, with the vectors of one model beside those that have one."""

    COLUMNS = ("sender_name", "happened_at", "text", "pain", "solution", "outcome")

    def __init__(self) -> None:
        """Start without events."""
        super().__init__()
        self.embedded = self.column(np.bool_)
        self._vectors: Column | None = None

    def load(self, rows: Sequence[Row]) -> None:
        """Append events: seq, vector or None, and :data:`COLUMNS`."""
        terms: list[list[int]] = []
        for _, _, name, happened_at, *said in rows:
            try:
                text = indexed_text(name, moment_of(happened_at), "\n".join(said))
            except ValueError:  # the file is damaged; nobody can read the row
                text = ""
            terms.append([*{*map(hashed, index_terms(text))}])
        self.add([row[0] for row in rows], terms)
        self.embed([row[:2] for row in rows])

    def add(self, seqs: Sequence[int], terms: Sequence[Sequence[int]]) -> None:
        """Append rows with their hashed terms and no vector."""
        super().add(seqs, terms)
        self.embedded.append(np.zeros(len(seqs), np.bool_))
        if self._vectors is not None:
            self._vectors.append(np.zeros((len(seqs), self.dimensions), np.float32))

    def embed(self, rows: Sequence[Row]) -> None:
        """Set the vectors of events by seq, None for one that has none; those of another length count as none."""
        here, order = self.seqs.values, np.argsort(self.seqs.values)
        seqs = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        at = order[np.minimum(np.searchsorted(here[order], seqs), len(here) - 1)] if len(here) else seqs[:0]
        known = [(row, vector) for row, seq, (_, vector) in zip(at, seqs, rows, strict=False) if here[row] == seq]
        self.embedded.values[[row for row, _ in known]] = False
        if self._vectors is None and (first := next((vector for _, vector in known if vector), None)):
            self._vectors = self.column(np.float32, len(first) // FLOAT_BYTES)
        fitting = [(row, vector) for row, vector in known if vector and len(vector) == self.dimensions * FLOAT_BYTES]
        if fitting and self._vectors:
            which = [row for row, _ in fitting]
            self._vectors.values[which] = unit_vectors([vector for _, vector in fitting], self.dimensions)
            self.embedded.values[which] = True

    @property
    def dimensions(self) -> int:
        """The length of the vectors, 0 without any."""
        return 0 if self._vectors is None else self._vectors.values.shape[1]

    def cosines(self, asked: Vectors) -> tuple[Array, Vectors]:
        """Return the seqs of the events that have a vector, and the cosine of each with a unit vector."""
        if self._vectors is None:
            return self.seqs.values[:0], np.empty(0, np.float32)
        embedded = np.flatnonzero(self.embedded.values)
        return self.seqs.values[embedded], cosines(self._vectors.values, asked)[embedded]

    def bm25(self, terms: Iterable[str]) -> Array:
        """Return each row's BM25 score for the rarest of the terms; 0 if it has none of them."""
        asked = np.fromiter(map(hashed, dict.fromkeys(terms)), np.uint32)
        term, row, having = self.postings.find(asked, SEARCHED)
        usual = max(len(self.terms.values) / max(len(self), 1), 1.0)
        damping = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * self.lengths.values[row] / usual)
        gains = rarity_of(having, len(self))[term] * (SATURATION + 1) / (1 + damping)
        return np.bincount(row, gains, len(self))


def rarity_of(having: Array, rows: int) -> Scores:
    """Return the weight of terms that so many of the rows have, always above 0."""
    return np.log1p((rows - having + 0.5) / (having + 0.5))


def unit_vectors(vectors: Sequence[bytes], dimensions: int) -> Vectors:
    """Return stored vectors as a matrix, scaled to unit length."""
    matrix = np.reshape(np.frombuffer(b"".join(vectors), np.float32), (len(vectors), dimensions))
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
    lengths[lengths == 0] = 1.0
    return matrix / lengths.astype(np.float32)[:, np.newaxis]


def cosines(matrix: Vectors, asked: Vectors) -> Vectors:
    """Return the cosine of each row.

    Rows are multiplied one by one, because the threads of one matrix product wait for each other on a busy machine.
    """
    return np.matmul(matrix[:, np.newaxis, :], asked[:, np.newaxis])[:, 0, 0]


def best(seqs: NDArray[np.int64], scores: NDArray[Any], limit: int) -> dict[int, float]:
    """Return the highest scores by seq, best first; equal scores are ordered newest first."""
    if 0 < limit < len(seqs) and len(seqs) > SORTED:
        least = np.partition(scores, len(seqs) - limit)[len(seqs) - limit]
        among = np.flatnonzero(scores >= least)
        seqs, scores = seqs[among], scores[among]
    order = np.lexsort((-seqs, -scores))[:limit]
    return dict(zip(seqs[order].tolist(), scores[order].tolist(), strict=True))
