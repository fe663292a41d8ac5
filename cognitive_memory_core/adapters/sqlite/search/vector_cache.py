"""The vectors of one place in memory: as they are, or, of a large place, rounded to a quarter of their size."""

from __future__ import annotations

import math
import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_STEPS = 127  # what a number is rounded to: so many steps on each side of 0
_TOGETHER = 256  # rounded rows that are multiplied at a time: as many as stay near the processor
_EPSILON = 2.0**-23  # of a number of 32 bits
_PAGED = 64 * 1024  # bytes from which on a column gets pages of its own
Matrix = NDArray[np.float32]
Seqs = NDArray[np.int64]
Cosines = NDArray[np.float32]
Columns = tuple[NDArray[Any], ...]  # the seqs first; one row is one vector


@dataclass(frozen=True)
class Changes:
    """What became different of a place's vectors: seqs to leave out from now on, and rows to take in."""

    revision: int
    touched: Seqs
    columns: Columns


@dataclass(frozen=True)
class Slice:
    """Rows of one place. What a slice shows never changes; a later slice may share its memory and go on behind.

    ``room`` holds ``size`` rows and space for more.
    """

    revision: int
    size: int
    room: Columns

    @classmethod
    def of(cls, columns: Columns) -> Slice:
        """Begin with the rows of such columns; none of their memory is shared."""
        return cls(0, 0, tuple(column[:0] for column in columns)).after(Changes(0, columns[0], columns))

    @property
    def columns(self) -> Columns:
        """The rows."""
        return tuple(column[: self.size] for column in self.room)

    @property
    def seqs(self) -> Seqs:
        """The events, row by row."""
        return self.room[0][: self.size]

    @property
    def bytes(self) -> int:
        """What it takes in memory."""
        return sum(column.nbytes for column in self.room)

    def after(self, changes: Changes) -> Slice:
        """Give the slice with changes in it; call it once for each slice, since the next one writes behind this one."""
        kept = _without(self, changes.touched)
        size = kept.size + len(changes.columns[0])
        kept = _with_room(kept, size)
        for column, added in zip(kept.room, changes.columns, strict=True):
            column[kept.size : size] = added
        return Slice(changes.revision, size, kept.room)


def whole(seqs: Seqs, matrix: Matrix) -> Columns:
    """Keep unit vectors as they are."""
    return seqs, matrix


def rounded(seqs: Seqs, matrix: Matrix) -> Columns:
    """Keep unit vectors in steps of their own size, with what that took away at most from any cosine."""
    largest = np.abs(matrix).max(axis=1, initial=0.0)
    steps = (np.where(largest > 0, largest, 1.0) / _STEPS).astype(np.float32)
    near = np.rint(matrix / steps[:, np.newaxis]).astype(np.int8)
    lost = np.linalg.norm(matrix - near * steps[:, np.newaxis], axis=1).astype(np.float32)
    return seqs, near, steps, lost


def cosines(matrix: Matrix, asked: Cosines) -> Cosines:
    """Multiply row by row: the threads of one big product wait for each other on a busy machine, up to 20 ms."""
    return np.matmul(matrix[:, np.newaxis, :], asked[:, np.newaxis])[:, 0, 0]


def bounds(held: Slice, asked: Cosines) -> tuple[Cosines, Cosines]:
    """Give for each rounded vector between which bounds its cosine lies, the errors of the arithmetic included.

    What rounding took away is a vector, too, and its product with a unit vector is at most its length (Cauchy-Schwarz).
    """
    near: NDArray[np.int8]
    steps: Cosines
    lost: Cosines
    _, near, steps, lost = held.columns
    about = np.empty(held.size, np.float32)
    numbers = np.empty((_TOGETHER, asked.size), np.float32)
    for start in range(0, held.size, _TOGETHER):
        some = near[start : start + _TOGETHER]
        np.copyto(numbers[: len(some)], some)
        about[start : start + len(some)] = cosines(numbers[: len(some)], asked)
    about *= steps
    margin = lost + np.float32(asked.size * _EPSILON)
    return about - margin, about + margin


def possible(low: Cosines, high: Cosines, limit: int) -> NDArray[np.intp]:
    """Name the rows of which the best ``limit`` are some: whoever cannot reach as many others is none of them."""
    if limit >= len(low):
        return np.arange(len(low))
    least = np.partition(low, len(low) - limit)[len(low) - limit]
    return np.flatnonzero(high >= least)


def joined(parts: Sequence[Columns]) -> Columns:
    """Put rows together, at least one part."""
    return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))


def _without(old: Slice, touched: Seqs) -> Slice:
    stays = ~np.isin(old.seqs, touched)
    if stays.all():
        return old
    size = int(stays.sum())
    room = tuple(_empty((size, *column.shape[1:]), column.dtype) for column in old.room)
    for column, before in zip(room, old.columns, strict=True):
        np.compress(stays, before, axis=0, out=column)
    return Slice(old.revision, size, room)


def _with_room(old: Slice, rows: int) -> Slice:
    if rows <= len(old.room[0]):
        return old
    rows += rows // 4 if old.size else 0
    room = tuple(_empty((rows, *column.shape[1:]), column.dtype) for column in old.room)
    for column, before in zip(room, old.columns, strict=True):
        column[: old.size] = before
    return Slice(old.revision, old.size, room)


def _empty(shape: tuple[int, ...], kind: np.dtype[Any]) -> NDArray[Any]:
    """Make room for numbers; much of it in pages of its own, which the system has back as soon as it is let go.

    What comes and goes between small things leaves holes in a heap that is then never given back.
    """
    size = math.prod(shape) * kind.itemsize
    if size < _PAGED:
        return np.empty(shape, kind)
    return np.ndarray(shape, kind, mmap.mmap(-1, size))
