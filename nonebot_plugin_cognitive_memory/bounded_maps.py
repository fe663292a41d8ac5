"""Mappings of bounded size, for what is remembered of people and places that come without end."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Newest(OrderedDict[K, V], Generic[K, V]):
    """Keeps the keys that were set last."""

    def __init__(self, most: int) -> None:
        """Keep at most ``most`` keys."""
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        """Set a key, and drop the one set longest ago if there are too many."""
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)


class Lasting(Generic[K, V]):
    """At most ``most`` values by key, each found for some seconds after it was put; the oldest goes first."""

    def __init__(self, seconds: float, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Start empty; ``clock`` returns seconds of a monotonic clock."""
        self._seconds, self._clock = seconds, clock
        self._values: Newest[K, tuple[V, float]] = Newest(most)

    def put(self, key: K, value: V) -> None:
        """Store a value, which replaces an earlier one."""
        self._values[key] = value, self._clock() + self._seconds

    def find(self, key: K) -> V | None:
        """Return the value of a key; None if there is none, or no longer."""
        value, until = self._values.get(key, (None, 0.0))
        return value if self._clock() <= until else None

    def drop(self, key: K) -> None:
        """Remove the value of a key."""
        self._values.pop(key, None)
