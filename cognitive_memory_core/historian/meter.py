"""What models cost, on its way to the accounts."""

from __future__ import annotations

import asyncio
import logging
from datetime import date, tzinfo

from ..errors import UnavailableError
from ..ports.ambient import Clock
from ..ports.ledger import Accounts, Spending
from .retry import described

log = logging.getLogger(__name__)
PAUSE = 5.0  # seconds between writes: a call that was paid for is no more lost than that


class SpendingMeter:
    """Counts in memory, at once; writes together. What cannot be written waits."""

    def __init__(self, accounts: Accounts, clock: Clock, zone: tzinfo) -> None:
        """Write into accounts, by the days of a zone."""
        self._accounts = accounts
        self._clock = clock
        self._zone = zone
        self._waiting: dict[tuple[date, str], Spending] = {}
        self._wake = asyncio.Event()

    def count(self, purpose: str, tokens: int) -> None:
        """Note one call for a purpose."""
        key = (self._clock.now().astimezone(self._zone).date(), purpose)
        so_far = self._waiting.get(key, Spending(purpose))
        self._waiting[key] = Spending(purpose, so_far.calls + 1, so_far.tokens + max(tokens, 0))
        self._wake.set()

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await asyncio.sleep(PAUSE)
            await self.settle()

    async def settle(self) -> None:
        """Write everything that waits; what the ledger refuses goes on waiting."""
        for day, purpose in list(self._waiting):
            spending = self._waiting.pop((day, purpose))
            try:
                await self._accounts.spend(day, spending)
            except UnavailableError as refused:
                self._put_back(day, spending)
                log.warning("accounts: %s", described(refused))
                return

    def _put_back(self, day: date, spending: Spending) -> None:
        since = self._waiting.get((day, spending.purpose), Spending(spending.purpose))
        joined = Spending(spending.purpose, since.calls + spending.calls, since.tokens + spending.tokens)
        self._waiting[day, spending.purpose] = joined
