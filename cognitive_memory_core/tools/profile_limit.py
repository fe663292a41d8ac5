"""Limits how many other people's profiles one person may make the model read."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

MOST_PEOPLE = 30  # within the window: more than a conversation needs, far fewer than a group has
WINDOW = 3_600.0  # seconds
ASKERS = 2_000


class ProfileLimit:
    """Counts whose profiles each asker was shown; ``clock`` returns seconds of a monotonic clock."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with no profile counted."""
        self._clock = clock
        self._shown: OrderedDict[Hashable, dict[str, float]] = OrderedDict()

    def admits(self, asker: Hashable, person: str) -> bool:
        """Count a person's profile as shown to an asker; return False if the limit for ``WINDOW`` is reached."""
        now = self._clock()
        shown = self._shown.setdefault(asker, {})
        self._shown.move_to_end(asker)
        if len(self._shown) > ASKERS:
            self._shown.popitem(last=False)
        for known in [known for known, at in shown.items() if at <= now - WINDOW]:
            del shown[known]
        if person not in shown and len(shown) >= MOST_PEOPLE:
            return False
        shown[person] = now
        return True


process_limit = ProfileLimit()  # of this process
