"""What models cost, and how often they failed, on its way to the accounts."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from datetime import date, tzinfo
from typing import TypeVar

from ...background import UNTIL_NUDGED, BackgroundLoop
from ...completion import completed
from ...errors import BadAnswer, UnavailableError
from ...ports.ambient import Clock
from ...ports.ledger import Accounts, Spending
from ...ports.models import Ask, Chat

LONGEST_PAUSE = 30.0  # seconds between two tries while the accounts refuse
PAUSE = 1.0  # seconds between writes: what was paid for in them is forgotten by a process that is killed
REMEMBERED = 64  # counts of a purpose on a day
UNMETERED = ("embedding", "rerank")  # purposes that no daily limit counts
T = TypeVar("T")


class SpendingMeter:
    """Counts in memory, at once; writes together. What cannot be written waits."""

    def __init__(self, accounts: Accounts, clock: Clock, zone: tzinfo) -> None:
        """Write into accounts, by the days of a zone."""
        self._accounts = accounts
        self._clock = clock
        self._zone = zone
        self._waiting: dict[tuple[date, str], Spending] = {}
        self._calls: Counter[tuple[date, str]] = Counter()
        self._turn = asyncio.Lock()
        self.loop = BackgroundLoop("accounts", self._round, gathered=PAUSE, longest_pause=LONGEST_PAUSE)
        self.run = self.loop.run

    async def load(self) -> None:
        """Read what was spent today before this process began."""
        try:
            spent = await self._accounts.spent(self.today)
        except UnavailableError as refused:
            self.loop.trouble.note(refused)
            return
        self._calls.update({(self.today, one.purpose): one.calls for one in spent})

    @property
    def today(self) -> date:
        """The day in the zone."""
        return self._clock.now().astimezone(self._zone).date()

    @property
    def chat_calls_today(self) -> int:
        """How often chat models were asked today."""
        today = self.today
        return sum(calls for (day, purpose), calls in self._calls.items() if day == today and purpose not in UNMETERED)

    def calls_today(self, purpose: str) -> int:
        """How often a model was asked today for one purpose."""
        return self._calls[self.today, purpose]

    def count(self, purpose: str, tokens: int) -> None:
        """Note one call for a purpose."""
        self._calls[self.today, purpose] += 1
        self._forget_old_days()
        self._add(Spending(purpose, 1, max(tokens, 0)))

    def note_failure(self, purpose: str, *, is_away: bool) -> None:
        """Note that a model could not be reached, or answered badly: the two are counted apart."""
        self._add(Spending(purpose, unreachable=int(is_away), bad=int(not is_away)))

    async def settle(self) -> None:
        """Write everything that waits; what the ledger refuses goes on waiting."""
        try:
            await completed(self._write())
        except UnavailableError as refused:
            self.loop.trouble.note(refused)
            self.loop.nudge()  # the loop tries again

    async def _round(self) -> float:
        await completed(self._write())
        return UNTIL_NUDGED

    async def _write(self) -> None:
        """Write everything that waits; call it to completion: what a cancelled write did to the ledger nobody knows."""
        async with self._turn:
            for day, purpose in list(self._waiting):
                spending = self._waiting.pop((day, purpose))
                is_written = False
                try:
                    await self._accounts.spend(day, spending)
                    is_written = True
                finally:
                    if not is_written:
                        self._put_back(day, spending)
            self.loop.trouble.end()

    def _forget_old_days(self) -> None:
        """Keep the last days that were counted, also where the clock goes to and fro."""
        while len(self._calls) > REMEMBERED:
            del self._calls[min(self._calls)]

    def _add(self, spending: Spending) -> None:
        self._put_back(self.today, spending)
        self.loop.nudge()

    def _put_back(self, day: date, spending: Spending) -> None:
        so_far = self._waiting.get((day, spending.purpose), Spending(spending.purpose))
        self._waiting[day, spending.purpose] = so_far.plus(spending)


@dataclass(frozen=True)
class MeteredChat:
    """A chat model whose failures are counted; its calls too, where it ``counts_calls`` nowhere itself."""

    chat: Chat
    meter: SpendingMeter
    counts_calls: bool = False

    async def ask(self, ask: Ask[T]) -> T:
        """Give the parsed answer."""
        if self.counts_calls:
            self.meter.count(ask.purpose, 0)
        try:
            return await self.chat.ask(ask)
        except (UnavailableError, BadAnswer) as failure:
            self.meter.note_failure(ask.purpose, is_away=isinstance(failure, UnavailableError))
            raise
