"""Limits how often one person may use commands."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from math import ceil

CALLS, PAGES = 10, 60  # within the window: commands, and pages of lists beside them
WINDOW = 60.0  # seconds
PEOPLE = 2_000


@dataclass
class RecentCalls:
    """The instants of one person's last calls, and the end of the wait that they were told."""

    times: deque[float]
    told: float = 0.0


class CommandRate:
    """Ten commands a minute per person; the eleventh is answered with the seconds to wait, later ones are ignored."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start without calls; ``clock`` returns seconds of a monotonic clock."""
        self._clock = clock
        self._calls: OrderedDict[Hashable, RecentCalls] = OrderedDict()

    def wait(self, who: Hashable, *, is_page: bool = False) -> int | None:
        """Count a call that may be carried out and return 0; else the seconds until one may, None if told already."""
        now, most = self._clock(), PAGES if is_page else CALLS
        calls = self._calls.setdefault((who, is_page), RecentCalls(deque(maxlen=most)))
        self._calls.move_to_end((who, is_page))
        if len(self._calls) > PEOPLE:
            self._calls.popitem(last=False)
        ends = calls.times[0] + WINDOW if len(calls.times) == most else now
        if ends <= now:
            calls.times.append(now)
            return 0
        if calls.told == ends:
            return None
        calls.told = ends
        return ceil(ends - now)
