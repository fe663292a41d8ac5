"""The next portrait of somebody, as a model draws it and code composes it: bounded, never emptied, never cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from .. import sentences
from ..domain.event import duplicate_key
from ..domain.fact import Fact
from ..domain.people import Person
from ..domain.profile import Profile
from ..errors import BadAnswer
from ..ports.models import Chat, Portrait
from ..prompts.answers import Drawn
from ..prompts.library import PromptLibrary
from ..settings import Live, Settings
from ..text.names import clean_text, one_line
from ..text.outline import Section, headed, sections_of, written
from .bounded_change import Grounds, objection

MOST_TAGS, TAG_LENGTH = 12, 24
LINE_LENGTH = 120
TOLERATED = 1.25  # times max_chars: what a model that was asked to condense may still have
_SAYS_NOTHING = 40  # characters of a summary that may mean "nothing new"
_RULES = frozenset("-*_=~` \t")
_BULLETS = "-*+•·#> \t"
_TITLES = frozenset(sentences.PORTRAIT_HEADINGS.values())


@dataclass(frozen=True)
class ModelMerger:
    """Asks a chat model for a portrait, and once more, with the reason, where it cannot be used."""

    chat: Chat
    prompts: PromptLibrary
    settings: Live[Settings]

    async def merge(self, person: Person, profile: Profile | None, facts: Sequence[Fact], now: datetime) -> Portrait:
        """Give the portrait with the facts worked in; raises BadAnswer where both tries would do harm."""
        sitting = _Sitting(person, profile, facts, now, self.settings.current.profile.max_chars)
        first = await self._drawn(sitting)
        if first is None:
            return sitting.old
        complaint = sitting.complaint(first)
        if complaint is None:
            return first
        second = await self._drawn(sitting, complaint.feedback)
        return sitting.better(first, second)

    async def _drawn(self, sitting: _Sitting, feedback: str = "") -> Portrait | None:
        """Ask once; None means that there is nothing new."""
        ask = self.prompts.merge(
            sitting.person, sitting.shown, sitting.facts, sitting.now, max_chars=sitting.limit, feedback=feedback
        )
        drawn = await self.chat.ask(ask)
        return None if _has_nothing_new(drawn) else sitting.composed(drawn)


@dataclass(frozen=True)
class _Complaint:
    """What is wrong with a portrait, in a few words and in words for the model."""

    fault: str
    feedback: str


@dataclass(frozen=True)
class _Sitting:
    """One person, their portrait so far, and what is new.

    Sections under headings that no portrait of ours has were put there by people: no model sees or changes them.
    """

    person: Person
    profile: Profile | None
    facts: Sequence[Fact]
    now: datetime
    max_chars: int

    @cached_property
    def old(self) -> Portrait:
        """What stands."""
        return Portrait(self.profile.tags, self.profile.summary) if self.profile else Portrait((), "")

    @cached_property
    def limit(self) -> int:
        """How many characters the model has: at least half of them, whatever people wrote."""
        return max(self.max_chars - len(self._others), self.max_chars // 2, 1)

    @cached_property
    def shown(self) -> Profile | None:
        """The portrait as the model sees it."""
        return replace(self.profile, summary=written(self._own).strip()) if self.profile else None

    def composed(self, drawn: Drawn) -> Portrait:
        """Write what the model drew as tags and Markdown; tags and a summary that it left out stay."""
        listed = [(title, lines) for title, lines in _listed(drawn) if lines]
        parts = [self._lead(drawn), *(_section(title, lines) for title, lines in listed), self._others]
        return Portrait(_tags(drawn.tags) or self.old.tags, "\n\n".join(part for part in parts if part))

    def complaint(self, portrait: Portrait) -> _Complaint | None:
        """Say what is wrong with a portrait."""
        refused = objection(self._drawn_part(portrait), self._grounds)
        if refused:
            return _Complaint(refused.kind, refused.feedback)
        length = self._length(portrait)
        if length > self.limit:
            return _Complaint("too_long", sentences.portrait_too_long(length, self.limit))
        return None

    def better(self, first: Portrait, second: Portrait | None) -> Portrait:
        """Choose between a first try with a fault and the second; None says that there was nothing new after all."""
        for portrait in (second, first):
            if portrait is not None and self._is_tolerable(portrait):
                return portrait
        complaint = self.complaint(second) if second else None
        fault = complaint.fault if complaint else "contradiction"
        raise BadAnswer(sentences.portrait_refused(sentences.portrait_fault(fault)))

    def _is_tolerable(self, portrait: Portrait) -> bool:
        complaint = self.complaint(portrait)
        if complaint is None:
            return True
        return complaint.fault == "too_long" and self._length(portrait) <= TOLERATED * self.limit

    def _length(self, portrait: Portrait) -> int:
        return len(portrait.summary) - len(self._others)

    def _lead(self, drawn: Drawn) -> str:
        summary = "" if _says_nothing(drawn.summary) else _paragraphs(drawn.summary)
        return summary or self._old_lead

    @cached_property
    def _old_lead(self) -> str:
        return "\n".join(line for line in self._own[0].lines if sentences.left_out_count(line) is None).strip()

    @cached_property
    def _own(self) -> list[Section]:
        return [one for one in sections_of(self.old.summary) if not one.heading or one.title in _TITLES]

    @cached_property
    def _others(self) -> str:
        others = [one for one in sections_of(self.old.summary) if one.heading and one.title not in _TITLES]
        return written(others).strip()

    @cached_property
    def _grounds(self) -> Grounds:
        who = (self.person.name, self.person.id, self.profile.name if self.profile else "", *self._ids)
        facts = tuple(fact.text for fact in self.facts)
        lines = self._drawn_part(self.old).split("\n")
        worded = (line for line in lines if sentences.noted(line) is None and sentences.left_out_count(line) is None)
        notes = tuple(noted[0] for line in lines if (noted := sentences.noted(line)))
        return Grounds("\n".join(worded), facts, tuple(filter(None, who)), self.limit, notes)

    @property
    def _ids(self) -> tuple[str, ...]:
        return tuple({one for fact in self.facts for one in (fact.key.group_id, fact.key.user_id)})

    def _drawn_part(self, portrait: Portrait) -> str:
        """Give what of a portrait the model is answerable for, without headings, which are the same in all."""
        own = [one for one in sections_of(portrait.summary) if not one.heading or one.title in _TITLES]
        return "\n".join(filter(None, (*portrait.tags, *(one.text for one in own))))


def _has_nothing_new(drawn: Drawn) -> bool:
    return drawn.nothing_new or (_says_nothing(drawn.summary) and not any(lines for _, lines in _listed(drawn)))


def _says_nothing(summary: str) -> bool:
    said = summary.strip()
    return not said or (len(said) <= _SAYS_NOTHING and sentences.says_nothing_new(duplicate_key(said)))


def _listed(drawn: Drawn) -> Iterator[tuple[str, list[str]]]:
    """Give the heading and the lines of each section, each line once."""
    seen: set[str] = set()
    for field, title in sentences.PORTRAIT_HEADINGS.items():
        lines: list[str] = getattr(drawn, field)
        yield title, list(_fresh((one_line(line.lstrip(_BULLETS), LINE_LENGTH) for line in lines), seen))


def _fresh(lines: Iterable[str], seen: set[str]) -> Iterator[str]:
    for line in lines:
        key = duplicate_key(line)
        if key and key not in seen:
            seen.add(key)
            yield line


def _section(title: str, lines: Iterable[str]) -> str:
    return "\n".join((headed(title), *(f"- {line}" for line in lines)))


def _tags(given: Iterable[str]) -> tuple[str, ...]:
    """Give the tags, each once; what is longer than a tag is none."""
    clean = (one_line(tag).strip("#＃ ") for tag in given)
    return tuple(_fresh((tag for tag in clean if len(tag) <= TAG_LENGTH), set()))[:MOST_TAGS]


def _paragraphs(summary: str) -> str:
    """Give a summary as plain paragraphs: no heading, rule or fence of a model's own."""
    lines = (" ".join(line.split()) for line in clean_text(summary).split("\n"))
    kept = (line.lstrip("# ") for line in lines if not (line and set(line) <= _RULES))
    return "\n".join(kept).strip()
