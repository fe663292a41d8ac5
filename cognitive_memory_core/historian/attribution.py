"""Who said it, and of whom it speaks: decided from what is known, with the model's word as a hint at most."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..domain.event import Event, Statement
from ..domain.fact import EventKind
from ..domain.people import Anchors, Person
from ..prompts.answers import Said
from ..text.frequency import FUNCTION_WORDS
from ..text.names import one_line
from ..text.persons import reports
from ..text.sameness import may_be_same
from ..text.terms import index_terms
from ..text.written_ids import plain, spoken

READ = 2_000  # characters of an answer that are looked at
_LABEL = re.compile(r"[(（][^()（）\s]{1,128}[)）]")


@dataclass(frozen=True)
class Matter:
    """One thing to be put into words that stand on their own: an observation, or what a triage found.

    ``text`` is what is rewritten and ``heard`` what was really said. ``speakers`` are those who may have said it, the
    likeliest first, and ``own`` is whom code, and no model, knows to have said it, "" where it knows nobody.
    """

    number: int
    text: str
    heard: str
    speakers: tuple[str, ...]
    own: str = ""
    heard_as: str = ""
    message_ids: tuple[str, ...] = ()
    happened_at: datetime | None = None


def stated(matter: Matter, said: Said, anchors: Anchors) -> Statement:
    """Make the statement of what a model said of a matter; whether it may be stored is the gate's to judge."""
    text = one_line(said.text[:READ])
    speaker = said.speaker if said.speaker in matter.speakers else matter.speakers[0]
    kind = _kind(said)
    is_experience = kind == "experience"
    return Statement(
        text,
        kind,
        subjects=_subjects(said.subjects, text, speaker, anchors),
        speaker=speaker,
        confidence=_clamped(said.confidence),
        is_own=speaker == matter.own and _echoes(text, matter.heard, anchors),
        is_of_place=anchors.place.group_id in said.subjects,
        repeats=_repeated(said.same_as, text, speaker, anchors),
        heard_as=matter.heard_as if speaker == matter.own else "",
        message_ids=matter.message_ids,
        happened_at=matter.happened_at,
        pain=said.pain if is_experience else "",
        solution=said.solution if is_experience else "",
        outcome=said.outcome if is_experience else "",
    )


def unworded(matter: Matter, text: str, anchors: Anchors) -> Statement:
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


def called(anchors: Anchors) -> tuple[str, ...]:
    """Give every name of everybody and of the place, those they bore before and the short ones, too."""
    borne = (name for person in (anchors.speaker, *anchors.people) for name in (person.name, *person.aliases))
    names = [name for name in (*borne, anchors.place_name) if name]
    return tuple(dict.fromkeys((*names, *map(spoken, names))))


def _kind(said: Said) -> EventKind:
    if said.kind == "experience" and not (said.pain.strip() and said.solution.strip()):
        return "knowledge" if said.solution.strip() else "event"
    return said.kind


def _clamped(confidence: float) -> float:
    return 0.0 if math.isnan(confidence) else min(max(confidence, 0.0), 1.0)


def _subjects(listed: Iterable[str], text: str, speaker: str, anchors: Anchors) -> tuple[str, ...]:
    """Give the known people whom the model lists, and those whom it forgot: they stand in the text as name(id).

    A group's number may be a person's, too: the model's word for it means the group. Whoever only reports is not
    spoken of unless the model says so.
    """
    known = {person.id: person for person in (anchors.speaker, *anchors.people) if person.id}
    named = [one for one in listed if one in known and one != anchors.place.group_id]
    written = plain(text)
    standing = (one for one, person in known.items() if _stands(person, written, anchors))
    forgotten = (one for one in standing if one != speaker or not reports(text, one))
    return tuple(dict.fromkeys((*named, *forgotten)))


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
    return neighbour.id if is_here and neighbour.sender_id == speaker and may_be_same(text, neighbour.text) else ""


def _echoes(text: str, heard: str, anchors: Anchors) -> bool:
    """Tell whether a text takes up at least a word of what was said, names and labels aside.

    What shares nothing with somebody's own words is nothing that they said of themselves, whatever line is cited: 63
    of 64 true statements take up a word of their line, and 1 of 85 lines chosen at random holds one of a statement.
    """
    own, source = _content(text, anchors), _content(heard, anchors)
    return not own.isdisjoint(source)


def _content(text: str, anchors: Anchors) -> set[str]:
    text = _LABEL.sub(" ", text)
    for name in called(anchors):
        text = text.replace(name, " ")
    terms = set(index_terms(text))
    telling = {term for term in terms if len(term) > 1 and term not in FUNCTION_WORDS}
    return telling or terms
