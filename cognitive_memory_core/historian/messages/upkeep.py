"""Housekeeping by the clock: what is older than the log's days goes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from ...background import BackgroundLoop
from ...ports.ledger import MessageLog
from ...settings import Live, Settings

EVERY = 3600.0  # seconds


class Upkeep:
    """Prunes the message log once an hour, and purges what was erased."""

    def __init__(
        self,
        message_log: MessageLog,
        settings: Live[Settings],
        horizon: Callable[[], datetime],
        purge: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        """Prune a log by its age at ``horizon``, an instant that has passed for sure.

        ``purge`` decides by itself whether there is anything to do, and does not raise.
        """
        self._purge = purge
        self._log = message_log
        self._settings = settings
        self._horizon = horizon
        self.loop = BackgroundLoop("housekeeping", self._round)
        self.run = self.loop.run

    async def _round(self) -> float:
        """Prune and purge; a log that refuses is asked again soon, and keeps no purge waiting."""
        try:
            await self.prune()
        finally:
            if self._purge is not None:
                await self._purge()
        return EVERY

    async def prune(self) -> None:
        """Drop what is older than ``capture.log_days``."""
        await self._log.prune(self._horizon() - timedelta(days=self._settings.current.capture.log_days))
