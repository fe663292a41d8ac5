"""Per-task rewrite state of one job: the best answer so far, and the tasks still open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ... import sentences
from ...domain.event import Statement
from ...domain.people import JobContext
from ...domain.turn import shortened
from ...prompts.answers import StatementAnswer
from ...prompts.library import Task
from ...text.identity.name_cleaning import one_line
from ...text.statements.agreement import disagreements
from ...text.time.time_words import with_days
from .attribution import RewriteTask, borrows, is_translated, speaks_for_another, stated
from .echoes import called, rests_on
from .statement_gate import Around, Verdict, judge_amid
from .supporting_people import is_own_word

PREVIOUS = 500  # characters of a rejected text shown in the next prompt
CONTRARY = frozenset(("polarity", "question", "figure", "amount"))  # faults of a text that contradicts its lines
NAMED = 8  # hits of each kind listed in the feedback


@dataclass(frozen=True)
class Attempt:
    """One statement that a model wrote, with the gate's verdict."""

    statement: Statement
    verdict: Verdict

    @property
    def rank(self) -> tuple[bool, int]:
        """Sort key of attempts: usable ones rank higher, then those with fewer offences."""
        return (self.verdict.is_usable, -len(self.verdict.offences))

    @property
    def is_statement(self) -> bool:
        """Whether the text may be stored as a statement; one with words such as 我 or 周四 is replaced by its lines."""
        return self.verdict.is_absolute


