"""The historian with a model: one call per turn, checked by the gate, and repeated with feedback on rejection."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from ... import sentences
from ...domain.event import Statement, duplicate_key
from ...domain.log_fields import log_fields
from ...domain.message import Message
from ...domain.people import JobContext
from ...domain.turn import Dialogue, Turn
from ...errors import BadAnswer, PermanentError, TooSlow
from ...ports.models import Chat, Historian
from ...ports.tally import REFUSED, RETRIED, Tally, Untallied
from ...prompts.answers import StatementAnswer, TriageAnswer
from ...prompts.library import PromptLibrary
from ...settings import Live, Settings
from ...text.failures import described
from ...text.identity.name_cleaning import one_line
from ...text.statements.agreement import CitedLine
from ..spending.call_budget import NoModel
from .attribution import RewriteTask, said_by, unworded
from .echoes import called
from .fallback_wording import cited_lines, quotations
from .progress import Progress
from .repeated_events import is_dated_anew, is_timeless
from .rewrite_batch import Attempt, RewriteBatch
from .triage import batch_of

log = logging.getLogger(__name__)
SMALL, FEW = 2_000, 40  # characters and people, up to which a prompt is written and judged on the event loop
T = TypeVar("T")
MOST_REFUSED = 3  # refusals in a row after which the remaining observations are taken for refused


class ModelHistorian:
    """Rewrites and triages with chat models. If a job fails after an answer, the answer is kept for its next try."""

    def __init__(
        self,
        rewriting: Chat,
        judging: Chat,
        prompts: PromptLibrary,
        settings: Live[Settings],
        rules: Historian,
        *,
        tally: Tally | None = None,
    ) -> None:
        """Rewrite with ``rewriting`` and triage with ``judging``; where a model fails, use ``rules``."""
        self._rules = rules
        self._rewriting = rewriting
        self._judging = judging
        self._prompts = prompts
        self._settings = settings
        self._tally = tally or Untallied()
        self._progress: Progress[RewriteBatch] = Progress()

    async def rewrite(self, turn: Turn, job_context: JobContext) -> list[Statement]:
        """Rewrite each observation as a statement; equal observations give equal statements.

        An observation that a model refuses, or does not make absolute within ``rewrite_max_retry`` retries, is stored
        marked as not absolute.
        """
        batch = self._progress.find(turn, job_context) or _batch(turn, job_context)
        batch.job_context = replace(batch.job_context, is_last_try=job_context.is_last_try)
        try:
            await self._retry_until_done(batch, turn, turn.source_message, turn.recent_messages)
        except PermanentError as refusal:
            _warn(batch, described(refusal))
            await self._spare(batch, turn)
        self._progress.forget(job_context.job_id)
        return self._written(turn, batch)

    async def triage(self, dialogue: Dialogue, job_context: JobContext) -> list[Statement]:
        """Return what is worth remembering as statements, attributed to the senders of the lines on which they rest."""
        if not any(line.sender_id and line.text.strip() for line in dialogue.messages):
            return []
        batch = self._progress.find(dialogue, job_context)
        if batch is None:
            triaged, job_context = await self._judged(dialogue, job_context)
            batch, answers = batch_of(triaged, dialogue, job_context)
            if not batch.tasks and _is_uncited(triaged):
                return await self._rules.triage(dialogue, job_context)
            await self._note(batch, answers)
            batch.calls += 1
        await self._retry_until_done(batch, dialogue, "", dialogue.messages)
        self._progress.forget(job_context.job_id)
        return await self._found(batch, dialogue)

    async def _retry_until_done(
        self, batch: RewriteBatch, work: Turn | Dialogue, source: str, lines: Sequence[Message | str]
    ) -> None:
        """Ask until every task is accepted or the tries are used up.

        An error of the first call is raised, except for a bad or late answer on the job's last try. After an error of a
        later call only a bad or late answer is asked for again.
        """
        tries = self._settings.current.historian.rewrite_max_retry + 1
        while batch.open and batch.calls < tries:
            self._progress.keep(work, batch.job_context, batch)
            ask = partial(self._prompts.rewrite, batch.prompt_tasks(), batch.job_context, source=source, lines=lines)
            question = await _computed(batch, ask)
            try:
                self._tally.count(RETRIED, int(batch.calls > 0))
                await self._note(batch, await self._rewriting.ask(question))
            except (BadAnswer, TooSlow) as failure:
                if not batch.calls:
                    _give_up(batch, failure)
                    break
            except (NoModel, PermanentError):
                if not batch.calls:
                    raise
                break
            batch.calls += 1

    async def _spare(self, batch: RewriteBatch, turn: Turn) -> None:
        """Ask again without surrounding lines and neighbours; if that is refused, too, ask for each observation alone.

        The provider may have refused another person's line, or a neighbour, and not the observation.
        """
        was_bare = not (batch.job_context.neighbours or turn.source_message or turn.recent_messages)
        batch.job_context = replace(batch.job_context, neighbours=())
        try:
            if (was_bare or await self._is_refused(batch, turn)) and len(batch.open) > 1:
                await self._ask_alone(batch, turn)
        finally:
            self._progress.keep(turn, batch.job_context, batch)

    async def _ask_alone(self, batch: RewriteBatch, turn: Turn) -> None:
        refused = 0
        for task in batch.open:
            refused = refused + 1 if await self._is_refused(replace(batch, tasks=[task]), turn) else 0
            if refused == MOST_REFUSED:
                return

    async def _is_refused(self, batch: RewriteBatch, turn: Turn) -> bool:
        try:
            await self._retry_until_done(batch, turn, "", ())
        except PermanentError as refusal:
            _warn(batch, described(refusal))
            return True
        return False

    async def _judged(self, dialogue: Dialogue, job_context: JobContext) -> tuple[TriageAnswer, JobContext]:
        """Triage a dialogue; if the model refuses it, once more without neighbours.

        A bad or late answer on the last try raises PermanentError, as a refusal does.
        """
        try:
            return await self._triaged(dialogue, job_context), job_context
        except (BadAnswer, TooSlow) as failure:
            if not job_context.is_last_try:
                raise
            raise PermanentError(described(failure)) from failure
        except PermanentError as refusal:
            if not job_context.neighbours:
                raise
            fields = log_fields("triage", job_id=job_context.job_id, place=job_context.place)
            log.warning("historian_triage job=%s: %s", job_context.job_id, described(refusal), extra=fields)
        bare = replace(job_context, neighbours=())
        return await self._triaged(dialogue, bare), bare

    async def _triaged(self, dialogue: Dialogue, job_context: JobContext) -> TriageAnswer:
        return await self._judging.ask(await asyncio.to_thread(self._prompts.triage, dialogue.messages, job_context))

    async def _note(self, batch: RewriteBatch, answers: Sequence[StatementAnswer]) -> None:
        """Judge an answer, then record it; if the job is cancelled while judging, nothing is recorded."""
        attempts = await _computed(batch, partial(batch.tried, answers))
        batch.note(attempts)
        for _, attempt in attempts:
            for reason in attempt.verdict.reasons:
                self._tally.count(f"{REFUSED}{reason}")

    def _written(self, turn: Turn, batch: RewriteBatch) -> list[Statement]:
        said = {duplicate_key(task.text): self._stored(task, best, batch) for task, best in batch.outcomes()}
        degraded = sum(best is None or not best.verdict.is_absolute for _, best in batch.outcomes())
        if degraded:
            _warn(batch, sentences.log.GATE_GAVE_UP.format(count=degraded))
        return [said[duplicate_key(observation)] for observation in turn.observations]

    async def _found(self, batch: RewriteBatch, dialogue: Dialogue) -> list[Statement]:
        outcomes = list(batch.outcomes())
        found = [(task, best) for task, best in outcomes if best is not None and best.is_statement]
        if len(found) < len(outcomes):
            _warn(batch, sentences.log.GATE_QUOTED.format(count=len(outcomes) - len(found)))
        statements = [self._stored(task, best, batch) for task, best in found]
        cited_ids = {line for statement in statements for line in statement.message_ids}
        left = [line for line in cited_lines(batch, dialogue) if line.id not in cited_ids]
        return [*statements, *await quotations(left, dialogue, batch, self._rules)]

    def _stored(self, task: RewriteTask, best: Attempt | None, batch: RewriteBatch) -> Statement:
        if best is None:
            text = task.text if one_line(task.text) else sentences.stored_text.NOTHING_SHOWN
            return unworded(task, text, batch.job_context)
        said = best.statement
        if said.confidence < self._settings.current.historian.min_confidence:
            return replace(said, is_absolute=False, repeats="", replaces="", observation="")
        return replace(said, observation="") if is_dated_anew(said.text, task.original) else said


def _is_uncited(triaged: TriageAnswer) -> bool:
    """Return whether a model found something worth remembering, but cited no line for any of it."""
    return bool(triaged.observations) and not any(one.lines for one in triaged.observations)


def _give_up(batch: RewriteBatch, failure: BadAnswer | TooSlow) -> None:
    """Log a failure of the first call on a job's last try; on an earlier try raise it, so that the job is retried."""
    if not batch.job_context.is_last_try:
        raise failure
    _warn(batch, described(failure))


