"""Decides when the vector store runs: it starts for missing rows and large searches, and stops when idle."""

from __future__ import annotations

import math
from collections.abc import Callable

ROWS_BEHIND = 500  # missing rows that start the store: writing them costs about as much processor time as a start
SECONDS_BEHIND = 600.0  # since the first missing row, so that a store that cannot start shows before a query needs it
IDLE_SECONDS = 120.0  # since the last need: queries come in bursts, and a start takes longer than a search


class IndexSleep:
    """Decides when the vector store is started and stopped, by the number of missing rows, by queries and by time."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        """Start asleep; ``elapsed`` returns seconds of a monotonic clock."""
        self._elapsed = elapsed
        self._needed_at = elapsed()
        self._behind_since: float | None = None
        self._is_asked = False
        self._is_woken = False
        self.is_asleep = True

    def note_question(self) -> None:
        """Record a query that needs the store: a sleeping store is to be started, a running one to go on."""
        self._is_asked = True
        self.note_need()

    def note_need(self) -> None:
        """Record that the running store was needed, so that its idle time begins anew."""
        self._needed_at = self._elapsed()

    def wake_now(self) -> None:
        """Make the next call of :meth:`sleep_left` return 0 if even one row is missing."""
        self._is_woken = True

    def wake(self) -> None:
        """Record that the store is running."""
        self.is_asleep = self._is_asked = self._is_woken = False
        self._behind_since = None
        self.note_need()

    def fall_asleep(self) -> None:
        """Record that the store has stopped."""
        self.wake()
        self.is_asleep = True

    def sleep_left(self, behind: int) -> float:
        """Return the seconds for which a store that lacks ``behind`` rows may stay stopped; 0 if it must start now."""
        is_woken, self._is_woken = self._is_woken, False
        if self._is_asked or behind >= ROWS_BEHIND or (is_woken and behind):
            self._is_asked = False
            return 0.0
        if not behind:
            self._behind_since = None
            return math.inf
        if self._behind_since is None:
            self._behind_since = self._elapsed()
        return max(0.0, self._behind_since + SECONDS_BEHIND - self._elapsed())

    def idle_left(self) -> float:
        """Return the seconds for which a running store without queries goes on; 0 if it should stop now."""
        return max(0.0, self._needed_at + IDLE_SECONDS - self._elapsed())
