"""The historian with a model: one call per job, its answer checked, once more with feedback what failed.

What fails again is kept as it was said.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from .. import sentences
from ..domain.event import Statement, duplicate_key, exchange
from ..domain.job import JobContext
from ..domain.message import Message
from ..domain.scope import log_fields
from ..domain.turn import Dialogue, Turn
from ..errors import BadAnswer, CognitiveMemoryError, ModelRefused, PermanentError, TooSlow
from ..models.spending import Budget, NoModel
from ..ports import REFUSED, RETRIED, Chat, Historian, Tally
from ..prompts.answers import StatementAnswer
from ..prompts.library import PromptLibrary, Task
from ..settings.schema import Live, Settings
from ..text.callnames import ids_of
from ..text.cleaning import described
from ..text.numbers import values_of
from .pipeline import is_timeless
from .rules import may_be_worth_remembering
from .statements import GivenLines, Judged, as_noted, as_said, is_change, judged, quotes_of

log = logging.getLogger(__name__)


@dataclass
class _Work:
    """The work on one job: its lines, for each number an observation or "", and the model's last answer to each.

    ``open`` are the numbers that it will be asked for; ``passed`` are those whose text may be stored. Of the others no
    wording could be kept. ``calls`` counts the calls to the model so far.
    """

    job: Turn | Dialogue
    given: GivenLines
    notes: dict[int, str]
    open: list[int]
    job_context: JobContext
    calls: int = 0
    answers: dict[int, StatementAnswer] = field(default_factory=dict[int, StatementAnswer])
    judged: dict[int, Judged] = field(default_factory=dict[int, Judged])
    passed: set[int] = field(default_factory=set[int])

    def take(self, answers: Iterable[StatementAnswer]) -> list[str]:
        """Judge the answers to open numbers; return the codes of what is wrong with them.

        Takes long for many people and lines: call it off the event loop. The ``force`` of a turn allows words such as
        我 and 明天 in a text. A later answer that names no lines, or no event that it replaces, keeps the earlier ones.
        """
        is_forced, wrong = isinstance(self.job, Turn) and self.job.force, list[str]()
        for answer in answers:
            if (number := answer.number) not in self.open:
                continue
            before = self.answers.get(number, answer)
            lines, replaces = answer.lines or before.lines, answer.replaces or before.replaces
            self.answers[number] = replace(answer, lines=lines, replaces=replaces)
            found = judged(self.answers[number], self.given, self.job_context, self.notes[number])
            self.judged[number] = found
            wrong += found.verdict.reasons
            if found.is_carried and (found.verdict.is_usable if is_forced else found.verdict.is_absolute):
                self.passed.add(number)
            if number in self.passed or not found.is_carried:
                self.open.remove(number)
        return wrong

    def tasks(self) -> list[Task]:
        """Return what is asked of the model next, with the last text and what is wrong with it."""
        asked: list[Task] = []
        for number in self.open:
            found = self.judged.get(number)
            said = self.notes[number] or exchange(quotes_of(self.cited(number), self.job_context))
            wrong = (found.statement.text, found.verdict.feedback) if found else ()
            asked.append(Task(number, said, *wrong))
        return asked

    def cited(self, number: int) -> list[Message]:
        """Return the lines that the last answer to a number cites."""
        return self.given.cited(self.answers[number].lines) if number in self.answers else []


@dataclass(eq=False)
class ModelHistorian:
    """Rewrites with one chat model and triages with another; where a model fails, with ``rules``."""

    rewriting: Chat
    triaging: Chat
    prompts: PromptLibrary
    settings: Live[Settings]
    rules: Historian
    tally: Tally = field(default_factory=Tally)

    async def statements(self, work: Turn | Dialogue, job_context: JobContext) -> list[Statement]:
        """Return what the model says of each observation, or of what is worth remembering, with the lines it cites."""
        if isinstance(work, Turn):
            return await self._rewrite(work, job_context)
        return await self._triage(work, job_context)

    async def _rewrite(self, turn: Turn, job_context: JobContext) -> list[Statement]:
        """Rewrite each observation as a statement that cites lines of the turn; equal ones give equal statements.

        An observation that the model refuses, or words wrongly to the end, is kept as the bot's note.
        """
        work = _work_of(turn, job_context)
        try:
            await self._ask_until_done(work)
        except PermanentError as refusal:  # perhaps of another person's line, and not of the observations
            _warn(job_context, described(refusal))
            work.given, work.job_context = GivenLines(()), replace(work.job_context, neighbours=())
            try:
                await self._ask_until_done(work)
            except PermanentError as again:
                _warn(job_context, described(again))

        least, texts = self.settings.current.historian.min_confidence, dict[str, Statement]()
        for number, note in work.notes.items():
            if number not in work.passed:
                _warn(job_context, sentences.log.GATE_GAVE_UP.format(count=1))
                texts[duplicate_key(note)] = as_noted(note, turn)
                continue
            said = _marked(work.judged[number], least)
            is_again = said.speaker in ("", turn.scene.user_id) and is_timeless(note)
            is_again = is_again and values_of(said.text) <= values_of(note)  # else dated: of another occasion later
            sources = tuple(dict.fromkeys((*turn.message_ids, *said.message_ids)))
            texts[duplicate_key(note)] = replace(said, message_ids=sources, observation=note if is_again else "")
        return [texts[duplicate_key(observation)] for observation in turn.observations]

    async def _triage(self, dialogue: Dialogue, job_context: JobContext) -> list[Statement]:
        """Return what is worth remembering as statements, each with the lines on which it rests."""
        if not any(line.sender_id and line.text.strip() for line in dialogue.messages):
            return []
        triaged, job_context = await self._triaged(dialogue, job_context)
        given = GivenLines(dialogue.messages, (*job_context.answered, *job_context.earlier))
        cited = [one for one in triaged if given.cited(one.lines)]
        if triaged and not any(one.lines for one in triaged):
            return await self.rules.statements(dialogue, job_context)  # the model cannot cite
        if len(cited) < len(triaged):  # invented, or said by the bot
            _warn(job_context, sentences.log.UNCITED.format(count=len(triaged) - len(cited)))
        answers = [replace(one, number=number) for number, one in enumerate(cited, 1)]
        numbers = [answer.number for answer in answers]
        work = _Work(dialogue, given, dict.fromkeys(numbers, ""), numbers, job_context, calls=1)
        await self._take(work, answers)
        await self._ask_until_done(work)

        # what did not pass is kept as it was said, unless another statement quotes its lines
        least = self.settings.current.historian.min_confidence
        found = [_marked(work.judged[number], least) for number in work.notes if number in work.passed]
        quoted = {quote.message_id for statement in found for quote in statement.quotes}
        failed = [number for number in work.notes if number not in work.passed]
        if failed:
            _warn(job_context, sentences.log.GATE_QUOTED.format(count=len(failed)))
        for number in failed:
            lines = work.cited(number)
            if not quoted.issuperset(line.id for line in lines):
                found.append(self._quoted(work, number, lines))
                quoted.update(line.id for line in lines)
        return found

    def _quoted(self, work: _Work, number: int, lines: Sequence[Message]) -> Statement:
        """Keep the lines of a failed answer as they were said; whom they are about and what they change is not lost."""
        answer, wanted = work.answers[number], work.judged[number].statement
        said = as_said(lines, work.given, work.job_context, answer.kind)
        about = ids_of(answer.subjects, work.job_context.people)  # its text, which did not pass, may name others
        is_own = said.speaker in about and {line.sender_id for line in lines} == {said.speaker}
        said = replace(said, subjects=(said.speaker,) if is_own else (), is_of_place=wanted.is_of_place)
        old = dict(enumerate(work.job_context.neighbours, 1)).get(answer.replaces)
        if old is None or answer.confidence < self.settings.current.historian.min_confidence:
            return said
        is_new = is_change("", lines[-1], said.speaker, old, work.job_context, is_rule=said.is_of_place)
        return replace(said, replaces=old.id if is_new else "")

    async def _ask_until_done(self, work: _Work) -> None:
        """Ask until every text passes or the tries are used up.

        An error of the first call is raised, except for a bad or late answer on the job's last try; after one of a
        later call the texts so far stand.
        """
        tries = self.settings.current.historian.rewrite_max_retry + 1
        source = work.job.source_message if isinstance(work.job, Turn) else ""
        while work.open and work.calls < tries:
            ask = await asyncio.to_thread(
                self.prompts.rewrite, work.tasks(), work.job_context, source=source, lines=work.given.numbered
            )
            try:
                self.tally.count(RETRIED, int(work.calls > 0))
                await self._take(work, await self.rewriting.ask(ask))
            except CognitiveMemoryError as failure:
                is_excused = isinstance(failure, BadAnswer | TooSlow) and work.job_context.is_last_try
                if not (work.calls or is_excused):
                    raise
                _warn(work.job_context, described(failure))
                return
            work.calls += 1

    async def _triaged(
        self, dialogue: Dialogue, job_context: JobContext
    ) -> tuple[tuple[StatementAnswer, ...], JobContext]:
        """Triage a dialogue; if the model refuses it, once more without neighbours.

        A bad or late answer on the last try raises PermanentError, as a refusal does.
        """
        bare = replace(job_context, neighbours=())
        for tried in (job_context, bare) if job_context.neighbours else (bare,):
            ask = await asyncio.to_thread(self.prompts.triage, dialogue.messages, tried)
            try:
                return await self.triaging.ask(ask), tried
            except (BadAnswer, TooSlow) as failure:
                if not job_context.is_last_try:
                    raise
                raise PermanentError(described(failure)) from failure
            except PermanentError as refusal:
                if tried is bare:
                    raise
                _warn(job_context, described(refusal))
        raise AssertionError("the last try returns or raises")

    async def _take(self, work: _Work, answers: Sequence[StatementAnswer]) -> None:
        for reason in await asyncio.to_thread(work.take, answers):
            self.tally.count(f"{REFUSED}{reason}")


def _marked(found: Judged, least: float) -> Statement:
    """Return the statement; one that leans on its moment, or of which the model is unsure, relates to no other."""
    said = replace(found.statement, is_absolute=found.verdict.is_absolute)
    if said.is_absolute and said.confidence >= least:
        return said
    return replace(said, is_absolute=False, repeats="", replaces="", observation="")


def _work_of(turn: Turn, job_context: JobContext) -> _Work:
    """Return the work of a turn: each distinct observation, and its lines.

    The message that the turn answers is the last line if the lines before its end lack it.
    """
    notes: dict[str, str] = {}
    for observation in turn.observations:
        notes.setdefault(duplicate_key(observation), observation)
    lines, source = list(turn.recent_messages), turn.source_message.strip()
    if source and turn.message_ids:
        known = [line for line in lines if isinstance(line, Message)]
        own = (line.text.strip() for line in known if line.sender_id == turn.scene.user_id)
        if source not in own and not any(line.id in turn.message_ids for line in known):
            lines.append(Message(turn.message_ids[-1], turn.scene, source, job_context.when))
    numbers = list(range(1, len(notes) + 1))
    return _Work(turn, GivenLines(lines), dict(zip(numbers, notes.values(), strict=True)), numbers, job_context)


def _warn(job_context: JobContext, said: str) -> None:
    fields = log_fields("rewrite", job_id=job_context.job_id, place=job_context.place)
    log.warning("historian_rewrite job=%s: %s", job_context.job_id, said, extra=fields)


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

    async def statements(self, work: Turn | Dialogue, job_context: JobContext) -> list[Statement]:
        """Ask the model; use the rules if it refuses the work, or if the day's calls or the place's share are spent."""
        if isinstance(work, Dialogue) and not may_be_worth_remembering(work):
            log.debug("historian_triage job=%s: passed over, %d lines", job_context.job_id, len(work.messages))
            return []
        if self.budget.take(job_context.place):
            try:
                return await self.model.statements(work, job_context)
            except PermanentError as refusal:
                _warn(job_context, described(refusal))
            except ModelRefused as refusal:
                if refusal.waited < REFUSED_FOR:
                    raise
                _warn(job_context, sentences.log.BY_RULES.format(reason=described(refusal)))
                by_rules = await self.rules.statements(work, job_context)
                return [replace(statement, is_absolute=False) for statement in by_rules]
            except NoModel:
                pass
        return await self.rules.statements(work, job_context)
