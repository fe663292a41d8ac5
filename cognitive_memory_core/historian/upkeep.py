"""What keeps the ledger in order: the size of the log, the trust in the clock, and damage in its file."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta, timezone

from .. import sentences
from ..domain.figures import LEDGER_ROWS
from ..errors import UnavailableError
from ..ports import Clock
from ..settings.schema import Live, Settings
from ..store.ledger import ClockState, Housekeeping, Ledger
from ..tasks import BackgroundLoop, ErrorState

PRUNED_EVERY = 3600.0  # seconds
KEPT_PER_PLACE = 200  # newest messages: as many as one dialogue holds, so none that waits to be considered goes
MEGABYTE = 1_000_000
AFTER = 20.0  # seconds until the first examination: a bot that starts has more urgent things to read
EXAMINED_EVERY = 7 * 86400.0  # seconds
log = logging.getLogger(__name__)


class Upkeep:
    """Once an hour, deletes old messages and runs the purge of erased data; once a week, examines the ledger.

    ``horizon`` returns an instant that has certainly passed, from which ages are measured. ``purge`` decides itself
    whether it is due, returns after how many seconds it may be, and does not raise. The status names damaged parts;
    nothing is repaired and nothing stops, because the rest of the ledger works.
    """

    def __init__(
        self,
        ledger: Ledger,
        settings: Live[Settings],
        horizon: Callable[[], datetime],
        purge: Callable[[], Awaitable[float]],
    ) -> None:
        """Prepare the loop."""
        self._ledger, self._settings, self._horizon, self._purge = ledger, settings, horizon, purge
        self.removed = 0  # messages deleted since the start because the log was too large
        self.damage = ErrorState(LEDGER_ROWS)
        self._examine_at = time.monotonic() + AFTER
        self.loop = BackgroundLoop("housekeeping", self._round)

    async def _round(self) -> float:
        """Purge, examine, and delete old messages; if deleting fails, as in a damaged ledger, the loop retries soon."""
        purge_in = await self._purge()
        if time.monotonic() >= self._examine_at:
            await self.examine()
            self._examine_at = time.monotonic() + EXAMINED_EVERY
        await self.prune()
        await self.shrink()
        return min(PRUNED_EVERY, purge_in, max(self._examine_at - time.monotonic(), 0.0))

    async def prune(self) -> None:
        """Delete messages older than ``capture.log_days``."""
        await self._ledger.log.prune(self._horizon() - timedelta(days=self._settings.current.capture.log_days))

    async def shrink(self) -> None:
        """Delete the oldest messages until the log is within ``capture.log_max_mb``; log this the first time."""
        most = self._settings.current.capture.log_max_mb
        if not most:
            return
        removed = await self._ledger.log.shrink(round(most * MEGABYTE), kept_per_place=KEPT_PER_PLACE)
        if removed and not self.removed:
            log.warning("%s", sentences.log.LOG_TOO_LARGE.format(most=most, removed=removed))
        self.removed += removed

    async def examine(self) -> None:
        """Examine the ledger now; damage is an error state, which ends when an examination finds none."""
        if damages := await self._ledger.examine():
            self.damage.tell(sentences.storage_errors.ROWS_DAMAGED.format(count=len(damages), first=damages[0]))
        else:
            self.damage.end()


JUMP = timedelta(days=2)  # a larger difference means that the clock was set, or that nothing ran for as long
STEADY = 86_400.0  # seconds that a clock must run steadily after a jump before it is trusted
POLL = 10.0  # seconds between two readings of the clock
KEPT_EVERY = 600.0  # seconds between two writes of the trusted time
NEVER = datetime.fromtimestamp(0, timezone.utc)
SINCE = timedelta(seconds=5)  # a redated tombstone is set this much earlier, to spare what was just said


class ClockWatch:
    """Compares the clock with the stored trusted time, across restarts, and with a monotonic timer.

    A clock that jumped by more than :data:`JUMP`, or that has no history, is trusted once it has run steadily for
    :data:`STEADY` seconds, over several restarts if needed. Until then nothing is deleted because of its age.
    """

    def __init__(self, clock: Clock, book: Housekeeping, *, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Watch a clock; ``elapsed`` returns monotonic seconds."""
        self._clock = clock
        self._book = book
        self._elapsed = elapsed
        self._looked_at = elapsed()
        self._kept_at = float("-inf")
        now = clock.now()
        self._believed: datetime | None = None
        self._seen, self._steady = now, 0.0
        self._has_history = False  # whether an earlier process stored a state
        self.on_brought_back: Callable[[], Awaitable[object]] | None = None
        self.trouble = ErrorState("clock")
        self.loop = BackgroundLoop("clock watch", self._round)

    async def load(self) -> None:
        """Load the trusted time; once a wrong clock was corrected, change the dates of tombstones that it wrote.

        If the ledger is unavailable, the background loop tries again.
        """
        try:
            state = await self._book.clock()
            if state is not None:
                self._believed, self._seen, self._steady = state.believed_at, state.seen_at, state.steady_seconds
                self._looked_at, self._has_history = self._elapsed(), True
            await self._round()
        except UnavailableError as away:
            self.loop.trouble.note(away)

    def now(self) -> datetime:
        """Return the later of clock and trusted time; normally no recorded instant is later."""
        now = self._clock.now()
        return now if self._believed is None else max(now, self._believed)

    def horizon(self) -> datetime:
        """Return an instant that has certainly passed; the age of what is to be deleted is measured back from it."""
        self._check_for_jump()
        return NEVER if self._believed is None else min(self._clock.now(), self._believed)

    async def close(self) -> None:
        """Store the trusted time, if the ledger is available."""
        with suppress(UnavailableError):
            await self.keep()

    async def keep(self) -> None:
        """Store the trusted time."""
        self._check_for_jump()
        await self._book.keep_clock(ClockState(self._believed, self._seen, self._steady))
        self._kept_at = self._elapsed()

    async def _round(self) -> float:
        has_jumped = self._check_for_jump()
        # stored dates in the future may be corrected, if a wrong clock wrote them
        may_correct = self._has_history if self._believed is None else self._believed == self._seen
        redated = await self._book.redate_tombstones(self._seen + JUMP / 2, self._seen - SINCE) if may_correct else 0
        if redated and self.on_brought_back:
            await self.on_brought_back()
        if has_jumped or self._elapsed() - self._kept_at >= KEPT_EVERY:
            await self.keep()
        return POLL

    def _check_for_jump(self) -> bool:
        """Compare the clock with the monotonic timer, and update the trusted time; return whether the clock jumped."""
        now, elapsed = self._clock.now(), self._elapsed()
        passed = elapsed - self._looked_at
        has_jumped = abs(now - self._seen - timedelta(seconds=passed)) > JUMP
        self._steady = 0.0 if has_jumped else min(self._steady + passed, STEADY)
        self._seen, self._looked_at = now, elapsed
        if self._believed is not None:
            self._believed += timedelta(seconds=passed)
        is_near = self._believed is not None and abs(now - self._believed) <= JUMP
        if is_near or self._steady >= STEADY:
            self._believed = now
        if self._believed is None or self._believed == now:
            self.trouble.end()
        else:
            days = round((now - self._believed) / timedelta(days=1))
            self.trouble.tell(sentences.log.CLOCK_HAS_JUMPED.format(days=days))
        return has_jumped
