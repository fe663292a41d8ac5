"""What bounds what others cause: maps of bounded size, rates of calls, and warnings that are not repeated."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from nonebot import logger

from . import replies

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


_warned: Lasting[str, bool] = Lasting(60.0, 100)


def warn_once(sentence: str) -> None:
    """Log a warning, unless the same was logged within the last minute."""
    if not _warned.find(sentence):
        _warned.put(sentence, True)  # a value
        logger.warning(replies.log.logged(sentence))


CALLERS = 2_000  # whose rate is remembered


class TokenBuckets:
    """A token bucket for each caller: ``burst`` requests at once, then ``per_minute`` a minute.

    Beyond :data:`CALLERS`, the caller silent for longest starts again with a full bucket.
    """

    def __init__(self, per_minute: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with full buckets, one for each caller; ``clock`` returns seconds of a monotonic clock."""
        self._rate, self._burst, self._clock = per_minute / 60.0, float(burst), clock
        self._left: Newest[Hashable, tuple[float, float]] = Newest(CALLERS)  # tokens, and when they were counted

    def wait(self, caller: Hashable = "", *, take: bool = False) -> float:
        """Return the seconds until a request will be admitted; 0.0 if it is now, and then ``take`` takes a token."""
        now = self._clock()
        left, seen = self._left.get(caller, (self._burst, now))
        left = min(self._burst, left + (now - seen) * self._rate)
        seconds = max((1.0 - left) / self._rate, 0.0)
        self._left[caller] = (left - 1.0 if take and not seconds else left), now
        return seconds
