"""A size-bounded LRU cache of recently searched places."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, Protocol, TypeVar

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
