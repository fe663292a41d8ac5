"""Enforces ``daily_calls``: after the day's calls are spent, the rules replace the models."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import TypeVar

from .. import sentences
from ..domain.event import Statement
from ..domain.log_fields import log_fields
from ..domain.people import JobContext
from ..domain.scope import Scope
from ..domain.turn import Dialogue, Turn
from ..errors import ModelRefused, PermanentError, UnavailableError
from ..ports.models import Ask, Chat, FirstLook, Historian, MergedLines, MergeInput, Merger
from ..settings import Live, Settings
from ..text.failures import described
from .meter import SpendingMeter

log = logging.getLogger(__name__)
REFUSED_FOR = 3600.0  # seconds for which jobs wait for an operator
MERGE, EVOLUTION = "merge", "evolution"  # purposes of profile merge calls and of evolution
T = TypeVar("T")


class NoModel(UnavailableError):
    """No model may be called now: none is set, or the day's calls are spent. Callers fall back to the rules."""


@dataclass
class Budget:
    """Counts the calls of a day against ``daily_calls``; 0 means no limit. Running calls count as made.

    Once half of the day's calls are spent, a place that made a quarter of all allowed calls is refused if other places
    call, too. Profile merges get at most half of the day's calls, and so does evolution.
    """

    meter: SpendingMeter
    settings: Live[Settings]
    under_way: Counter[str] = field(default_factory=Counter[str], init=False)  # by purpose
    _day: date | None = field(default=None, init=False)
    _taken: Counter[Scope] = field(default_factory=Counter[Scope], init=False)

    @property
    def is_spent(self) -> bool:
        """Whether the day's calls are spent."""
        return 0 < self._limit <= self._calls

    def bears(self, purpose: str) -> bool:
        """Return whether a model may be called for a purpose now; merging and evolution get half of the calls each."""
        made = self.meter.calls_today(purpose) + self.under_way[purpose]
        has_had_its_share = purpose in (MERGE, EVOLUTION) and 0 < self._limit <= made * 2
        return not (self.is_spent or has_had_its_share)

    def take(self, place: Scope) -> bool:
        """Return whether a place may call a model now; if so, count the call."""
        if self._day != self.meter.today:
            self._day, self._taken = self.meter.today, Counter()
        is_scarce = 0 < self._limit <= self._calls * 2
        if is_scarce and len(self._taken) > 1 and self._taken[place] * 4 >= self._limit:
            return False
        self._taken[place] += 1
        return True

    @property
    def _limit(self) -> int:
        return self.settings.current.daily_calls

    @property
    def _calls(self) -> int:
        return self.meter.chat_calls_today + sum(self.under_way.values())


@dataclass(frozen=True)
class BudgetedChat:
    """Wraps a chat model; raises NoModel if there is none, or if it may not be called for the purpose now."""

    chat: Chat | None
    budget: Budget

    async def ask(self, ask: Ask[T]) -> T:
        """Ask the model and return its parsed answer; raises NoModel, without a call, if it may not be called."""
        if self.chat is None:
            raise NoModel(sentences.models.NO_CHAT_MODEL)
        if not self.budget.bears(ask.purpose):
            raise NoModel(sentences.models.OVER_DAILY_CALLS.format(limit=self.budget.settings.current.daily_calls))
        self.budget.under_way[ask.purpose] += 1
        try:
            return await self.chat.ask(ask)
        finally:
            self.budget.under_way[ask.purpose] -= 1


@dataclass(frozen=True)
class BackedHistorian:
    """Calls a model while the budget allows it, and uses the rules otherwise.

    A dialogue that ``look`` rejects gives no statements and costs no call. If a provider refuses the key or the model,
    jobs wait for the operator, and after an hour the rules take them; the statements are then not absolute, so that the
    model improves an event when it is told again.
    """

    model: Historian
    rules: Historian
    budget: Budget
    look: FirstLook

    async def rewrite(self, turn: Turn, job_context: JobContext) -> list[Statement]:
        """Rewrite each observation as a statement."""
        if self.budget.take(job_context.place):
            try:
                return await self.model.rewrite(turn, job_context)
            except ModelRefused as refusal:
                return _marked(refusal, await self.rules.rewrite(turn, job_context), job_context)
            except NoModel:
                pass
        return await self.rules.rewrite(turn, job_context)

    async def triage(self, dialogue: Dialogue, job_context: JobContext) -> list[Statement]:
        """Return what is worth remembering; use the rules if a provider refuses the dialogue."""
        if not await self.look.may_be_worth_remembering(dialogue, job_context):
            log.debug("historian_triage job=%s: passed over, %d lines", job_context.job_id, len(dialogue.messages))
            return []
        if self.budget.take(job_context.place):
            try:
                return await self.model.triage(dialogue, job_context)
            except PermanentError as refusal:
                fields = log_fields("triage", job_id=job_context.job_id, place=job_context.place)
                log.warning("historian_triage job=%s: %s", job_context.job_id, described(refusal), extra=fields)
            except ModelRefused as refusal:
                return _marked(refusal, await self.rules.triage(dialogue, job_context), job_context)
            except NoModel:
                pass
        return await self.rules.triage(dialogue, job_context)


def _marked(refusal: ModelRefused, statements: Sequence[Statement], job_context: JobContext) -> list[Statement]:
    """Return what the rules made of a job that a provider refuses; raise the refusal while the job should wait."""
    if refusal.waited < REFUSED_FOR:
        raise refusal
    fields = log_fields("rewrite", job_id=job_context.job_id, place=job_context.place)
    said = sentences.log.BY_RULES.format(reason=described(refusal))
    log.warning("historian_rewrite job=%s: %s", job_context.job_id, said, extra=fields)
    return [replace(statement, is_absolute=False) for statement in statements]


@dataclass(frozen=True)
class BackedMerger:
    """Calls a model while the budget allows it, and uses the rules otherwise and for facts that it refuses."""

    model: Merger
    rules: Merger

    async def merge(self, given: MergeInput, now: datetime) -> MergedLines:
        """Return the lines of a profile."""
        try:
            return await self.model.merge(given, now)
        except NoModel:
            pass
        except PermanentError as refusal:
            log.warning("historian_profile_merge %s: %s", given.new[0].key.entity_type, described(refusal))
        return await self.rules.merge(given, now)
