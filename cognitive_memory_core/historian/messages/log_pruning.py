"""Hourly housekeeping: bounds the message log by age and size."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from ... import sentences
from ...settings import Live, Settings
from ...store.messages import MessageLog
from ...tasks import BackgroundLoop

EVERY = 3600.0  # seconds
KEPT_PER_PLACE = 200  # newest messages: as many as one dialogue holds, so none that waits to be considered goes
MEGABYTE = 1_000_000
log = logging.getLogger(__name__)


class LogPruning:
    """Deletes old messages from the log once an hour, and runs the purge of erased data."""

    def __init__(
        self,
        message_log: MessageLog,
        settings: Live[Settings],
        horizon: Callable[[], datetime],
        purge: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        """Create for a log; ``horizon`` returns an instant that has certainly passed, from which ages are measured.

        ``purge`` decides itself whether it is due, and does not raise.
        """
        self._purge = purge
        self._log = message_log
        self._settings = settings
        self._horizon = horizon
        self.removed = 0  # messages deleted since the start because the log was too large
        self.loop = BackgroundLoop("housekeeping", self._round)

    async def _round(self) -> float:
        """Delete old messages, then purge; if deleting fails, purge nevertheless and let the loop retry soon."""
        try:
            await self.prune()
            await self.shrink()
        finally:
            if self._purge is not None:
                await self._purge()
        return EVERY

    async def prune(self) -> None:
        """Delete messages older than ``capture.log_days``."""
        await self._log.prune(self._horizon() - timedelta(days=self._settings.current.capture.log_days))

    async def shrink(self) -> None:
        """Delete the oldest messages until the log is within ``capture.log_max_mb``; log this the first time."""
        most = self._settings.current.capture.log_max_mb
        if not most:
            return
        removed = await self._log.shrink(round(most * MEGABYTE), kept_per_place=KEPT_PER_PLACE)
        if removed and not self.removed:
            log.warning("%s", sentences.log.LOG_TOO_LARGE.format(most=most, removed=removed))
        self.removed += removed
