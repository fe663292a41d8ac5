"""Attributes statements to speakers and subjects from known data; the model's answer is a hint only."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime

from ...domain.event import Event, Statement, duplicate_key
from ...domain.fact import EventKind
from ...domain.message import Message
from ...domain.people import JobContext, Person
from ...prompts.answers import StatementAnswer
from ...text.identity.labelling import ids_of, labelled
from ...text.identity.name_cleaning import one_line
from ...text.identity.persons import leads, opening_voice, reports
from ...text.identity.written_ids import plain
from ...text.statements.agreement import CitedLine
from ...text.statements.corrections import puts_right
from ...text.statements.sameness import may_be_same
from .echoes import CLAUSE_ENDS, content_of, echoes, words_of
from .supporting_people import Support, backers_of

READ = 2_000  # characters read of an answer
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN_WORD = re.compile("[A-Za-z]{2,}")
_FEW_WORDS = 3
_TIMES_OWN = 2  # a clause with more words of others than so many times those of its own speakers is borrowed
_TAKEN_UP = 2  # terms that a text shares with the line it rests on, if the model cites none


@dataclass(frozen=True)
class RewriteTask:
    """One observation, or one statement found by triage, to be rewritten so that it stands on its own.

    ``text`` is what is rewritten and ``original`` what was actually said. ``speakers`` are the ids of those who may
    have said it, the likeliest first; ``lines`` maps them to their visible lines. The rewrite must agree with the lines
    ``cited``. ``own`` is the person who said it themselves as code knows, not a model; "" if unknown. ``voices`` are
    the senders of the cited lines if they are several: what rests on all of them is nobody's own. ``beside`` are
    further lines of these people and lines that they answer, ``others`` the lines of everybody else. ``backing`` is
    what each sender's cited lines may support; ``dictated_by`` is who tells the memory what to write, or "".
    """

    number: int
    text: str
    original: str
    speakers: tuple[str, ...]
    lines: Mapping[str, str]
    own: str = ""
    observation: str = ""
    message_ids: tuple[str, ...] = ()
    happened_at: datetime | None = None
    cited: tuple[CitedLine, ...] = ()
    voices: tuple[str, ...] = ()
    beside: str = ""
    others: str = ""
    backing: Mapping[str, Support] = field(default_factory=dict[str, Support])
    dictated_by: str = ""


def stated(task: RewriteTask, said: StatementAnswer, job_context: JobContext) -> Statement:
    """Build a statement from a model's answer to a task; the gate decides separately whether it may be stored."""
    people = (job_context.speaker, *job_context.people)
    text = labelled(one_line(said.text[:READ]), people)
    (said_by_id,) = ids_of((said.speaker,), people)
    said = replace(said, speaker=said_by_id, subjects=ids_of(said.subjects, people))
    speaker = "" if task.voices else _speaker(said, text, task, job_context)
    is_supported = echoes(text, task.original, job_context)
    is_own = (
        is_supported
        and bool(speaker)
        and speaker == task.own
        and _names_speaker(said.speaker, job_context.named(speaker))
    )
    kind = _kind(said)
    is_experience = kind == "experience"
    return Statement(
        text,
        kind,
        subjects=tuple(dict.fromkeys((*_subjects(said.subjects, text, speaker, job_context), *task.voices))),
        speaker=speaker,
        confidence=_clamped(said.confidence),
        is_own=is_own,
        is_of_place=is_supported and job_context.place.group_id in said.subjects,
        repeats=_repeated_event_id(said.same_as, text, speaker, job_context),
        replaces=_replaced_event_id(said.replaces, text, speaker, job_context),
        observation=task.observation if is_own else "",
        voices=task.voices,
        backers=backers_of(text, task.backing, job_context) if task.voices else (),
        updates=_speaker_of_change(text, task, job_context),
        dictated_by=task.dictated_by,
        message_ids=task.message_ids,
        happened_at=task.happened_at,
        pain=said.pain if is_experience else "",
        solution=said.solution if is_experience else "",
        outcome=said.outcome if is_experience else "",
    )


def unworded(task: RewriteTask, text: str, job_context: JobContext) -> Statement:
    """Build a statement of an unchanged text that could not be rewritten, and mark it as not absolute."""
    speaker = "" if task.voices else task.speakers[0]
    return Statement(
        text,
        subjects=_subjects((), text, speaker, job_context),
        speaker=speaker,
        is_absolute=False,
        is_own=bool(speaker) and speaker == task.own,
        voices=task.voices,
        message_ids=task.message_ids,
        happened_at=task.happened_at,
    )


def repeated(event: Event, message_ids: Sequence[str]) -> Statement:
    """Build the statement of a person who repeats an event that is already stored."""
    return Statement(
        event.text,
        event.kind,
        subjects=event.subjects,
        speaker=event.sender_id,
        confidence=event.confidence,
        is_absolute=event.is_absolute,
        is_own=True,
        repeats=event.id,
        message_ids=tuple(message_ids),
        pain=event.pain,
        solution=event.solution,
        outcome=event.outcome,
    )


def said_by(lines: Iterable[Message]) -> dict[str, str]:
    """Return what each sender said, in the order of their first lines; the bot's lines are left out."""
    texts: dict[str, list[str]] = {}
    for line in lines:
        texts.setdefault(line.sender_id, []).append(line.text)
    return {sender: "\n".join(said) for sender, said in texts.items() if sender}


def _speaker(said: StatementAnswer, text: str, task: RewriteTask, job_context: JobContext) -> str:
    """Return the speaker whom the model names if their lines share a word with the text, else the likeliest one."""
    likeliest = task.speakers[0]
    if said.speaker == likeliest or said.speaker not in task.speakers:
        return likeliest
    return said.speaker if echoes(text, task.lines.get(said.speaker, ""), job_context) else likeliest


