"""The rows of one place in memory, in growing arrays: their terms, or the vectors of events.

Terms are 32-bit hashes; no text is kept here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from sqlite3 import Connection
from threading import Lock
from typing import Any, ClassVar, Literal, NamedTuple

from ...text.characters import cleared_on_erasure
from ...text.terms import SEARCHED, telling_of
from ..database.connections import kept
from ..database.rows import Row, always_kept, bound, listed, select
from ..database.words import TERM_BYTES, hashed
from ..numpy_on_use import Array, DTypeLike, Mask, NDArray, Scores, Vectors, np

READ = 32_768  # postings of a question that are read, a millisecond or two: else the commonest terms are left out
ALWAYS_READ = 8  # terms that are read, however common
SATURATION, LENGTH_SHARE = 1.2, 0.75  # k1 and b of BM25
COVERED = 0.75  # how a share of a question's terms saturates: half of them count as 0.7 of all
SORTED = 512  # scores that are sorted sooner than the highest of them are found
FLOAT_BYTES = 4
OVERHEAD = 1024  # bytes counted for every place, so that the number of empty places is bounded, too
TOGETHER = 10_000  # rows read at once
SCANNED = 4_096  # terms that are looked through as quickly as they are found in an index
COMPARED = 256 * 1024  # bytes of vectors compared at once; blocks of a megabyte would be new memory each time
KEPT = 1_000  # rows that the ledger lists as changed


class State(NamedTuple):
    """How far a snapshot of the ledger is: its last row change, revision, event and line. It never goes back."""

    changes: int = 0
    revision: int = 0
    events: int = 0
    messages: int = 0


_LAST = "coalesce(max(CAST(seq AS INTEGER)) FILTER (WHERE name = '{}'), 0)"
_STATE = select(", ".join(map(_LAST.format, ("row_changes", "events", "messages"))), "sqlite_sequence", "TRUE")


def state_of(connection: Connection) -> State:
    """Return the state of a snapshot."""
    found = kept(connection, "state")
    if not found:
        changes, *rows = connection.execute(_STATE).fetchone()
        found[0] = State(changes, int(always_kept(connection, "revision")), *rows)
    return found[0]


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


class Rows:
    """The rows of a place, each with its seq in the ledger; ``lock`` is held while they are read or changed.

    A place is an SQL condition over ``e``, with its values. Of its rows those that are ``STANDING`` are held, and of
    each ``STORED`` is read.
    """

    TABLE: ClassVar[Literal["events", "messages"]] = "events"
    SOURCE: ClassVar[str]
    STANDING: ClassVar[str]
    STORED: ClassVar[str] = "CAST(e.words AS BLOB)"
    together = TOGETHER

    def __init__(self, where: str = "FALSE", values: Sequence[Any] = ()) -> None:
        """Start without rows."""
        self._where, self._values = f"{where} AND {self.STANDING}", values
        self.lock = Lock()
        self.clear()

    def clear(self) -> None:
        """Drop all rows."""
        self.state = State()
        self.columns: list[Column] = []  # with a value for each row
        self.seqs = self.column(np.int64)

    def column(self, dtype: DTypeLike, *width: int) -> Column:
        """Add a column."""
        self.columns.append(Column(dtype, *width))
        return self.columns[-1]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.seqs.values)

    def load(self, rows: Sequence[Row]) -> None:
        """Append rows: seq and ``STORED``."""
        self.seqs.append([row[0] for row in rows])

    def keep(self, stays: Mask) -> None:
        """Remove all other rows."""
        for column in self.columns:
            column.keep(stays)

    @property
    def bytes(self) -> int:
        """How much memory the rows take."""
        return OVERHEAD + sum(column.room.nbytes for column in self.columns)

    def read(self, connection: Connection, among: Sequence[int] | None = None) -> Iterator[list[Row]]:
        """Yield the rows in the ledger, some at a time: all, or those of some seqs."""
        source, where, values = self.SOURCE, self._where, self._values
        if among is not None:
            source, where = f"json_each(?) j CROSS JOIN {source}", f"e.seq = j.value AND {where}"
            values = listed(among), *values
        found = connection.execute(select(f"e.seq, {self.STORED}", source, where), values)
        while some := found.fetchmany(self.together):
            yield some

    def follow(self, connection: Connection, state: State) -> None:
        """Bring the rows to the state of a newer snapshot."""
        known, table = self.state, self.TABLE
        before, last = getattr(known, table), getattr(state, table)
        changed: list[int] | None = None
        if known == State() or state.changes - known.changes > KEPT or last - before > max(len(self), KEPT):
            self.clear()
        else:
            asked = select("seq", table, "seq > ?"), select("seq", "row_changes", f"kind = '{table}' AND number > ?")
            revised = select("seq", "events", "revision > ?" if table == "events" else "FALSE AND ?")
            query = " UNION ".join((*asked, revised))
            changed = [row[0] for row in connection.execute(query, (before, known.changes, known.revision))]
            self.keep(~np.isin(self.seqs.values, changed))
        try:
            for some in self.read(connection, changed):
                self.load(some)
        except BaseException:
            self.clear()
            raise
        self.state = state


class WordRows(Rows):
    """Rows with their terms, and an index of these, which is made when a place of many terms is searched again.

    The terms of rows that came later are looked through, until there are many.
    """

    HEAD = 0  # bytes of a row's words before its terms

    def clear(self) -> None:
        """Drop all rows."""
        super().clear()
        self.terms = Column(np.uint32)  # of all rows, one row's behind the other's
        self.lengths = self.column(np.int32)  # numbers of terms
        self._unindex()

    def load(self, rows: Sequence[Row]) -> None:
        """Append rows."""
        super().load(rows)
        stored = [row[1][self.HEAD :] for row in rows]
        self.terms.append(np.frombuffer(b"".join(stored), np.uint32))
        self.lengths.append([len(terms) // TERM_BYTES for terms in stored])
        self.ends = np.cumsum(self.lengths.values, dtype=np.int64)

    def keep(self, stays: Mask) -> None:
        """Remove all other rows."""
        if not stays.all():
            self.terms.keep(np.repeat(stays, self.lengths.values))
            super().keep(stays)
            self._unindex()

    @property
    def bytes(self) -> int:
        """How much memory the rows take, with their terms and the index."""
        return super().bytes + sum(part.nbytes for part in (self.terms.room, self.ends, *self._index))

    def _unindex(self) -> None:
        self.ends = np.cumsum(self.lengths.values, dtype=np.int64)  # of each row's terms
        self._index: tuple[Array, Array, Array] = np.zeros(1, np.uint32), np.zeros(2, np.int64), np.empty(0, np.int32)
        self._indexed, self._is_asked = 0, False  # how many terms; whether they were searched

    def _make_index(self) -> None:
        """Sort all terms: the distinct ones, where the rows of each begin, and these rows."""
        rows = np.repeat(np.arange(len(self), dtype=np.uint64), self.lengths.values)
        pairs: Array = np.sort(self.terms.values.astype(np.uint64) << np.uint64(32) | rows)
        terms = (pairs >> np.uint64(32)).astype(np.uint32)
        starts = np.flatnonzero(np.diff(terms, prepend=terms[:1] + np.uint32(1)))
        self._index = terms[starts], np.append(starts, len(terms)), pairs.astype(np.int32)
        self._indexed = len(terms)

    def find(self, asked: Array, most: int | None = None) -> tuple[Array, Array, Array]:
        """Return the postings of the ``most`` rarest terms: index of the term, and row; and how many rows have a term.

        Of a place of very many rows the postings of the commonest terms are left out.
        """
        if len(self.terms.values) - self._indexed > max(SCANNED, self._indexed // 8):
            if self._is_asked:
                self._make_index()
            self._is_asked = True
        terms, starts, rows = self._index
        at = np.minimum(np.searchsorted(terms, asked), len(terms) - 1)
        begins = starts[at]
        counts = (starts[at + 1] - begins) * (terms[at] == asked)
        late_term, late_row = self.looked_through(asked)
        having = counts + np.bincount(late_term, minlength=len(asked)) if len(late_term) else counts
        read, numbers = np.arange(len(asked)), having.tolist()
        if sum(numbers) > READ or len(numbers) - numbers.count(0) > (most or len(asked)):
            rarest = sorted(filter(numbers.__getitem__, range(len(asked))), key=numbers.__getitem__)[:most]
            fitting = sum(number <= READ for number in accumulate(numbers[term] for term in rarest))
            read = np.sort(rarest[: max(fitting, ALWAYS_READ)])
            late = np.isin(late_term, read)
            late_term, late_row = late_term[late], late_row[late]
        # both parts are in the order of terms, so that equal rows have exactly equal sums
        lengths = counts[read]
        spans = zip(begins[read].tolist(), lengths.tolist(), strict=True)
        found = [rows[begin : begin + length] for begin, length in spans if length]
        return np.append(np.repeat(read, lengths), late_term), np.concatenate((*found, late_row)), having

    def looked_through(self, asked: Array) -> tuple[Array, Array]:
        """Return the postings of terms in the rows that are not in the index."""
        at, term = occurrences(self.terms.values[self._indexed :], asked)
        if not len(at):
            return term, at
        order = np.argsort(term.astype(np.uint16), kind="stable")
        return term[order], np.searchsorted(self.ends, at[order] + self._indexed, "right")

    def terms_of(self, rows: Array) -> tuple[Array, Array, Array]:
        """Return the terms of the given rows; for each the index in ``rows``, and its number among the row's terms."""
        ends, lengths = self.ends[rows], self.lengths.values[rows]
        owners = np.repeat(np.arange(len(rows)), lengths)
        within = np.arange(len(owners)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return self.terms.values[np.repeat(ends - lengths, lengths) + within], owners, within


class EventRows(WordRows):
    """The active events of a place."""

    SOURCE = "events e"
    STANDING = "e.retired_at IS NULL AND length(e.words) % 4 = 0"  # else the file is damaged

    def scores(self, terms: Sequence[str]) -> Array:
        """Return how well each row answers a question of distinct terms, in [0, 1]; 0 if it has none of them.

        That is the share of the terms that it has, saturating; a term weighs more the rarer it is in the place, and the
        more telling in the language. Half of it is scaled by BM25 relative to the best row, for the length of texts.
        """
        hashes, telling = asked_terms(tuple(terms))
        term, row, having = self.find(hashes, SEARCHED)
        rarity, count = rarity_of(having, len(self)), len(self)
        weight = rarity * telling
        whole = np.sort(weight)[-SEARCHED:].sum() or 1.0
        share: Array = np.minimum(np.bincount(row, weight[term], count) / whole, 1.0)
        lengths = self.lengths.values * (count / max(len(self.terms.values), 1))
        bm25 = np.bincount(row, rarity[term], count) / (1 + SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * lengths))
        return share * (1 + COVERED) / (share + COVERED) * (0.5 + 0.5 * bm25 / (np.max(bm25, initial=0.0) or 1.0))


