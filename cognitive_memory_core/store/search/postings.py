"""Postings of a place and BM25 over them: which rows contain a term, and how often.

All objects are immutable. Terms are stored as 64-bit hashes that differ between processes: no text is kept here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...text.lexical.terms import SEARCHED

SATURATION, LENGTH_SHARE = 1.2, 0.75  # k1 and b of BM25, with the values of FTS5
_READ = 32_768  # postings of a question, a millisecond or two: the commonest terms of a large place are left out
_ALWAYS_READ = 8  # terms that are read, however common
_FLOAT_BYTES = 8
_MOST_COUNTED = np.iinfo(np.uint8).max
Terms = NDArray[np.int64]
Seqs = NDArray[np.int64]
Rows = NDArray[np.int32]
Counts = NDArray[np.uint8]
Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Segment:
    """Postings of some rows: sorted ``terms``; the i-th one's are at ``starts[i]`` up to ``starts[i + 1]``."""

    terms: Terms
    starts: Rows
    rows: Rows
    counts: Counts

    @property
    def bytes(self) -> int:
        """The size in bytes."""
        return self.terms.nbytes + self.starts.nbytes + self.rows.nbytes + self.counts.nbytes

    def runs(self, asked: Terms) -> tuple[Rows, Rows]:
        """Return where the postings of each term begin and end; both are equal for a term that no row contains."""
        if not len(self.terms):
            return np.zeros(len(asked), np.int32), np.zeros(len(asked), np.int32)
        at = np.minimum(np.searchsorted(self.terms, asked), len(self.terms) - 1)
        begin, end = self.starts[at], self.starts[at + 1]
        return begin, np.where(self.terms[at] == asked, end, begin)

    def within(self, begin: Rows, end: Rows) -> tuple[Rows, Counts]:
        """Return rows and counts of the postings in these ranges, in order."""
        spans = [slice(*span) for span in zip(begin.tolist(), end.tolist(), strict=True)]
        rows, counts = [self.rows[span] for span in spans], [self.counts[span] for span in spans]
        return np.concatenate((self.rows[:0], *rows)), np.concatenate((self.counts[:0], *counts))

    def after(self, stays: NDArray[np.bool_], numbers: Rows) -> Segment:
        """Return the postings of the rows for which ``stays`` is true, under their new row ``numbers``."""
        kept = stays[self.rows]
        return _grouped(_spread(self)[kept], numbers[self.rows[kept]], self.counts[kept])


