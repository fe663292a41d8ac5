"""Who said it, and of whom it speaks: decided from what is known, with the model's word as a hint at most."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ...domain.event import Event, Statement
from ...domain.fact import EventKind
from ...domain.message import Message
from ...domain.people import Anchors, Person
from ...prompts.answers import Said
from ...text.identity.names import one_line
from ...text.identity.persons import leads, reports
from ...text.identity.written_ids import plain, spoken
from ...text.lexical.frequency import FUNCTION_WORDS
from ...text.lexical.terms import index_terms
from ...text.statements.sameness import may_be_same

READ = 2_000  # characters of an answer that are looked at
_HEARD = 8_000  # of what somebody said
_LABEL = re.compile(r"[(（][^()（）\s]{1,128}[)）]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN_WORD = re.compile("[A-Za-z]{2,}")
_FEW_WORDS = 3


@dataclass(frozen=True)
class RewriteTask:
    """One thing to be put into words that stand on their own: an observation, or what a triage found.

    ``text`` is what is rewritten and ``heard`` what was really said. ``speakers`` are those who may have said it, the
    likeliest first, with the ``lines`` of theirs that are in sight, and ``own`` is whom code, and no model, knows to
    have said it of themselves, "" where it knows nobody.
    """

    number: int
    text: str
    heard: str
    speakers: tuple[str, ...]
    lines: Mapping[str, str]
    own: str = ""
    heard_as: str = ""
    message_ids: tuple[str, ...] = ()
    happened_at: datetime | None = None


def stated(matter: RewriteTask, said: Said, anchors: Anchors) -> Statement:
    """Make the statement of what a model said of a matter; whether it may be stored is the gate's to judge."""
    text = one_line(said.text[:READ])
    speaker = _speaker(said, text, matter, anchors)
    is_founded = echoes(text, matter.heard, anchors)
    is_own = is_founded and speaker == matter.own and _means(said.speaker, anchors.named(speaker))
    kind = _kind(said)
    is_experience = kind == "experience"
    return Statement(
        text,
        kind,
        subjects=_subjects(said.subjects, text, speaker, anchors),
        speaker=speaker,
        confidence=_clamped(said.confidence),
        is_own=is_own,
        is_of_place=is_founded and anchors.place.group_id in said.subjects,
        repeats=_repeated(said.same_as, text, speaker, anchors),
        heard_as=matter.heard_as if is_own else "",
        message_ids=matter.message_ids,
        happened_at=matter.happened_at,
        pain=said.pain if is_experience else "",
        solution=said.solution if is_experience else "",
        outcome=said.outcome if is_experience else "",
    )


def unworded(matter: RewriteTask, text: str, anchors: Anchors) -> Statement:
    """Make the statement of what nobody could put into other words: it stays as it is, and is not absolute."""
    speaker = matter.speakers[0]
    return Statement(
        text,
        subjects=_subjects((), text, speaker, anchors),
        speaker=speaker,
        is_absolute=False,
        is_own=speaker == matter.own,
        message_ids=matter.message_ids,
        happened_at=matter.happened_at,
    )


def repeated(event: Event, message_ids: Sequence[str]) -> Statement:
    """Make the statement that says once more, by the same person, what stands already."""
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
    """Give what each sender said, in the order of their first lines; lines of the bot have no sender."""
    spoken: dict[str, list[str]] = {}
    for line in lines:
        spoken.setdefault(line.sender_id, []).append(line.text)
    return {sender: "\n".join(said) for sender, said in spoken.items() if sender}


def called(anchors: Anchors) -> tuple[str, ...]:
    """Give every name of everybody and of the place, those they bore before and the short ones, too."""
    borne = (name for person in (anchors.speaker, *anchors.people) for name in (person.name, *person.aliases))
    names = [name for name in (*borne, anchors.place_name) if name]
    return tuple(dict.fromkeys((*names, *map(spoken, names))))


