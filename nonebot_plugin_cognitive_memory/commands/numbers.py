"""Numbers in lists: they stand for what was shown last, to one person, in one scene, for a while."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import cognitive_memory_core as core

VALID = 600.0  # seconds
SCENES = 1_000


@dataclass(frozen=True)
class ShownList:
    """Events by the number that they were shown under."""

    events: Mapping[int, core.Event]
    shown_at: float


class ShownLists:
    """The list that each person saw last in each scene. ``clock`` counts seconds from anywhere."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with nothing shown."""
        self._clock = clock
        self._lists: OrderedDict[core.Scene, ShownList] = OrderedDict()

    def show(self, scene: core.Scene, events: Sequence[core.Event], first: int = 1) -> None:
        """Remember a list that is shown, numbered from ``first``; it takes the place of the one before."""
        self._lists[scene] = ShownList(dict(enumerate(events, first)), self._clock())
        self._lists.move_to_end(scene)
        if len(self._lists) > SCENES:
            self._lists.popitem(last=False)

    def find(self, scene: core.Scene, number: int) -> core.Event | None:
        """Return the event behind a number, or None where it stands for nothing (any more)."""
        shown = self._lists.get(scene)
        if shown is None or self._clock() - shown.shown_at > VALID:
            return None
        return shown.events.get(number)


shown_lists = ShownLists()