@dataclass(frozen=True)
class Postings:
    """The postings of a place's rows, identified by seq, with each row's number of terms."""

    seqs: Seqs = field(default_factory=lambda: np.empty(0, np.int64))
    lengths: Rows = field(default_factory=lambda: np.empty(0, np.int32))
    segments: tuple[Segment, ...] = ()

    @property
    def size(self) -> int:
        """The size in bytes of what grows with every row; the terms themselves, limited in number, are not counted."""
        return sum(segment.rows.nbytes + segment.counts.nbytes for segment in self.segments)

    @property
    def bytes(self) -> int:
        """The size in bytes."""
        lengths = self.lengths.nbytes + len(self.lengths) * _FLOAT_BYTES  # with what is derived from them
        return self.seqs.nbytes + lengths + sum(segment.bytes for segment in self.segments)

    def having(self, rows: Sequence[tuple[int, Sequence[str]]]) -> Postings:
        """Return the postings with new rows (seq and terms) added.

        The new rows form a segment, into which preceding segments that are not much larger are merged: adding rows one
        by one costs little, and the number of segments stays small.
        """
        if not rows:
            return self
        lengths = np.fromiter((len(terms) for _, terms in rows), np.int32, len(rows))
        numbers = np.arange(len(self.seqs), len(self.seqs) + len(rows), dtype=np.int32)
        terms = np.fromiter(map(hash, chain.from_iterable(terms for _, terms in rows)), np.int64, int(lengths.sum()))
        segments, new = list(self.segments), _counted(terms, np.repeat(numbers, lengths))
        while segments and len(segments[-1].rows) <= 2 * len(new.rows):
            new = _merged(segments.pop(), new)
        seqs = np.fromiter((seq for seq, _ in rows), np.int64, len(rows))
        return Postings(np.concatenate((self.seqs, seqs)), np.concatenate((self.lengths, lengths)), (*segments, new))

    def without(self, seqs: Iterable[int]) -> Postings:
        """Return the postings without these rows; rows that they do not contain are ignored."""
        stays = ~np.isin(self.seqs, np.fromiter(seqs, np.int64))
        if stays.all():
            return self
        numbers = (np.cumsum(stays) - 1).astype(np.int32)
        segments = (segment.after(stays, numbers) for segment in self.segments)
        left = tuple(segment for segment in segments if len(segment.rows))
        return replace(self, seqs=self.seqs[stays], lengths=self.lengths[stays], segments=left)

    def scores(self, terms: Iterable[str], most: int = SEARCHED) -> Scores:
        """Return each row's BM25 score for the terms; 0 if it has none of those that are searched.

        Searched are the ``most`` rarest terms that any row has; in a place of very many rows the commonest of these are
        left out, too. Statistics are per place, and every IDF is above 0.
        """
        asked = np.fromiter(map(hash, dict.fromkeys(terms)), np.int64)
        runs = [segment.runs(asked) for segment in self.segments]
        holding = sum((end - begin for begin, end in runs), np.zeros(len(asked)))
        rarest = _rarest(holding, most)
        holding, runs = holding[rarest], [(begin[rarest], end[rarest]) for begin, end in runs]
        rarity = np.log1p((len(self.seqs) - holding + 0.5) / (holding + 0.5))
        read, weights = [np.empty(0, np.int32)], [np.empty(0)]
        for segment, (begin, end) in zip(self.segments, runs, strict=True):
            rows, counts = segment.within(begin, end)
            gains = np.repeat(rarity, end - begin)
            gains *= counts
            gains *= SATURATION + 1
            gains /= counts + self._damping[rows]
            read.append(rows)
            weights.append(gains)
        scores = np.bincount(np.concatenate(read), np.concatenate(weights), len(self.seqs))
        return scores.astype(np.float64, copy=False)  # they are, with weights

    @cached_property
    def _damping(self) -> NDArray[np.floating[Any]]:
        """The count of a term that reaches half of its weight, for each row."""
        return SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * self.lengths / self._usual_length)

    @cached_property
    def _usual_length(self) -> float:
        return max(float(self.lengths.mean()), 1.0) if len(self.lengths) else 1.0


def _rarest(holding: NDArray[Any], most: int) -> NDArray[np.intp]:
    """Return the indexes of the rarest terms that any row has: at most ``most``, and few enough to be read quickly."""
    held = int(np.count_nonzero(holding))
    order = np.argsort(np.where(holding > 0, holding, np.inf), kind="stable")[: min(most, held)]
    quick = int(np.searchsorted(np.cumsum(holding[order]), _READ, side="right"))
    return np.sort(order[: max(quick, _ALWAYS_READ)])


def _counted(terms: Terms, rows: Rows) -> Segment:
    """Return the segment of new rows: how often each row contains each term. Rows must be in order."""
    order = np.argsort(terms, kind="stable")
    terms, rows = terms[order], rows[order]
    first = np.flatnonzero(_differs_from_previous(terms) | _differs_from_previous(rows))
    counts = np.diff(first, append=len(terms))
    return _grouped(terms[first], rows[first], np.minimum(counts, _MOST_COUNTED).astype(np.uint8))


def _merged(one: Segment, other: Segment) -> Segment:
    terms = np.concatenate((_spread(one), _spread(other)))
    order = np.argsort(terms, kind="stable")
    rows, counts = np.concatenate((one.rows, other.rows)), np.concatenate((one.counts, other.counts))
    return _grouped(terms[order], rows[order], counts[order])


def _grouped(terms: Terms, rows: Rows, counts: Counts) -> Segment:
    starts = np.flatnonzero(_differs_from_previous(terms))
    return Segment(terms[starts], np.append(starts, len(terms)).astype(np.int32), rows, counts)


def _spread(segment: Segment) -> Terms:
    return np.repeat(segment.terms, np.diff(segment.starts))


def _differs_from_previous(values: NDArray[np.int64] | NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which values differ from the preceding one; the first always does."""
    differs = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=differs[1:])
    return differs
