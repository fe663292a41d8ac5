"""Rate limits of the HTTP interface."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

Clock = Callable[[], float]
CALLERS = 1_000  # remembered, each with its own limit


class TokenBucket:
    """A token bucket: admits ``burst`` requests at once, then ``per_minute`` a minute."""

    def __init__(self, per_minute: float, burst: int, clock: Clock = time.monotonic) -> None:
        """Start with a full bucket; ``clock`` returns seconds of a monotonic clock."""
        self._rate = per_minute / 60.0
        self._burst = float(burst)
        self._clock = clock
        self._left, self._seen = self._burst, clock()

    def wait(self) -> float:
        """Return the seconds until a request will be admitted, 0.0 if it is now; takes no token."""
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._seen) * self._rate)
        self._seen = now
        return max((1.0 - self._left) / self._rate, 0.0)

    def take(self) -> float:
        """Take a token for a request and return 0.0; if there is none, return the seconds until there will be one."""
        seconds = self.wait()
        if not seconds:
            self._left -= 1.0
        return seconds


class CallerBuckets:
    """A :class:`TokenBucket` for each caller; beyond a limit, the caller silent for longest is dropped."""

    def __init__(self, per_minute: float, burst: int, clock: Clock = time.monotonic) -> None:
        """Give each new caller a full bucket."""
        self._new = lambda: TokenBucket(per_minute, burst, clock)
        self._buckets: OrderedDict[Hashable, TokenBucket] = OrderedDict()

    def wait(self, caller: Hashable) -> float:
        """Return what :meth:`TokenBucket.wait` returns for a caller; takes no token."""
        bucket = self._buckets.get(caller)
        return bucket.wait() if bucket else 0.0

    def take(self, caller: Hashable) -> float:
        """Take a token for a request of a caller; return what :meth:`TokenBucket.take` returns."""
        bucket = self._buckets.pop(caller, None) or self._new()
        self._buckets[caller] = bucket
        if len(self._buckets) > CALLERS:
            self._buckets.popitem(last=False)
        return bucket.take()
