"""When the vector store is worth its memory: it runs while rows are due or wide questions come, and ends afterwards."""

from __future__ import annotations

import math
from collections.abc import Callable

ROWS_BEHIND = 500  # rows that start it: writing them costs about as much processor time as the start does
SECONDS_BEHIND = 600.0  # since the first missing row: a store that cannot start is noticed before a question needs it
IDLE_SECONDS = 120.0  # since the last need: questions come in conversations, and a start takes longer than a search


class IndexSleep:
    """Decides by rows, questions and time; ``elapsed`` gives seconds that never jump."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        """Begin asleep."""
        self._elapsed = elapsed
        self._needed_at = elapsed()
        self._behind_since: float | None = None
        self._is_asked = False
        self._is_hurried = False
        self.is_asleep = True

    def note_question(self) -> None:
        """Record a wide question: it starts a sleeping store and keeps one running."""
        self._is_asked = True
        self.note_need()

    def note_need(self) -> None:
        """Begin the idle time anew."""
        self._needed_at = self._elapsed()

    def hurry(self) -> None:
        """Start the store as soon as a single row is missing."""
        self._is_hurried = True

    def wake(self) -> None:
        """Record that the store runs."""
        self.is_asleep = self._is_asked = self._is_hurried = False
        self._behind_since = None
        self.note_need()

    def fall_asleep(self) -> None:
        """Record that the store runs no more."""
        self.wake()
        self.is_asleep = True

    def sleep_left(self, behind: int) -> float:
        """Return for how many seconds a store that lacks so many rows may sleep on; 0 when it is due now."""
        is_hurried, self._is_hurried = self._is_hurried, False
        if self._is_asked or behind >= ROWS_BEHIND or (is_hurried and behind):
            self._is_asked = False
            return 0.0
        if not behind:
            self._behind_since = None
            return math.inf
        if self._behind_since is None:
            self._behind_since = self._elapsed()
        return max(0.0, self._behind_since + SECONDS_BEHIND - self._elapsed())

    def idle_left(self) -> float:
        """Return for how many seconds a store without questions goes on running; 0 when it should end."""
        return max(0.0, self._needed_at + IDLE_SECONDS - self._elapsed())
