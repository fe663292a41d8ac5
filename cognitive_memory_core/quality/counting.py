"""Counters for the report: refusals of the gate, retries, recalled events, and how long reads take."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from datetime import tzinfo

from ..ports.clock import Clock
from ..ports.models import Tally
from ..store.quality import QualityLedger
from ..tasks import WriteLoop

PAUSE = 60.0  # seconds between writes; a process that is killed loses the counts of up to this long
MOST_HELD = 50_000  # events whose counts wait; more are not counted while the ledger is unavailable
BOUNDS = (5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)  # milliseconds
TOOK = "ms:"


class QualityTally(Tally):
    """Counts in memory and writes in batches, at most once a minute and in one transaction each.

    Counting never waits for the disk. Counts that could not be written are kept for the next attempt.
    """

    def __init__(self, ledger: QualityLedger, clock: Clock, zone: tzinfo) -> None:
        """Write to a ledger, by calendar day in ``zone``."""
        self._ledger = ledger
        self._clock = clock
        self._zone = zone
        self._counts = Counter[str]()
        self._recalled = Counter[str]()
        self.loop = WriteLoop("tallies", self._write, debounce=PAUSE)
        self.flush = self.loop.flush

    def count(self, name: str, times: int = 1) -> None:
        """Add ``times`` to the counter of this name."""
        self._counts[name] += times
        self.loop.nudge()

    def recalled(self, event_ids: Iterable[str]) -> None:
        """Count these events as shown in a context or an answer."""
        if len(self._recalled) < MOST_HELD:
            self._recalled.update(event_ids)
            self.loop.nudge()

    def took(self, read: str, seconds: float) -> None:
        """Count one read of this kind in the latency class of its duration."""
        self.count(f"{TOOK}{read}:{bound_of(seconds)}")

    async def _write(self) -> None:
        counts, self._counts = self._counts, Counter[str]()
        recalled, self._recalled = self._recalled, Counter[str]()
        if not counts and not recalled:
            return
        now = self._clock.now()
        is_written = False
        try:
            await self._ledger.tally(now.astimezone(self._zone).date(), counts, recalled, now)
            is_written = True
        finally:
            if not is_written:
                self._counts.update(counts)
                self._recalled.update(recalled)


def bound_of(seconds: float) -> int:
    """Return the smallest latency bound in ms that is not below a duration; 0 if the duration exceeds all bounds."""
    place = bisect_left(BOUNDS, seconds * 1_000)
    return BOUNDS[place] if place < len(BOUNDS) else 0
