"""From a model's answer to a statement: its text, the lines that it cites as quotes, and its one voice.

What fails the checks is kept as it was said (:func:`as_said`), whole; an observation of a chat plugin is kept as the
bot's note (:func:`as_noted`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .. import sentences
from ..domain.event import Event, EventKind, Quote, Statement, exchange
from ..domain.message import Message
from ..domain.people import JobContext
from ..domain.turn import Turn
from ..prompts.answers import StatementAnswer
from ..text.callnames import ids_of, labelled
from ..text.names import clean_name, one_line, plain
from ..text.statements.problems import shared
from .checks import READ, GivenLines, Verdict, carries, faults, is_change, is_same, judge

LEAST_TOLD = 0.5  # share of an experience's words that its lines tell, as of a suggestion's draft
KEPT_CONFIDENCE = 0.6  # of what is kept as it was said


@dataclass(frozen=True)
class Judged:
    """A model's statement, with the verdict of the gate and of the checks on its text.

    ``is_carried`` is false if nobody's cited lines carry the text; then no wording of it can be kept.
    """

    statement: Statement
    verdict: Verdict
    is_carried: bool = True


def judged(answer: StatementAnswer, given: GivenLines, job_context: JobContext, note: str = "") -> Judged:
    """Make a statement of an answer and judge it against the lines that it cites, and ``note``, an observation."""
    people = (job_context.speaker, *job_context.people)
    text = labelled(one_line(answer.text[:READ]), people)
    cited = given.cited(answer.lines)
    senders = tuple(dict.fromkeys(line.sender_id for line in cited))
    (named,) = ids_of((answer.speaker,), people)
    named = named or (senders[0] if len(senders) == 1 else "")
    is_carried = named in senders and carries(named, text, cited, given, job_context)
    if note and not is_carried:  # the observation remains what the bot noted, in other words
        cited, named = [], ""
    whom = () if cited else (job_context.speaker.id,)  # a note is about a turn with this person
    lines = given.with_answered(cited)
    replaced = _neighbour(answer.replaces, job_context)
    kind = _kind(answer, "\n".join((note, *(line.text for line in lines))))
    verdict = judge(text, note or "\n".join(line.text for line in cited), given, job_context)
    told = f"{text}\n{answer.pain}\n{answer.solution}\n{answer.outcome}" if kind == "experience" else text
    if verdict.is_usable:
        others = replaced.quotes if replaced else ()
        verdict = replace(verdict, faults=tuple(faults(told, lines, job_context, others, note=note)))
    statement = Statement(
        text,
        kind,
        subjects=_subjects((*ids_of(answer.subjects, people), *whom), text, named, job_context),
        speaker=named,
        confidence=answer.confidence,
        is_of_place=job_context.place.group_id in ids_of(answer.subjects, people),
        quotes=quotes_of(lines, job_context) if cited else _noted(note),
        message_ids=tuple(line.id for line in cited),
        happened_at=cited[-1].sent_at if cited else None,
    )
    if kind == "experience":
        statement = replace(statement, pain=answer.pain, solution=answer.solution, outcome=answer.outcome)
    return Judged(_related(statement, answer, cited, job_context), verdict, is_carried or bool(note))


def as_said(
    cited: Sequence[Message], given: GivenLines, job_context: JobContext, kind: EventKind = "event"
) -> Statement:
    """Keep lines as they were said, whole, each reply with the line that it answers; the last sender is the voice."""
    lines, last = given.with_answered(cited), cited[-1]
    quotes = quotes_of(lines, job_context)
    return Statement(
        exchange(quotes),
        "event" if kind == "experience" else kind,
        subjects=(),
        speaker=last.sender_id,
        confidence=KEPT_CONFIDENCE,
        is_absolute=False,
        quotes=quotes,
        message_ids=tuple(line.id for line in cited),
        happened_at=last.sent_at,
    )


def as_noted(observation: str, turn: Turn) -> Statement:
    """Keep an observation that a chat plugin handed in as it is, as the bot's note about a turn with its person."""
    noted = one_line(observation) or sentences.stored_text.NOTHING_SHOWN
    return Statement(
        f"{sentences.stored_text.BOT_NOTED}：{noted}",
        subjects=(turn.scene.user_id,),
        confidence=KEPT_CONFIDENCE,
        is_absolute=False,
        quotes=_noted(noted),
        message_ids=tuple(turn.message_ids),
        observation=observation,
    )


def quotes_of(lines: Iterable[Message], job_context: JobContext) -> tuple[Quote, ...]:
    """Return lines as quotes, each with the name that its sender had then."""
    return tuple(Quote(line.id, line.sender_id, line.text, _name(line, job_context), line.sent_at) for line in lines)


def _name(line: Message, job_context: JobContext) -> str:
    if not line.sender_id:
        return ""
    return clean_name(line.scene.user_name) or clean_name(job_context.named(line.sender_id).name)


def _noted(note: str) -> tuple[Quote, ...]:
    return (Quote("", "", note),) if note else ()


def _related(
    statement: Statement, answer: StatementAnswer, cited: Sequence[Message], job_context: JobContext
) -> Statement:
    """Return the statement with the neighbour that it repeats or replaces, as far as the checks allow it."""
    same, old = (_neighbour(number, job_context) for number in (answer.same_as, answer.replaces))
    voice, text = statement.speaker, statement.text
    if same is not None and is_same(text, voice, same, job_context):
        return replace(statement, repeats=same.id)
    own = [line for line in cited if line.sender_id == voice]
    if old is not None and own and is_change(text, own[-1], voice, old, job_context, is_rule=statement.is_of_place):
        return replace(statement, replaces=old.id)
    return statement


def _neighbour(number: int, job_context: JobContext) -> Event | None:
    return job_context.neighbours[number - 1] if 0 < number <= len(job_context.neighbours) else None


def _subjects(listed: Iterable[str], text: str, voice: str, job_context: JobContext) -> tuple[str, ...]:
    """Return the ids of the known people whom the model lists, and of those but the voice whom the text names by id.

    What somebody says of others is no fact about themselves because the text says who said it.
    """
    place, written = job_context.place.group_id, plain(text)
    known = dict.fromkeys(one.id for one in (job_context.speaker, *job_context.people) if one.id and one.id != place)
    named = (one for one in known if one != voice and f"({one})" in written)
    return tuple(dict.fromkeys((*(one for one in listed if one in known), *named)))


def _kind(answer: StatementAnswer, told: str) -> EventKind:
    """Return the kind of a statement; of an experience the lines must have told the problem and the solution."""
    pain, solution = answer.pain.strip(), answer.solution.strip()
    if answer.kind != "experience" or (pain and solution and shared(f"{pain}\n{solution}", told) >= LEAST_TOLD):
        return answer.kind
    return "knowledge" if solution else "event"