async def _computed(batch: RewriteBatch, work: Callable[[], T]) -> T:
    """Run ``work`` directly if it takes about a millisecond, in a thread if there are many people or long texts."""
    length = sum(map(len, batch.context)) + sum(len(task.original) for task in batch.tasks)
    is_small = length <= SMALL and len(batch.job_context.people) <= FEW
    return work() if is_small else await asyncio.to_thread(work)


def _batch(turn: Turn, job_context: JobContext) -> RewriteBatch:
    """Build the rewrite batch of a turn: a task per distinct observation, the scene's person as likeliest speaker."""
    lines = [line for line in turn.recent_messages if isinstance(line, Message) and line.sender_id]
    lines_by_sender = {turn.scene.user_id: "", **said_by(lines)}
    texts = _once(turn.observations)
    tasks = [
        RewriteTask(
            number,
            text,
            text,
            tuple(lines_by_sender),
            lines_by_sender,
            own=turn.scene.user_id,
            observation=text if is_timeless(text, called(job_context)) else "",
            message_ids=tuple(turn.message_ids),
            cited=(CitedLine(text, job_context.when),),
        )
        for number, text in enumerate(texts, 1)
    ]
    said = (line if isinstance(line, str) else line.text for line in turn.recent_messages)
    return RewriteBatch(tasks, (turn.source_message, *said, *texts), job_context, force=turn.force)


def _once(texts: Sequence[str]) -> list[str]:
    first: dict[str, str] = {}
    for text in texts:
        first.setdefault(duplicate_key(text), text)
    return list(first.values())


def _warn(batch: RewriteBatch, said: str) -> None:
    fields = log_fields("rewrite", job_id=batch.job_context.job_id, place=batch.job_context.place)
    log.warning("historian_rewrite job=%s: %s", batch.job_context.job_id, said, extra=fields)
