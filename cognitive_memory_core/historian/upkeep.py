"""Housekeeping by the clock: what is older than the log's days goes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta

from ..errors import UnavailableError
from ..ports.ambient import Clock
from ..ports.ledger import MessageLog
from ..settings import Live, Settings
from .retry import described

log = logging.getLogger(__name__)
EVERY = 3600.0  # seconds


class Upkeep:
    """Prunes the message log once an hour, and purges what was erased."""

    def __init__(
        self,
        message_log: MessageLog,
        settings: Live[Settings],
        clock: Clock,
        purge: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        """Prune a log; ``purge`` decides by itself whether there is anything to do, and does not raise."""
        self._purge = purge
        self._log = message_log
        self._settings = settings
        self._clock = clock

    async def run(self) -> None:
        """Prune and purge now and every hour, until cancelled."""
        while True:
            await self.prune()
            if self._purge is not None:
                await self._purge()
            await asyncio.sleep(EVERY)

    async def prune(self) -> None:
        """Drop what is older than ``capture.log_days``; a log that refuses is asked again in an hour."""
        try:
            await self._log.prune(self._clock.now() - timedelta(days=self._settings.current.capture.log_days))
        except UnavailableError as refused:
            log.warning("message log: %s", described(refused))
