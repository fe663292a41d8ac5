"""What became of each matter so far: the best that a model wrote of it, and what is still to be asked again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ... import sentences
from ...domain.event import Statement
from ...domain.people import Anchors
from ...domain.turn import shortened
from ...prompts.answers import Said
from ...prompts.library import Task
from ...text.identity.names import one_line
from .attribution import RewriteTask, echoes, is_translated, stated
from .gate import Around, Verdict, judge_amid

PREVIOUS = 500  # characters of a rejected text that are shown again
NAMED = 8  # of each kind of hit in the feedback


@dataclass(frozen=True)
class Attempt:
    """One statement that a model wrote, and what the gate says of it."""

    statement: Statement
    verdict: Verdict

    @property
    def rank(self) -> tuple[bool, int]:
        """Order attempts: usable ones first, of those the one that leans least on its moment."""
        return (self.verdict.is_usable, -len(self.verdict.offences))


@dataclass
class RewriteBatch:
    """The matters of one job with what was written of them; ``force`` takes whatever may be stored at once."""

    matters: Sequence[RewriteTask]
    context: Sequence[str]
    anchors: Anchors
    force: bool = False
    calls: int = 0
    _best: dict[int, Attempt] = field(default_factory=dict[int, Attempt])
    _last: dict[int, Attempt] = field(default_factory=dict[int, Attempt])

    @property
    def open(self) -> list[RewriteTask]:
        """Give the matters of which nothing was accepted."""
        return [matter for matter in self.matters if not self._is_accepted(matter)]

    def tasks(self) -> list[Task]:
        """Ask for what is open: with what was written last, and why not, where anything was."""
        return [self._task(matter) for matter in self.open]

    @cached_property
    def around(self) -> Around:
        """What the model was given beside each matter."""
        return Around(tuple(self.context))

    def tried(self, answers: Iterable[Said]) -> list[tuple[RewriteTask, Attempt]]:
        """Judge an answer; what is missing is an empty text.

        Changes nothing, and takes a tenth of a second for many people and long texts: not for the event loop.
        """
        said = {answer.number: answer for answer in answers}
        return [(matter, self._attempt(matter, said.get(matter.number))) for matter in self.open]

    def note(self, attempts: Iterable[tuple[RewriteTask, Attempt]]) -> None:
        """Take in what was tried."""
        for matter, attempt in attempts:
            self._last[matter.number] = attempt
            best = self._best.get(matter.number)
            if best is None or attempt.rank >= best.rank:
                self._best[matter.number] = attempt

    def outcomes(self) -> Iterator[tuple[RewriteTask, Attempt | None]]:
        """Give each matter with the best that may be stored, None where nothing may."""
        for matter in self.matters:
            attempt = self._best.get(matter.number)
            yield matter, attempt if attempt and attempt.verdict.is_usable else None

    def _is_accepted(self, matter: RewriteTask) -> bool:
        attempt = self._best.get(matter.number)
        if attempt is None:
            return False
        return attempt.verdict.is_usable if self.force else attempt.verdict.is_absolute

    def _attempt(self, matter: RewriteTask, said: Said | None) -> Attempt:
        statement = stated(matter, said or Said(matter.number, ""), self.anchors)
        judged = judge_amid(statement.text, matter.heard, self.around, self.anchors)
        verdict = self._founded(judged, statement.text, matter)
        return Attempt(_marked(statement, verdict), verdict)

    def _founded(self, verdict: Verdict, text: str, matter: RewriteTask) -> Verdict:
        """Fault, too, what takes up no word of what was heard: it says something else."""
        if verdict.faults or is_translated(text, matter.heard) or echoes(text, matter.heard, self.anchors):
            return verdict
        return replace(verdict, faults=("unfounded",))

    def _task(self, matter: RewriteTask) -> Task:
        last = self._last.get(matter.number)
        if last is None:
            return Task(matter.number, matter.text)
        previous = shortened(last.statement.text, PREVIOUS)
        is_unfounded = "unfounded" in last.verdict.faults
        text = shortened(one_line(matter.heard), PREVIOUS) if is_unfounded else matter.text
        return Task(matter.number, text, previous, feedback(last.verdict))


def feedback(verdict: Verdict) -> str:
    """Say to the model what is wrong with its text, hit by hit."""
    said = [sentences.feedback_of(fault) for fault in verdict.faults]
    for kind in dict.fromkeys(offence.kind for offence in verdict.offences):
        words = dict.fromkeys(offence.word for offence in verdict.offences if offence.kind == kind)
        said.append(sentences.feedback_leaning(kind, list(words)[:NAMED]))
    if verdict.lost_ids:
        said.append(sentences.feedback_lost(verdict.lost_ids[:NAMED]))
    if verdict.foreign_ids:
        said.append(sentences.feedback_foreign(verdict.foreign_ids[:NAMED]))
    return "".join(said)


def _marked(statement: Statement, verdict: Verdict) -> Statement:
    """Write the verdict into the statement: what leans on its moment is neither the same as another nor remembered."""
    if verdict.is_absolute:
        return statement
    return replace(statement, is_absolute=False, repeats="", heard_as="")
