"""Counts what models cost, and enforces ``daily_calls``: after the day's calls the rules replace the models."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from .. import sentences
from ..domain.figures import Spending
from ..domain.scope import Scope
from ..errors import BadAnswer, UnavailableError
from ..ports import Ask, Chat, Clock
from ..settings.schema import Live, Settings
from ..store.ledger import Housekeeping
from ..tasks import WriteLoop
from .breaker import Breaker

LONGEST_PAUSE = 30.0  # seconds between two tries while the accounts are unavailable
PAUSE = 1.0  # seconds between writes: a process that is killed loses the counts of up to this long
UNMETERED = ("embedding", "rerank")  # purposes that no daily limit counts
MERGE, EVOLUTION = "merge", "evolution"  # purposes of profile merge calls and of evolution
T = TypeVar("T")


class Budget:
    """Counts what models cost, and bounds the calls of a day by ``daily_calls``; 0 means no limit.

    It counts in memory at once and writes in batches; counts that could not be written are kept and retried. Running
    calls count as made. Once half of the day's calls are spent, a place that made a quarter of all allowed calls is
    refused if other places call, too. Profile merges get at most half of the day's calls, and so does evolution.
    """

    def __init__(self, accounts: Housekeeping, clock: Clock, settings: Live[Settings]) -> None:
        """Write to accounts, by calendar day in the zone of the settings."""
        self.settings = settings
        self.under_way = Counter[str]()  # by purpose
        self._accounts, self._clock, self._zone = accounts, clock, settings.current.zone
        self._waiting: defaultdict[tuple[date, str], Counter[str]] = defaultdict(Counter)  # by day and purpose
        self._calls: defaultdict[date, Counter[str]] = defaultdict(Counter)  # by purpose
        self._taken: tuple[date, Counter[Scope]] = self.today, Counter()  # by the places of one day
        self.loop = WriteLoop("accounts", self._write, debounce=PAUSE, longest_pause=LONGEST_PAUSE)
        self.flush = self.loop.flush

    async def load(self) -> None:
        """Load what was spent today before this process started."""
        try:
            for day, spending in await self._accounts.spent(self.today):
                self._calls[day][spending.purpose] = spending.calls
        except UnavailableError as refused:
            self.loop.trouble.note(refused)

    @property
    def today(self) -> date:
        """The day in the zone."""
        return self._clock.now().astimezone(self._zone).date()

    def count(self, purpose: str, tokens: int, answered: int = 0) -> None:
        """Count one call for a purpose and its tokens; ``answered`` of them are the model's answer."""
        self._calls[self.today][purpose] += 1
        tokens = max(tokens, 0)
        self._add(purpose, calls=1, tokens=tokens, answered=min(max(answered, 0), tokens))

    def note_failure(self, purpose: str, *, is_away: bool) -> None:
        """Count a failure: an unreachable model or a bad answer, each in a counter of its own."""
        self._add(purpose, unreachable=int(is_away), bad=int(not is_away))

    @property
    def is_spent(self) -> bool:
        """Whether the day's calls are spent."""
        return self._has_made(1)

    @property
    def leaves_half(self) -> bool:
        """Whether half of the day's calls are left, which belong to what is said today."""
        return not self._has_made(2)

    def bears(self, purpose: str) -> bool:
        """Return whether a model may be called for a purpose now; merging and evolution get half of the calls each."""
        return not (self.is_spent or (purpose in (MERGE, EVOLUTION) and self._has_made(2, purpose)))

    def take(self, place: Scope) -> bool:
        """Return whether a place may call a model now; if so, count the call."""
        if self._taken[0] != self.today:
            self._taken = self.today, Counter()
        taken = self._taken[1]
        if not self.leaves_half and len(taken) > 1 and taken[place] * 4 >= self.settings.current.daily_calls:
            return False
        taken[place] += 1
        return True

    def _has_made(self, times: int, purpose: str = "") -> bool:
        """Return whether the day's calls, of one purpose or of all chat models, reach this part of those allowed."""
        made = self._calls[self.today] + self.under_way
        calls = made[purpose] if purpose else made.total() - sum(made[one] for one in UNMETERED)
        return 0 < self.settings.current.daily_calls <= calls * times

    async def _write(self) -> None:
        """Write all unwritten counts; must not be cancelled, because the effect of a cancelled write is unknown."""
        for (day, purpose), waiting in list(self._waiting.items()):
            if counts := +waiting:
                await self._accounts.spend(day, Spending(purpose, **counts))
                waiting.subtract(counts)  # what was counted meanwhile stays

    def _add(self, purpose: str, **counts: int) -> None:
        self._waiting[self.today, purpose].update(counts)
        self.loop.nudge()


class NoModel(UnavailableError):
    """No model may be called now: none is set, or the day's calls are spent. Callers fall back to the rules."""


class NothingLent(NoModel):
    """The role has no model of its own, and nobody lends one now."""


@dataclass(frozen=True)
class BudgetedChat:
    """A chat model within the day's calls and behind its breaker; its failures are counted.

    ``lent`` finds the model of each question, and raises NothingLent while there is none.
    """

    chat: Chat | None
    breaker: Breaker
    budget: Budget
    lent: Callable[[], Awaitable[Chat]] | None = None

    async def ask(self, ask: Ask[T]) -> T:
        """Ask the model and return its parsed answer; raises NoModel, without a call, if it may not be called."""
        chat, under_way = await self.lent() if self.lent else self.chat, self.budget.under_way
        if chat is None:
            raise NoModel(sentences.models.NO_CHAT_MODEL)
        if not self.budget.bears(ask.purpose):
            raise NoModel(sentences.models.OVER_DAILY_CALLS.format(limit=self.budget.settings.current.daily_calls))

        async def asked() -> T:
            try:
                return await chat.ask(ask)
            except (UnavailableError, BadAnswer) as failure:
                self.budget.note_failure(ask.purpose, is_away=isinstance(failure, UnavailableError))
                raise

        under_way[ask.purpose] += 1
        try:
            return await self.breaker.call(asked)
        finally:
            under_way[ask.purpose] -= 1
