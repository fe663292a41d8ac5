"""How often one person may use commands."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from typing import Literal

CALLS = 10
WINDOW = 60.0  # seconds
PEOPLE = 2_000

Verdict = Literal["go", "warn", "ignore"]


class Pace:
    """Ten calls a minute each; the eleventh is answered with a request for a pause, what follows is not answered."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with nobody known; ``clock`` counts seconds from anywhere."""
        self._clock = clock
        self._calls: OrderedDict[Hashable, deque[float]] = OrderedDict()

    def verdict(self, who: Hashable) -> Verdict:
        """Count a call, and say what to do with it."""
        now = self._clock()
        calls = self._calls.setdefault(who, deque())
        self._calls.move_to_end(who)
        if len(self._calls) > PEOPLE:
            self._calls.popitem(last=False)
        while calls and calls[0] <= now - WINDOW:
            calls.popleft()
        if len(calls) > CALLS:
            return "ignore"
        calls.append(now)
        return "go" if len(calls) <= CALLS else "warn"
