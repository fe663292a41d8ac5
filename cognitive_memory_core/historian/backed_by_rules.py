"""Historian and merger that ask a model while the budget allows it, and otherwise work by the rules."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from .. import sentences
from ..domain.event import Statement
from ..domain.people import JobContext
from ..domain.scope import log_fields
from ..domain.turn import Dialogue, Turn
from ..errors import ModelRefused, PermanentError
from ..models.spending import Budget, NoModel
from ..ports.models import Historian, MergedLines, MergeInput, Merger
from ..text.failures import described
from .rewriting.rules import may_be_worth_remembering

log = logging.getLogger(__name__)
REFUSED_FOR = 3600.0  # seconds for which jobs wait for an operator


@dataclass(frozen=True)
class BackedHistorian:
    """A historian by a model, or by rules.

    A dialogue in which the rules see nothing gives no statements and costs no call. If a provider refuses the key or
    the model, jobs wait for the operator, and after an hour the rules take them; the statements are then not absolute,
    so that the model improves an event when it is told again.
    """

    model: Historian
    rules: Historian
    budget: Budget

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
        if not may_be_worth_remembering(dialogue):
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
    """A merger by a model, or by rules, also for facts that the model refuses."""

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