def _speaker_of_change(text: str, task: RewriteTask, job_context: JobContext) -> str:
    """Return the one speaker whose change a text states in that speaker's own words; "" unless exactly one does."""
    if not task.voices or not puts_right(text):
        return ""
    known = [person.id for person in (job_context.speaker, *job_context.people) if person.id]
    named = [one for one in dict.fromkeys(known) if f"({one})" in plain(text)]
    if len(named) != 1 or named[0] not in task.voices or reports(text, named[0]):
        return ""
    return named[0] if echoes(text, task.lines.get(named[0], ""), job_context) else ""


def _names_speaker(named: str, speaker: Person) -> bool:
    """Return whether the model named this speaker, by id, name or both, or named nobody."""
    called = (speaker.name, *speaker.aliases)
    return named in ("", speaker.id, *called) or plain(named) in {f"{plain(name)}({speaker.id})" for name in called}


def _kind(said: StatementAnswer) -> EventKind:
    if said.kind == "experience" and not (said.pain.strip() and said.solution.strip()):
        return "knowledge" if said.solution.strip() else "event"
    return said.kind


def _clamped(confidence: float) -> float:
    return 0.0 if math.isnan(confidence) else min(max(confidence, 0.0), 1.0)


def _subjects(listed: Iterable[str], text: str, speaker: str, job_context: JobContext) -> tuple[str, ...]:
    """Return the ids of the known people whom the model lists, and of those whom the text names by id.

    In the model's list an id of both a group and a person means the group. A speaker whom the model does not list is a
    subject only if the text begins with the speaker, is no report, and the model does not list the group.
    """
    listed, place = tuple(listed), job_context.place.group_id
    known = {person.id: person for person in (job_context.speaker, *job_context.people) if person.id}
    named = [one for one in listed if one in known and one != place]
    written = plain(text)
    standing = [one for one, person in known.items() if _is_named_with_id(person, written, job_context)]
    is_of_speaker = place not in listed and leads(written, speaker, {*standing, place}) and not reports(text, speaker)
    return tuple(dict.fromkeys((*named, *(one for one in standing if one != speaker or is_of_speaker))))


def _is_named_with_id(person: Person, written: str, job_context: JobContext) -> bool:
    if person.id != job_context.place.group_id:
        return f"({person.id})" in written
    return any(f"{plain(name)}({person.id})" in written for name in (person.name, *person.aliases) if name)


def _repeated_event_id(number: int, text: str, speaker: str, job_context: JobContext) -> str:
    """Return the id of the neighbour that the model calls the same, if person, place and words allow that; else ""."""
    neighbour = _neighbour(number, speaker, job_context)
    return neighbour.id if neighbour and may_be_same(text, neighbour.text, speaker) else ""


def _replaced_event_id(number: int, text: str, speaker: str, job_context: JobContext) -> str:
    """Return the id of the neighbour that the model calls outdated, if its speaker and topic are the same; else ""."""
    neighbour = _neighbour(number, speaker, job_context) if speaker else None
    if neighbour is None or duplicate_key(neighbour.text) == duplicate_key(text):
        return ""
    return neighbour.id if echoes(text, neighbour.text, job_context) else ""


def _neighbour(number: int, speaker: str, job_context: JobContext) -> Event | None:
    """Return the neighbour of this number if it is an active event of this place by this speaker, else None."""
    if not 0 < number <= len(job_context.neighbours):
        return None
    neighbour = job_context.neighbours[number - 1]
    is_here = neighbour.scope == job_context.place and neighbour.retired_at is None
    return neighbour if is_here and neighbour.sender_id == speaker else None


def borrows(text: str, task: RewriteTask, job_context: JobContext) -> bool:
    """Return whether a clause of a text consists mainly of words from other people's lines (``task.others``).

    A model that obeys an instruction in the chat attributes the instruction's words to another person.
    """
    if not task.others:
        return False
    own = words_of(content_of(f"{task.original}\n{task.beside}", job_context))
    foreign = words_of(content_of(task.others, job_context)) - own
    return any(_is_borrowed(words_of(content_of(one, job_context)), own, foreign) for one in CLAUSE_ENDS.split(text))


def _is_borrowed(words: AbstractSet[str], own: AbstractSet[str], foreign: AbstractSet[str]) -> bool:
    taken = len(words & foreign)
    return taken >= _TAKEN_UP and taken > _TIMES_OWN * len(words & own)


def speaks_for_another(text: str, task: RewriteTask, job_context: JobContext) -> bool:
    """Return whether a text begins by quoting a person who sent none of the lines and whom no line names."""
    voice = opening_voice(plain(text))
    if not voice or voice in task.speakers:
        return False
    person = job_context.named(voice)
    return not any(name and name in task.original for name in (person.id, person.name, *person.aliases))


def is_translated(text: str, original: str) -> bool:
    """Return whether a text is Chinese and the words said are of another language, so that no words can be compared."""
    return bool(_HAN.search(text)) and not _HAN.search(original) and len(_LATIN_WORD.findall(original)) >= _FEW_WORDS


def likeliest(text: str, lines: Sequence[Message], job_context: JobContext) -> Message | None:
    """Return the line on which a text without citations most likely rests; None if none shares two words with it.

    It is the line with the most common words; lines of people whom the text names take precedence.
    """
    own, written = content_of(text, job_context), plain(labelled(text, (job_context.speaker, *job_context.people)))
    shared = [(len(own & content_of(line.text, job_context)), f"({line.sender_id})" in written, line) for line in lines]
    best = max(shared, key=lambda one: (one[1] and one[0] >= _TAKEN_UP, one[0]), default=None)
    return best[2] if best and best[0] >= _TAKEN_UP else None
