"""Rate limits of the HTTP interface."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

Clock = Callable[[], float]
CALLERS = 1_000  # remembered, each with its own limit


class Pace:
    """A token bucket: ``burst`` requests at once, then ``per_minute``."""

    def __init__(self, per_minute: float, burst: int, clock: Clock = time.monotonic) -> None:
        """Start with a full bucket; ``clock`` returns seconds of a monotonic clock."""
        self._rate = per_minute / 60.0
        self._burst = float(burst)
        self._clock = clock
        self._left, self._seen = self._burst, clock()

    def wait(self) -> float:
        """Return the seconds until a request will be admitted, 0.0 if it is now; counts nothing."""
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._seen) * self._rate)
        self._seen = now
        return max((1.0 - self._left) / self._rate, 0.0)

    def take(self) -> float:
        """Count a request; return 0.0 if it is admitted, else the seconds until one will be."""
        seconds = self.wait()
        if not seconds:
            self._left -= 1.0
        return seconds


class CallerPaces:
    """A :class:`Pace` for each caller; the caller heard from longest ago is dropped first."""

    def __init__(self, per_minute: float, burst: int, clock: Clock = time.monotonic) -> None:
        """Give each new caller a full bucket."""
        self._new = lambda: Pace(per_minute, burst, clock)
        self._paces: OrderedDict[Hashable, Pace] = OrderedDict()

    def wait(self, caller: Hashable) -> float:
        """Return what :meth:`Pace.wait` does for a caller; counts nothing."""
        pace = self._paces.get(caller)
        return pace.wait() if pace else 0.0

    def take(self, caller: Hashable) -> float:
        """Count a request of a caller; return what :meth:`Pace.take` does."""
        pace = self._paces.pop(caller, None) or self._new()
        self._paces[caller] = pace
        if len(self._paces) > CALLERS:
            self._paces.popitem(last=False)
        return pace.take()