@dataclass
class RewriteBatch:
    """The rewrite tasks of one job with their attempts; ``force`` accepts any usable text at once."""

    tasks: Sequence[RewriteTask]
    context: Sequence[str]
    job_context: JobContext
    force: bool = False
    calls: int = 0
    _best: dict[int, Attempt] = field(default_factory=dict[int, Attempt])
    _last: dict[int, Attempt] = field(default_factory=dict[int, Attempt])

    @property
    def open(self) -> list[RewriteTask]:
        """The tasks without an accepted text."""
        return [task for task in self.tasks if not self._is_accepted(task)]

    def prompt_tasks(self) -> list[Task]:
        """Return the prompt tasks for the open ones, with the last rejected text and its feedback."""
        return [self._prompt_task(task) for task in self.open]

    @cached_property
    def around(self) -> Around:
        """The texts that the model is given in addition to each task."""
        return Around(tuple(self.context))

    def tried(self, answers: Iterable[StatementAnswer]) -> list[tuple[RewriteTask, Attempt]]:
        """Judge the answers to the open tasks; a missing answer counts as an empty text.

        Changes no state. Takes up to 0.1 s for many people and long texts, so call it off the event loop.
        """
        said = {answer.number: answer for answer in answers}
        return [(task, self._attempt(task, said.get(task.number))) for task in self.open]

    def note(self, attempts: Iterable[tuple[RewriteTask, Attempt]]) -> None:
        """Record attempts of tasks; each task keeps its last and its best one."""
        for task, attempt in attempts:
            self._last[task.number] = attempt
            best = self._best.get(task.number)
            if best is None or attempt.rank >= best.rank:
                self._best[task.number] = attempt

    def outcomes(self) -> Iterator[tuple[RewriteTask, Attempt | None]]:
        """Yield each task with its best usable attempt, or None; in the attempt dates replace relative times."""
        for task in self.tasks:
            attempt = self._best.get(task.number)
            yield task, self._dated(task, attempt) if attempt and attempt.verdict.is_usable else None

    @property
    def unsettled(self) -> list[RewriteTask]:
        """The tasks whose best text is usable, but still has words that mean nothing out of the chat."""
        return [task for task, best in self.outcomes() if best and not best.is_statement]

    @property
    def contradicted(self) -> list[RewriteTask]:
        """The tasks whose last text contradicted its lines."""
        return [one for one in self.tasks if (last := self._last.get(one.number)) and CONTRARY & {*last.verdict.faults}]

    @property
    def misworded(self) -> list[RewriteTask]:
        """The tasks whose last text follows from their lines, but is in another language or has wrong ids."""
        last = [(one, self._last.get(one.number)) for one in self.tasks]
        return [one for one, is_so in last if is_so and (is_so.verdict.has_drift or "language" in is_so.verdict.faults)]

    def _is_accepted(self, task: RewriteTask) -> bool:
        attempt = self._best.get(task.number)
        if attempt is None:
            return False
        is_claim = is_own_word(task.original)  # the model is not asked to word one better
        return attempt.verdict.is_usable if self.force or is_claim else attempt.verdict.is_absolute

    def _attempt(self, task: RewriteTask, said: StatementAnswer | None) -> Attempt:
        statement = stated(task, said or StatementAnswer(task.number, ""), self.job_context)
        judged = judge_amid(statement.text, task.original, self.around, self.job_context)
        verdict = self._with_support_faults(judged, statement.text, task)
        return Attempt(_marked(statement, verdict), verdict)

    def _dated(self, task: RewriteTask, attempt: Attempt) -> Attempt:
        """Return the attempt with dates for its relative days, if its lines are of one day and the gate accepts it."""
        days = {line.when.date() if line.when else None for line in task.cited}
        said_at = task.cited[-1].when if task.cited else None
        if attempt.verdict.is_absolute or len(days) != 1 or said_at is None:
            return attempt
        text = with_days(attempt.statement.text, said_at, self._names)
        verdict = self._with_support_faults(judge_amid(text, task.original, self.around, self.job_context), text, task)
        if not verdict.is_absolute:
            return attempt
        return Attempt(replace(attempt.statement, text=text, is_absolute=True), verdict)

    def _with_support_faults(self, verdict: Verdict, text: str, task: RewriteTask) -> Verdict:
        """Return the verdict with "unfounded" as fault if a text has no basis in its lines, else contradictions."""
        if verdict.faults or verdict.has_drift or is_translated(text, task.original):
            return verdict
        is_supported = rests_on(text, task.original, self.job_context) and not borrows(text, task, self.job_context)
        if not is_supported or speaks_for_another(text, task, self.job_context):
            return replace(verdict, faults=("unfounded",))
        return replace(verdict, faults=disagreements(text, task.cited, self._names, self._remembered))

    @cached_property
    def _remembered(self) -> str:
        return "\n".join((self.around.plain, *(event.text for event in self.job_context.neighbours)))

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return called(self.job_context)

    def _prompt_task(self, task: RewriteTask) -> Task:
        last = self._last.get(task.number)
        if last is None:
            return Task(task.number, task.text)
        previous = shortened(last.statement.text, PREVIOUS)
        is_foreign = bool({"unfounded", "language"} & {*last.verdict.faults})
        text = shortened(one_line(task.original), PREVIOUS) if is_foreign else task.text
        return Task(task.number, text, previous, feedback(last.verdict))


def feedback(verdict: Verdict) -> str:
    """Return the feedback for the model on what is wrong with its text."""
    said = [sentences.feedback.FEEDBACK[fault] for fault in verdict.faults]
    for kind in dict.fromkeys(offence.kind for offence in verdict.offences):
        words = dict.fromkeys(offence.word for offence in verdict.offences if offence.kind == kind)
        said.append(sentences.feedback.feedback_leaning(kind, list(words)[:NAMED]))
    if verdict.lost_ids:
        said.append(sentences.feedback.feedback_lost(verdict.lost_ids[:NAMED]))
    if verdict.foreign_ids:
        said.append(sentences.feedback.feedback_foreign(verdict.foreign_ids[:NAMED]))
    return "".join(said)


def _marked(statement: Statement, verdict: Verdict) -> Statement:
    """Return a statement, marked if it is not absolute; a marked one neither repeats nor replaces an event."""
    if verdict.is_absolute:
        return statement
    return replace(statement, is_absolute=False, repeats="", replaces="", observation="")
