"""The vectors of recently asked places, in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

_OVERHEAD = 1024  # bytes that even an empty place counts for, so that their number is bounded, too
Matrix = NDArray[np.float32]
Seqs = NDArray[np.int64]


@dataclass(frozen=True)
class Changes:
    """What became different of a place's vectors: seqs to leave out from now on, and rows to take in."""

    revision: int
    touched: Seqs
    seqs: Seqs
    matrix: Matrix


@dataclass(frozen=True)
class Slice:
    """Unit vectors of one place. What a slice shows never changes; a later slice may share its memory and go on behind.

    ``room`` and ``room_seqs`` hold ``size`` rows and space for more.
    """

    revision: int
    size: int
    room_seqs: Seqs
    room: Matrix

    @classmethod
    def empty(cls, dimensions: int) -> Slice:
        """Begin with nothing."""
        return cls(0, 0, np.empty(0, np.int64), np.empty((0, dimensions), np.float32))

    @property
    def seqs(self) -> Seqs:
        """The events, row by row."""
        return self.room_seqs[: self.size]

    @property
    def matrix(self) -> Matrix:
        """Their unit vectors, (events, dimensions)."""
        return self.room[: self.size]

    @property
    def bytes(self) -> int:
        """What it takes in memory."""
        return self.room.nbytes + self.room_seqs.nbytes

    def after(self, changes: Changes) -> Slice:
        """Give the slice with changes in it; call it once for each slice, since the next one writes behind this one."""
        kept = _without(self, changes.touched)
        size = kept.size + len(changes.seqs)
        kept = _with_room(kept, size)
        kept.room_seqs[kept.size : size] = changes.seqs
        kept.room[kept.size : size] = changes.matrix
        return Slice(changes.revision, size, kept.room_seqs, kept.room)


class Held:
    """One place's slice, the lock under which it is brought up to date, and what the cache counts for it."""

    def __init__(self, dimensions: int) -> None:
        """Begin with nothing."""
        self.lock = Lock()
        self.slice = Slice.empty(dimensions)
        self.counted = 0


class SliceCache:
    """Slices by key, the least recently asked let go when together they are over ``limit`` bytes."""

    def __init__(self, limit: int) -> None:
        """Hold at most ``limit`` bytes between calls."""
        self.limit = limit
        self._held: OrderedDict[object, Held] = OrderedDict()
        self._lock = Lock()
        self._bytes = 0

    @property
    def bytes(self) -> int:
        """What is held."""
        return self._bytes

    def find(self, key: object) -> Slice | None:
        """Give a slice as it was left, if it is held."""
        with self._lock:
            held = self._held.get(key)
        return None if held is None else held.slice

    def fresh(self, key: object, dimensions: int, changes_since: Callable[[int], Changes]) -> Slice:
        """Give the slice of a key with all changes in it, from any thread."""
        with self._lock:
            held = self._held.setdefault(key, Held(dimensions))
            self._held.move_to_end(key)
        with held.lock:
            changes = changes_since(held.slice.revision)
            if len(changes.touched):
                held.slice = held.slice.after(changes)
            fresh = held.slice
        self._count(key, held)
        return fresh

    def clear(self) -> None:
        """Let go of everything; what is being loaded is given to whoever asked, and not held."""
        with self._lock:
            self._held.clear()
            self._bytes = 0

    def _count(self, key: object, held: Held) -> None:
        with self._lock:
            size = held.slice.bytes + _OVERHEAD
            if self._held.get(key) is held:  # else it was let go meanwhile
                self._bytes += size - held.counted
                held.counted = size
            while self._bytes > self.limit and self._held:
                _, oldest = self._held.popitem(last=False)
                self._bytes -= oldest.counted


def _without(old: Slice, touched: Seqs) -> Slice:
    stays = ~np.isin(old.seqs, touched)
    if stays.all():
        return old
    return Slice(old.revision, int(stays.sum()), old.seqs[stays], old.matrix[stays])


def _with_room(old: Slice, rows: int) -> Slice:
    if rows <= len(old.room):
        return old
    rows += rows // 4
    seqs, matrix = np.empty(rows, np.int64), np.empty((rows, old.room.shape[1]), np.float32)
    seqs[: old.size], matrix[: old.size] = old.seqs, old.matrix
    return Slice(old.revision, old.size, seqs, matrix)
