"""What is held in memory of recently asked places, within a bound."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, Protocol, TypeVar

_OVERHEAD = 1024  # bytes that even an empty place counts for, so that their number is bounded, too


class Sized(Protocol):
    """Something whose size in memory is known."""

    @property
    def bytes(self) -> int:
        """What it takes in memory."""
        ...


S = TypeVar("S", bound=Sized)


class _CachedPlace(Generic[S]):
    """What is held of one place, the lock under which it is brought up to date, and what the cache counts for it."""

    def __init__(self, content: S) -> None:
        self.lock = Lock()
        self.content = content
        self.counted = 0


class PlaceCache(Generic[S]):
    """Contents by key, the least recently asked let go when together they are over ``limit`` bytes."""

    def __init__(self, limit: int) -> None:
        """Hold at most ``limit`` bytes between calls."""
        self.limit = limit
        self._held: OrderedDict[Hashable, _CachedPlace[S]] = OrderedDict()
        self._lock = Lock()
        self._bytes = 0

    @property
    def bytes(self) -> int:
        """What is held."""
        return self._bytes

    def fits(self, size: int) -> bool:
        """Tell whether a place of so many bytes could be held at all, were it alone."""
        return size + _OVERHEAD <= self.limit

    def find(self, key: Hashable) -> S | None:
        """Give what is held as it was left."""
        with self._lock:
            held = self._held.get(key)
        return None if held is None else held.content

    def fresh(self, key: Hashable, empty: Callable[[], S], renewed: Callable[[S], S]) -> S:
        """Give the content of a key brought up to date by ``renewed``, from any thread; one at a time for each key."""
        with self._lock:
            held = self._held.get(key) or self._held.setdefault(key, _CachedPlace(empty()))
            self._held.move_to_end(key)
        with held.lock:
            held.content = fresh = renewed(held.content)
        self._count(key, held)
        return fresh

    def drop(self, key: Hashable) -> None:
        """Let go of one place."""
        with self._lock:
            held = self._held.pop(key, None)
            self._bytes -= held.counted if held else 0

    def clear(self) -> None:
        """Let go of everything; what is being loaded is given to whoever asked, and not held."""
        with self._lock:
            self._held.clear()
            self._bytes = 0

    def _count(self, key: Hashable, held: _CachedPlace[S]) -> None:
        with self._lock:
            size = held.content.bytes + _OVERHEAD
            if self._held.get(key) is held:  # else it was let go meanwhile
                self._bytes += size - held.counted
                held.counted = size
            while self._bytes > self.limit and self._held:
                _, oldest = self._held.popitem(last=False)
                self._bytes -= oldest.counted
