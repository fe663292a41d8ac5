"""Whether the clock may be trusted when something is deleted because of its age."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta, timezone

from .. import sentences
from ..errors import UnavailableError
from ..ports import Clock
from ..store.ledger import ClockState, Housekeeping
from ..tasks import BackgroundLoop, ErrorState

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
