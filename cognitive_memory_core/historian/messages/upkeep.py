"""Hourly housekeeping: prunes the message log by age."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from ...background import BackgroundLoop
from ...ports.ledger import MessageLog
from ...settings import Live, Settings

EVERY = 3600.0  # seconds


class Upkeep:
    """Prunes the message log once an hour, and runs the purge of erased data."""

    def __init__(
        self,
        message_log: MessageLog,
        settings: Live[Settings],
        horizon: Callable[[], datetime],
        purge: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        """Prune a log by its age at ``horizon``, an instant that has certainly passed.

        ``purge`` decides itself whether it is due, and does not raise.
        """
        self._purge = purge
        self._log = message_log
        self._settings = settings
        self._horizon = horizon
        self.loop = BackgroundLoop("housekeeping", self._round)
        self.run = self.loop.run

    async def _round(self) -> float:
        """Prune and purge; the purge also runs if pruning fails, which the loop retries soon."""
        try:
            await self.prune()
        finally:
            if self._purge is not None:
                await self._purge()
        return EVERY

    async def prune(self) -> None:
        """Delete messages older than ``capture.log_days``."""
        await self._log.prune(self._horizon() - timedelta(days=self._settings.current.capture.log_days))
