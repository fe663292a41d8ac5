"""What keeps the ledger in order: the size of the log, the purge of erased data, and damage in its file."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from .. import sentences
from ..domain.figures import LEDGER_ROWS
from ..settings.schema import Live, Settings
from ..store.ledger import Ledger
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
