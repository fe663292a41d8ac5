"""The vectors of one place in memory: exact or, for a large place, rounded to a quarter of their size."""

from __future__ import annotations

import math
import mmap
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

_STEPS = 127  # rounding steps on each side of 0
_TOGETHER = 256  # rounded rows multiplied per block, chosen to fit the CPU cache
_EPSILON = 2.0**-23  # machine epsilon of 32-bit floats
_PAGED = 64 * 1024  # bytes from which a column gets its own memory mapping
Matrix = NDArray[np.float32]
Seqs = NDArray[np.int64]
Cosines = NDArray[np.float32]
Columns = tuple[NDArray[Any], ...]  # seqs first; one row per vector
Position = tuple[int, int]  # revision and seq: the order of changes
LAST_SEQ = 2**63 - 1
BEGINNING: Position = (0, LAST_SEQ)  # events without any change have revision 0


@dataclass(frozen=True)
class Changes:
    """A batch of changes to a place's vectors: the seqs to remove (``touched``), and the rows to add.

    ``is_last``: there are no later changes.
    """

    until: Position
    touched: Seqs
    columns: Columns
    is_last: bool = True


@dataclass(frozen=True)
class Slice:
    """Rows of one place, as changed up to the position ``until``. Immutable; a later slice may share its memory.

    ``room`` holds ``size`` rows and free space, into which a later slice writes. Until the slice ``is_whole``, rows
    that changed after ``until`` are missing.
    """

    until: Position
    size: int
    room: Columns
    is_whole: bool = False

    @classmethod
    def of(cls, columns: Columns) -> Slice:
        """Create a slice from columns; their memory is copied."""
        return cls(BEGINNING, 0, tuple(column[:0] for column in columns)).after(Changes(BEGINNING, columns[0], columns))

    @classmethod
    def empty(cls, form: Columns, rows: int) -> Slice:
        """Create a slice without rows, with room for ``rows`` of them in columns like those of ``form``."""
        return cls(BEGINNING, 0, tuple(_empty((rows, *column.shape[1:]), column.dtype) for column in form))

    @property
    def columns(self) -> Columns:
        """The rows in use."""
        return tuple(column[: self.size] for column in self.room)

    @property
    def seqs(self) -> Seqs:
        """The seqs of the events, row by row."""
        return self.room[0][: self.size]

    @property
    def bytes(self) -> int:
        """The size in bytes."""
        return sum(column.nbytes for column in self.room)

    def after(self, changes: Changes) -> Slice:
        """Return the slice with changes applied; call it once per slice, because the result appends to its memory."""
        kept = _without(self, changes.touched)
        size = kept.size + len(changes.columns[0])
        kept = _with_room(kept, size)
        for column, added in zip(kept.room, changes.columns, strict=True):
            column[kept.size : size] = added
        return Slice(changes.until, size, kept.room, changes.is_last)


def whole(seqs: Seqs, matrix: Matrix) -> Columns:
    """Return the columns of exact vectors: the unit vectors as they are."""
    return seqs, matrix


def rounded(seqs: Seqs, matrix: Matrix) -> Columns:
    """Round unit vectors to 8-bit steps, scaled per vector; the last column is the largest error of any cosine."""
    largest = np.abs(matrix).max(axis=1, initial=0.0)
    steps = (np.where(largest > 0, largest, 1.0) / _STEPS).astype(np.float32)
    near = np.rint(matrix / steps[:, np.newaxis]).astype(np.int8)
    lost = np.linalg.norm(matrix - near * steps[:, np.newaxis], axis=1).astype(np.float32)
    return seqs, near, steps, lost


def cosines(matrix: Matrix, asked: Cosines) -> Cosines:
    """Return the cosine of each row.

    Rows are multiplied one by one, because the threads of one matrix product wait for each other on a busy machine.
    """
    return np.matmul(matrix[:, np.newaxis, :], asked[:, np.newaxis])[:, 0, 0]


def bounds(held: Slice, asked: Cosines) -> tuple[Cosines, Cosines]:
    """Return lower and upper bounds of the cosine of each rounded vector, arithmetic errors included.

    The rounding error is a vector, and its product with a unit vector is at most its length (Cauchy-Schwarz).
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
    """Return the rows that may be among the best ``limit``: their upper bound reaches the limit-th lower bound."""
    if limit >= len(low):
        return np.arange(len(low))
    least = np.partition(low, len(low) - limit)[len(low) - limit]
    return np.flatnonzero(high >= least)


def _without(old: Slice, touched: Seqs) -> Slice:
    stays = ~np.isin(old.seqs, touched)
    if stays.all():
        return old
    size = int(stays.sum())
    room = tuple(_empty((size, *column.shape[1:]), column.dtype) for column in old.room)
    for column, before in zip(room, old.columns, strict=True):
        np.compress(stays, before, axis=0, out=column)
    return replace(old, size=size, room=room)


def _with_room(old: Slice, rows: int) -> Slice:
    if rows <= len(old.room[0]):
        return old
    rows += rows // 4 if old.size else 0
    room = tuple(_empty((rows, *column.shape[1:]), column.dtype) for column in old.room)
    for column, before in zip(room, old.columns, strict=True):
        column[: old.size] = before
    return replace(old, room=room)


def _empty(shape: tuple[int, ...], kind: np.dtype[Any]) -> NDArray[Any]:
    """Allocate an array; a large one gets its own memory mapping, which returns to the system when it is freed.

    Large arrays allocated among small objects would fragment the heap, which is then never returned.
    """
    size = math.prod(shape) * kind.itemsize
    if size < _PAGED:
        return np.empty(shape, kind)
    return np.ndarray(shape, kind, mmap.mmap(-1, size))