class VectorRows(Rows):
    """The vectors of one model of the active events of a place, scaled to unit length."""

    SOURCE = "events e CROSS JOIN vectors v ON v.seq = e.seq"  # CROSS reads the events first
    STANDING = "e.retired_at IS NULL AND e.revision > 0 AND +e.embedded_as = ? AND length(v.vector) = ?"  # +: no index
    STORED = "v.vector"

    def __init__(self, where: str, values: Sequence[Any], model: str, dimensions: int) -> None:
        """Start without vectors."""
        self.dimensions = dimensions
        self.together = max(COMPARED // (dimensions * FLOAT_BYTES), 1)
        super().__init__(where, (*values, *bound(model), dimensions * FLOAT_BYTES))

    def clear(self) -> None:
        """Drop all vectors."""
        super().clear()
        self.vectors = self.column(np.float32, self.dimensions)

    def load(self, rows: Sequence[Row]) -> None:
        """Append vectors."""
        super().load(rows)
        self.vectors.append(unit_vectors([row[1] for row in rows], self.dimensions))


@cleared_on_erasure
@lru_cache(maxsize=64)  # events and lines are asked the same
def asked_terms(terms: tuple[str, ...]) -> tuple[Array, Scores]:
    """Return the hashes of a question's terms, and how telling each is in the language."""
    return np.fromiter(map(hashed, terms), np.uint32), np.fromiter(map(telling_of, terms), np.float64)


def occurrences(terms: Array, asked: Array) -> tuple[Array, Array]:
    """Return where the terms that are asked for stand among others, and the index of each."""
    if not len(terms):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    may_be = np.zeros(1 << 16, np.bool_)  # by the lower half of a hash, which leaves out nearly all others
    may_be[asked & 0xFFFF] = True
    at = np.flatnonzero(may_be[terms & 0xFFFF])
    order = np.argsort(asked)
    term = order[np.minimum(np.searchsorted(asked[order], terms[at]), len(asked) - 1)]
    is_hit = asked[term] == terms[at]
    return at[is_hit], term[is_hit]


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
    """Return the ``limit`` highest scores by the seq of their row, best first; of equal ones the newest row first."""
    if 0 < limit < len(seqs) and len(seqs) > SORTED:
        least = np.partition(scores, len(seqs) - limit)[len(seqs) - limit]
        among = np.flatnonzero(scores >= least)
        seqs, scores = seqs[among], scores[among]
    order = np.lexsort((-seqs, -scores))[:limit]
    return dict(zip(seqs[order].tolist(), scores[order].tolist(), strict=True))
