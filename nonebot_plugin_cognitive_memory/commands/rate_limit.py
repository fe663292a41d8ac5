"""Limits how often one person may use commands."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from typing import Literal

CALLS = 10
WINDOW = 60.0  # seconds
PEOPLE = 2_000

Verdict = Literal["go", "warn", "ignore"]


class CommandRate:
    """Ten calls a minute per person; the eleventh is answered with a request to pause, later ones are ignored."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start without calls; ``clock`` returns seconds of a monotonic clock."""
        self._clock = clock
        self._calls: OrderedDict[Hashable, deque[float]] = OrderedDict()

    def verdict(self, who: Hashable) -> Verdict:
        """Count a call and return how to treat it."""
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
