"""Counts calls, tokens and failures of models, and writes the counts to the accounts."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from datetime import date, tzinfo
from typing import TypeVar

from ..background import UNTIL_NUDGED, BackgroundLoop
from ..cancellation import completed
from ..domain.figures import Spending
from ..errors import BadAnswer, UnavailableError
from ..ports.clock import Clock
from ..ports.models import Ask, Chat
from ..store.accounts import Accounts

LONGEST_PAUSE = 30.0  # seconds between two tries while the accounts are unavailable
PAUSE = 1.0  # seconds between writes: a process that is killed loses the counts of up to this long
REMEMBERED = 64  # counts kept, one per purpose and day
UNMETERED = ("embedding", "rerank")  # purposes that no daily limit counts
T = TypeVar("T")


class SpendingMeter:
    """Counts in memory at once and writes in batches; counts that could not be written are kept and retried."""

    def __init__(self, accounts: Accounts, clock: Clock, zone: tzinfo) -> None:
        """Write to accounts, by calendar day in ``zone``."""
        self._accounts = accounts
        self._clock = clock
        self._zone = zone
        self._waiting: dict[tuple[date, str], Spending] = {}
        self._calls: Counter[tuple[date, str]] = Counter()
        self._turn = asyncio.Lock()
        self.loop = BackgroundLoop("accounts", self._round, debounce=PAUSE, longest_pause=LONGEST_PAUSE)

    async def load(self) -> None:
        """Load what was spent today before this process started."""
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
        """Number of chat model calls today."""
        today = self.today
        return sum(calls for (day, purpose), calls in self._calls.items() if day == today and purpose not in UNMETERED)

    def calls_today(self, purpose: str) -> int:
        """Return the number of model calls for a purpose today."""
        return self._calls[self.today, purpose]

    def count(self, purpose: str, tokens: int, answered: int = 0) -> None:
        """Count one call for a purpose and its tokens; ``answered`` of them are the model's answer."""
        self._calls[self.today, purpose] += 1
        self._forget_old_days()
        tokens = max(tokens, 0)
        self._add(Spending(purpose, 1, tokens, answered=min(max(answered, 0), tokens)))

    def note_failure(self, purpose: str, *, is_away: bool) -> None:
        """Count a failure: an unreachable model or a bad answer, each in a counter of its own."""
        self._add(Spending(purpose, unreachable=int(is_away), bad=int(not is_away)))

    async def flush(self) -> None:
        """Write all unwritten counts; if the ledger is unavailable, keep them for the next try."""
        try:
            await completed(self._write())
        except UnavailableError as refused:
            self.loop.trouble.note(refused)
            self.loop.nudge()  # the loop tries again

    async def _round(self) -> float:
        await completed(self._write())
        return UNTIL_NUDGED

    async def _write(self) -> None:
        """Write all unwritten counts; must not be cancelled, because the effect of a cancelled write is unknown."""
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
        """Drop the oldest counts until :data:`REMEMBERED` are left."""
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
    """A chat model whose failures are counted, and with ``counts_calls`` also its calls."""

    chat: Chat
    meter: SpendingMeter
    counts_calls: bool = False

    async def ask(self, ask: Ask[T]) -> T:
        """Ask the model and return its parsed answer; a failure is counted before it is raised."""
        if self.counts_calls:
            self.meter.count(ask.purpose, 0)
        try:
            return await self.chat.ask(ask)
        except (UnavailableError, BadAnswer) as failure:
            self.meter.note_failure(ask.purpose, is_away=isinstance(failure, UnavailableError))
            raise
