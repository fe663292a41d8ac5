"""The rows of one place in memory: which terms each has, when it was said, and by and about whom.

Terms are 32-bit hashes (:func:`~cognitive_memory_core.text.lexical.terms.hashed`); no text is kept here. Rows are
appended and never moved; a row that was forgotten, withdrawn or reworded is marked as gone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

READ = 32_768  # postings of a question that are read, a millisecond or two: else the commonest terms are left out
ALWAYS_READ = 8  # terms that are read, however common
Array = NDArray[Any]
Mask = NDArray[np.bool_]
Scores = NDArray[np.float64]


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
    def nbytes(self) -> int:
        """The size of the memory in bytes."""
        return self._room.nbytes

    def append(self, added: Array | Sequence[int]) -> None:
        """Append values."""
        size = self.size + len(added)
        if size > len(self._room):
            grown = np.empty(max(size, 2 * len(self._room)), self._room.dtype)
            grown[: self.size] = self.values
            self._room = grown
        self._room[self.size : size] = added
        self.size = size


class Lists:
    """A list of numbers for each row, one behind the other in one array."""

    def __init__(self, dtype: DTypeLike) -> None:
        """Start without rows."""
        self.flat = Column(dtype)
        self.ends = Column(np.int64)

    def append(self, lengths: Array, flat: Array | Sequence[int]) -> None:
        """Append one list for each length."""
        self.ends.append(self.flat.size + np.cumsum(lengths))
        self.flat.append(flat)

    def of(self, rows: Array) -> tuple[Array, Array, Array]:
        """Return the values of the given rows; for each value the index in ``rows``, and the index in its list."""
        ends = self.ends.values
        starts = np.where(rows > 0, ends[rows - 1], 0)
        lengths = ends[rows] - starts
        owners = np.repeat(np.arange(len(rows)), lengths)
        within = np.arange(len(owners)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return self.flat.values[np.repeat(starts, lengths) + within], owners, within

    def holding(self, values: Array) -> Mask:
        """Return which rows have one of the values in their list."""
        found = np.zeros(self.ends.size, np.bool_)
        at = np.flatnonzero(np.isin(self.flat.values, values))
        found[np.searchsorted(self.ends.values, at, "right")] = True
        return found


class Postings:
    """The rows that contain each term: sorted segments, a small one for new rows, merged by size."""

    def __init__(self) -> None:
        """Start empty."""
        self._segments: list[tuple[Array, Array]] = []

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return sum(terms.nbytes + rows.nbytes for terms, rows in self._segments)

    def add(self, terms: Array, rows: Array) -> None:
        """Add the terms of new rows, each once for a row."""
        while self._segments and len(self._segments[-1][0]) <= 2 * len(terms):
            older = self._segments.pop()
            terms, rows = np.concatenate((older[0], terms)), np.concatenate((older[1], rows))
        order = np.argsort(terms, kind="stable")
        self._segments.append((terms[order], rows[order]))

    def find(self, asked: Array) -> tuple[Array, Array, Array]:
        """Return the postings of the terms asked for: index of the term, and row; and how many rows have each term.

        Of a place of very many rows the postings of the commonest terms are left out.
        """
        spans = [(np.searchsorted(terms, asked), np.searchsorted(terms, asked, "right")) for terms, _ in self._segments]
        having = sum((end - begin for begin, end in spans), np.zeros(len(asked), np.int64))
        rarest = np.argsort(having, kind="stable")
        quick = int(np.searchsorted(np.cumsum(having[rarest]), READ, "right"))
        read = rarest[: max(quick, ALWAYS_READ)]
        terms_found: list[Array] = [np.empty(0, np.int64)]
        rows_found: list[Array] = [np.empty(0, np.int32)]
        for (begin, end), (_, rows) in zip(spans, self._segments, strict=True):
            lengths = (end - begin)[read]
            total = int(lengths.sum())
            if total:
                at = np.arange(total) + np.repeat(begin[read] - (np.cumsum(lengths) - lengths), lengths)
                terms_found.append(np.repeat(read, lengths))
                rows_found.append(rows[at])
        return np.concatenate(terms_found), np.concatenate(rows_found), having


@dataclass(frozen=True)
class LoadedRow:
    """A row as the ledger has it: seq, microseconds since 1970, packed terms, and the people by and about whom it is."""

    seq: int
    at_us: int
    terms: bytes
    people: Sequence[str]


class Rows:
    """The rows of a place."""

    def __init__(self) -> None:
        """Start without rows."""
        self.seqs = Column(np.int64)
        self.at_us = Column(np.int64)
        self.gone = Column(np.bool_)
        self.label_sizes = Column(np.int32)  # how many of a row's terms are of its label: speaker and day
        self.terms = Lists(np.uint32)
        self.people = Lists(np.int32)
        self.postings = Postings()
        self._codes: dict[str, int] = {}
        self._row_of: dict[int, int] = {}

    def __len__(self) -> int:
        """Return the number of rows, gone ones included."""
        return self.seqs.size

    @property
    def nbytes(self) -> int:
        """The size in bytes of what grows with the rows."""
        return self.terms.flat.nbytes + self.postings.nbytes + 64 * len(self)

    def append(self, rows: Sequence[LoadedRow]) -> None:
        """Append rows; one of a known seq takes the place of that row, which is gone."""
        if not rows:
            return
        self.remove(row.seq for row in rows)
        first = len(self)
        packed = [np.frombuffer(row.terms, np.uint32) for row in rows]
        labels = np.array([int(one[0]) if len(one) else 0 for one in packed], np.int32)
        lengths = np.array([max(len(one) - 1, 0) for one in packed])
        flat = np.concatenate([one[1:] for one in packed])
        codes = [[self._codes.setdefault(who, len(self._codes)) for who in row.people] for row in rows]
        self.seqs.append([row.seq for row in rows])
        self.at_us.append([row.at_us for row in rows])
        self.gone.append(np.zeros(len(rows), np.bool_))
        self.label_sizes.append(labels)
        self.terms.append(lengths, flat)
        self.people.append(np.array([len(one) for one in codes]), [code for one in codes for code in one])
        numbers = np.arange(first, first + len(rows), dtype=np.int32)
        pairs = np.unique(np.repeat(numbers.astype(np.int64), lengths) << 32 | flat)  # a term of label and text once
        self.postings.add((pairs & 0xFFFFFFFF).astype(np.uint32), (pairs >> 32).astype(np.int32))
        self._row_of.update((row.seq, first + number) for number, row in enumerate(rows))

    def remove(self, seqs: Iterable[int]) -> bool:
        """Mark rows as gone; return whether any of them was here."""
        known = [at for seq in seqs if (at := self._row_of.pop(seq, None)) is not None]
        if known:
            self.gone.values[known] = True
        return bool(known)

    def said_in(self, start_us: int, stop_us: int) -> Mask:
        """Return which rows were said in the half-open interval."""
        at_us = self.at_us.values
        return (at_us >= start_us) & (at_us < stop_us)

    def of_people(self, people: Iterable[str]) -> Mask:
        """Return which rows are by or about one of these people."""
        codes = [self._codes[who] for who in people if who in self._codes]
        return self.people.holding(np.array(codes, np.int32)) if codes else np.zeros(len(self), np.bool_)

    def code_of(self, person: str) -> int:
        """Return the number of a person among the rows' people; -1 for a stranger."""
        return self._codes.get(person, -1)


def ids(written: str) -> Sequence[str]:
    """Read a list of ids that is stored as JSON."""
    return () if written == "[]" else json.loads(written)