def _speaker(said: Said, text: str, matter: RewriteTask, anchors: Anchors) -> str:
    """Take the model's word for who said it only where a line of theirs holds a word of it."""
    likeliest = matter.speakers[0]
    if said.speaker == likeliest or said.speaker not in matter.speakers:
        return likeliest
    return said.speaker if echoes(text, matter.lines.get(said.speaker, ""), anchors) else likeliest


def _means(named: str, speaker: Person) -> bool:
    """Tell whether a model that named a speaker, by id, name or both, or nobody, meant this one."""
    called = (speaker.name, *speaker.aliases)
    return named in ("", speaker.id, *called) or plain(named) in {f"{plain(name)}({speaker.id})" for name in called}


def _kind(said: Said) -> EventKind:
    if said.kind == "experience" and not (said.pain.strip() and said.solution.strip()):
        return "knowledge" if said.solution.strip() else "event"
    return said.kind


def _clamped(confidence: float) -> float:
    return 0.0 if math.isnan(confidence) else min(max(confidence, 0.0), 1.0)


def _subjects(listed: Iterable[str], text: str, speaker: str, anchors: Anchors) -> tuple[str, ...]:
    """Give the known people whom the model lists, and those whom it forgot: they stand in the text as name(id).

    A group's number may be a person's, too: the model's word for it means the group. Who speaks makes a fact of their
    own: unless the model says so, a text is of its speaker only where it begins with them, and is neither a report nor,
    in the model's word, about the group.
    """
    listed, place = tuple(listed), anchors.place.group_id
    known = {person.id: person for person in (anchors.speaker, *anchors.people) if person.id}
    named = [one for one in listed if one in known and one != place]
    written = plain(text)
    standing = [one for one, person in known.items() if _stands(person, written, anchors)]
    is_of_speaker = place not in listed and leads(written, speaker, {*standing, place}) and not reports(text, speaker)
    return tuple(dict.fromkeys((*named, *(one for one in standing if one != speaker or is_of_speaker))))


def _stands(person: Person, written: str, anchors: Anchors) -> bool:
    if person.id != anchors.place.group_id:
        return f"({person.id})" in written
    return any(f"{plain(name)}({person.id})" in written for name in (person.name, *person.aliases) if name)


def _repeated(number: int, text: str, speaker: str, anchors: Anchors) -> str:
    """Give the neighbour that the model says is the same, where it can be: same person, same place, no word against."""
    if not 0 < number <= len(anchors.neighbours):
        return ""
    neighbour = anchors.neighbours[number - 1]
    is_here = neighbour.scope == anchors.place and neighbour.retired_at is None
    is_theirs = is_here and neighbour.sender_id == speaker
    return neighbour.id if is_theirs and may_be_same(text, neighbour.text, speaker) else ""


def echoes(text: str, heard: str, anchors: Anchors) -> bool:
    """Tell whether a text takes up at least a word of what was said, names and labels aside.

    What shares nothing with somebody's own words is nothing that they said, whatever line is cited: 150 of 152 true
    statements take up a word of their lines, and 1 of 85 lines chosen at random holds one of a statement.
    """
    own, source = _content(text, anchors), _content(heard, anchors)
    words, heard_words = _words(own), _words(source)
    if words and heard_words:
        return not words.isdisjoint(heard_words)
    return not own.isdisjoint(source)


def is_translated(text: str, heard: str) -> bool:
    """Tell whether a text came into Chinese from words of another language, of which it can hold none."""
    return bool(_HAN.search(text)) and not _HAN.search(heard) and len(_LATIN_WORD.findall(heard)) >= _FEW_WORDS


def _content(text: str, anchors: Anchors) -> set[str]:
    text = _LABEL.sub(" ", text[:_HEARD])
    for name in called(anchors):
        text = text.replace(name, " ")
    terms = set(index_terms(text))
    return terms - FUNCTION_WORDS or terms


def _words(terms: Iterable[str]) -> set[str]:
    """Give the terms that are more than a single character, of which hundreds stand in every other sentence."""
    return {term for term in terms if len(term) > 1 and term not in FUNCTION_WORDS}
