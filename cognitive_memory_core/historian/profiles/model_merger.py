"""Merges a profile with a chat model; code composes and checks the result: bounded, never emptied, never cut."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from ... import sentences
from ...domain.event import duplicate_key
from ...domain.fact import Fact
from ...domain.people import Person
from ...domain.profile import Profile
from ...errors import BadAnswer
from ...ports.models import Chat, ProfileContent
from ...ports.tally import REFUSED, Tally, Untallied
from ...prompts.answers import ProfileAnswer
from ...prompts.library import PromptLibrary
from ...prompts.rendering import dated_fact
from ...settings import Live, Settings
from ...text.identity.name_cleaning import clean_text, one_line
from ...text.statements.dated_lines import begins_with_day, once_dated
from ...text.statements.markdown_sections import OutlineSection, headed, sections_of, written
from ...text.statements.withdrawn_claims import WithdrawnClaim, pieces, without
from .merge_guard import MergeSources, objection
from .profile_words import words_of
from .unsupported_sentences import SupportCheck

log = logging.getLogger(__name__)

MOST_TAGS, TAG_LENGTH = 12, 24
LINE_LENGTH = 120
UNFOUNDED = f"{REFUSED}profile"  # what the report counts left-out lines of profiles under
TOLERATED = 1.25  # times the limit: accepted length after the model was asked to condense
_NOTHING = ProfileContent((), "")
_TOLERATED = frozenset(("", "forgetful", "unfounded"))  # faults of an attempt that may be used
_QUOTED = 40  # characters of a line quoted in the feedback
_SAYS_NOTHING = 40  # longest summary that may mean "nothing new"
_RULES = frozenset("-*_=~` \t")
_BULLETS = "-*+•·#> \t"
_OF_PERSONS = frozenset(sentences.stored_text.PROFILE_HEADINGS.values())
_OF_GROUPS = frozenset((*sentences.stored_text.GROUP_HEADINGS.values(), *sentences.stored_text.EARLIER_GROUP_HEADINGS))
_PASSING = frozenset(
    headings["topics"] for headings in (sentences.stored_text.PROFILE_HEADINGS, sentences.stored_text.GROUP_HEADINGS)
)
_FIELDS = tuple({**sentences.stored_text.PROFILE_HEADINGS, **sentences.stored_text.GROUP_HEADINGS})
_NAMED = 8  # lost lines listed in the feedback
_MANY = 3  # more than 1/_MANY of the lines lost is too much
_HARDLY = 0.25  # share of a line's words; with fewer of them left the line counts as lost


@dataclass(frozen=True)
class ModelMerger:
    """Asks a chat model for a profile, and once more with feedback if the answer is rejected.

    No returned profile states a withdrawn claim; a profile that stated nothing else becomes empty.
    """

    chat: Chat
    prompts: PromptLibrary
    settings: Live[Settings]
    tally: Tally = dataclasses.field(default_factory=Untallied)

    async def merge(
        self, person: Person, profile: Profile | None, facts: Sequence[Fact], now: datetime
    ) -> ProfileContent:
        """Return the profile text with the facts merged in; raises BadAnswer if both answers are rejected."""
        session = _MergeSession(person, profile, facts, now, self.settings.current.profile.max_chars)
        first = await self._attempt(session)
        if first.complaint is None:
            return self._accepted(first)
        second = await self._attempt(session, first.complaint.feedback)
        return self._accepted(await asyncio.to_thread(session.better, first, second))

    async def _attempt(self, session: _MergeSession, feedback: str = "") -> _Attempt:
        ask = self.prompts.merge(
            session.person, session.shown, session.facts, session.now, max_chars=session.limit, feedback=feedback
        )
        return await asyncio.to_thread(session.judged, await self.chat.ask(ask))

    def _accepted(self, chosen: _Attempt) -> ProfileContent:
        """Return the supported part of an answer; count and log the lines left out of it."""
        if chosen.left_out:
            self.tally.count(UNFOUNDED, len(chosen.left_out))
            log.warning("%s", sentences.log.PROFILE_LINES_LEFT_OUT.format(count=len(chosen.left_out)))
        return chosen.kept_part


@dataclass(frozen=True)
class _Complaint:
    """What is wrong with a profile: ``fault`` is its code, ``feedback`` the text for the model."""

    fault: str
    feedback: str


@dataclass(frozen=True)
class _Attempt:
    """One answer of the model: the ``proposed`` profile, its supported part, and the lines ``left_out`` of that part.

    ``proposed`` is None if the model said that nothing is new; then ``kept_part`` is the old profile.
    """

    proposed: ProfileContent | None
    kept_part: ProfileContent
    left_out: tuple[str, ...] = ()
    complaint: _Complaint | None = None


@dataclass(frozen=True)
class _MergeSession:
    """The merge of new facts into the profile of one entity.

    Sections under other headings than those of this library were written by people: no model sees or changes them.
    """

    person: Person
    profile: Profile | None
    facts: Sequence[Fact]
    now: datetime
    max_chars: int

    @cached_property
    def old(self) -> ProfileContent:
        """The present profile text."""
        return ProfileContent(self.profile.tags, self.profile.summary) if self.profile else ProfileContent((), "")

    @cached_property
    def is_group(self) -> bool:
        """Whether the entity is a group."""
        keys = [*(fact.key for fact in self.facts[:1]), *([self.profile.key] if self.profile else [])]
        return bool(keys) and keys[0].entity_type == "group"

    @cached_property
    def _titles(self) -> frozenset[str]:
        """The headings that this library writes; for a group, also those that its earlier versions wrote."""
        return _OF_GROUPS if self.is_group else _OF_PERSONS

    @property
    def unchanged(self) -> ProfileContent:
        """The present profile text; withdrawn claims are removed from people's own sections."""
        if self._kept_sections_of_people == self._of_people:
            return self.old
        body = (written(self._library_sections).strip(), self._kept_sections_of_people)
        return ProfileContent(self.old.tags, "\n\n".join(part for part in body if part))

    @cached_property
    def limit(self) -> int:
        """The number of characters that people's own sections leave to the model; at least half of ``max_chars``."""
        return max(self.max_chars - len(self._kept_sections_of_people), self.max_chars // 2, 1)

    @cached_property
    def shown(self) -> Profile | None:
        """The profile as the model sees it."""
        return replace(self.profile, summary=written(self._library_sections).strip()) if self.profile else None

    def judged(self, answer: ProfileAnswer) -> _Attempt:
        """Compose a profile from an answer and check it; too slow for the event loop."""
        if not self._is_idle(answer):
            proposed, (kept_part, left_out) = self.composed(answer), self._supported_part(answer)
            lines = [line for line in left_out if line not in answer.tags]
            return _Attempt(proposed, self.composed(kept_part), left_out, self.complaint(proposed, lines))
        if self.withdrawn:
            return _Attempt(self.unchanged, self.unchanged, (), self.complaint(self.unchanged))
        return _Attempt(None, self.old, (), self._missing_profile_complaint)

    def _supported_part(self, answer: ProfileAnswer) -> tuple[ProfileAnswer, tuple[str, ...]]:
        """Return the part of an answer with supported lines and tags only, and the unsupported ones."""
        support, left_out = self._support, list[str]()

        def kept(line: str) -> str:
            supported, lacking = support.split(line)
            left_out.extend(lacking)
            return supported if lacking else line

        def kept_lines(lines: Iterable[str]) -> Iterator[str]:
            return filter(None, map(kept, lines))

        fields = {name: tuple(kept_lines(_lines_of(answer, name))) for name in _FIELDS}
        summary = "\n".join(kept_lines(_paragraphs(answer.summary).split("\n")))
        tags = tuple(tag for tag in answer.tags if support.supports_tag(one_line(tag)))
        left_out += [tag for tag in answer.tags if tag not in tags]
        return replace(answer, summary=summary, tags=tags, **fields), tuple(left_out)

    @property
    def _support(self) -> SupportCheck:
        merge_sources, zone = self._merge_sources, self.now.tzinfo
        facts = (dated_fact(fact, zone) for fact in self.facts if not fact.is_withdrawn)
        return SupportCheck(
            (*facts, *merge_sources.notes, *merge_sources.old.split("\n")),
            merge_sources.subject_names,
            self.now,
            merge_sources.old,
        )

    def _is_idle(self, proposed: ProfileAnswer) -> bool:
        """Return whether the answer has nothing new; ``nothing_new`` is ignored if it has words of the new facts."""
        if proposed.nothing_new:
            return self._new_words.isdisjoint(words_of([self.composed(proposed).summary]))
        return not self.withdrawn and _is_blank(proposed, is_group=self.is_group)

    @property
    def _new_words(self) -> frozenset[str]:
        """The words of the new facts that are not in the old profile."""
        new = (fact.text for fact in self.facts if not fact.is_withdrawn)
        return words_of(new) - words_of((self.old.summary, *self._subject_names))

    @property
    def _missing_profile_complaint(self) -> _Complaint | None:
        """Return a complaint if the model said "nothing new" to a lasting fact though there is no profile yet.

        None in all other cases.
        """
        lasts = not self.old.summary and any(fact.kind != "event" for fact in self.facts)
        return None if not lasts else _Complaint("contradiction", sentences.feedback.PROFILE_WANTED)

    def composed(self, proposed: ProfileAnswer) -> ProfileContent:
        """Compose tags and Markdown from the answer; what it omits of tags and summary is kept from the old profile.

        If a claim is withdrawn, omitted parts are not kept, because they may state it.
        """
        listed = [(title, lines) for title, lines in _listed(proposed, is_group=self.is_group) if lines]
        parts = [
            self._lead(proposed),
            *(_section(title, lines) for title, lines in listed),
            self._kept_sections_of_people,
        ]
        stays = () if self.withdrawn else self.old.tags
        return ProfileContent(_tags(proposed.tags) or stays, "\n\n".join(part for part in parts if part))

    def complaint(self, content: ProfileContent, left_out: Sequence[str] = ()) -> _Complaint | None:
        """Return what is wrong with a profile whose unsupported lines are ``left_out``; None if it is acceptable."""
        refused = objection(self._drawn_part(content), self._merge_sources)
        if refused:
            return _Complaint(refused.kind, refused.feedback)
        if part := self._withdrawn_part(content):
            return _Complaint(
                "withdrawn", sentences.feedback.PROFILE_TELLS_WITHDRAWN.format(told=one_line(part, _QUOTED))
            )
        length = self._length(content)
        if length > self.limit:
            return _Complaint("too_long", sentences.feedback.PROFILE_TOO_LONG.format(length=length, limit=self.limit))
        if lost := self._lost_lines(content):
            named = [one_line(line, _QUOTED) for line in lost[:_NAMED]]
            return _Complaint("forgetful", sentences.feedback.profile_forgot(named))
        if left_out:
            named = [one_line(line, _QUOTED) for line in left_out[:_NAMED]]
            return _Complaint("unfounded", sentences.feedback.profile_invented(named))
        return None

    def better(self, first: _Attempt, second: _Attempt) -> _Attempt:
        """Return the better one of a first attempt, which had a fault, and the second.

        Raises BadAnswer if neither is tolerable.
        """
        usable = [one for one in (second, first) if self._is_tolerable(one)]
        if usable:
            return min(usable, key=self._demerits)
        if first.proposed is None and second.proposed is None:
            return first
        fault = second.complaint.fault if second.complaint and second.proposed else "contradiction"
        raise BadAnswer(sentences.models.PROFILE_REFUSED.format(reason=sentences.models.PROFILE_FAULTS[fault]))

    def _demerits(self, one: _Attempt) -> tuple[bool, int, int]:
        return self._length(one.kept_part) > self.limit, len(self._lost_lines(one.kept_part)), len(one.left_out)

    @cached_property
    def withdrawn(self) -> list[WithdrawnClaim]:
        """The claims to remove from the profile; words that new facts also have may stay."""
        new = tuple(fact.text for fact in self.facts if not fact.is_withdrawn)
        return [WithdrawnClaim(fact.text, (*new, *self._subject_names)) for fact in self.facts if fact.is_withdrawn]

    def _withdrawn_part(self, content: ProfileContent) -> str:
        """Return a part of a profile that states a withdrawn claim; "" if no part does."""
        parts = [*content.tags, *(piece.strip("-*+• \t\n") for piece in pieces(_without_headings(content.summary)))]
        for gone in self.withdrawn:
            if part := next(filter(gone.is_told_by, filter(None, parts)), ""):
                return part
            if gone.is_told_throughout(parts):
                return gone.text
        return ""

    def _is_withdrawn(self, text: str) -> bool:
        return any(gone.is_told_by(text) for gone in self.withdrawn)

    def _is_tolerable(self, one: _Attempt) -> bool:
        """Return whether the supported part of an attempt may be used although the attempt has a fault."""
        if one.proposed is None:
            return False
        if one.left_out and one.kept_part == _NOTHING:
            return False
        fault = one.complaint.fault if one.complaint else ""
        return fault in _TOLERATED or (fault == "too_long" and self._length(one.kept_part) <= TOLERATED * self.limit)

    def _lost_lines(self, content: ProfileContent) -> list[str]:
        """Return the lines of the old profile that the new one lost without a reason; [] if they are few.

        They are many if they are a whole section, or more than a third of all lines. Topics do not count, nor lines
        whose words are in a fact. A full profile may be condensed.
        """
        if self._length(self.old) + sum(len(fact.text) for fact in self.facts) > self.limit:
            return []
        kept_words = words_of((content.summary, *content.tags, *(fact.text for fact in self.facts)))
        sections = [_worded(one.text) for one in self._library_sections if one.title in self._titles - _PASSING]
        lost = [[line for line in lines if self._is_lost(line, kept_words)] for lines in sections]
        has_gone = any(lines and gone == lines for lines, gone in zip(sections, lost, strict=True))
        is_much = sum(map(len, lost)) * _MANY > sum(map(len, sections))
        return [line for lines in lost for line in lines] if has_gone or is_much else []

    def _is_lost(self, line: str, kept_words: frozenset[str]) -> bool:
        words = words_of([line]) - words_of(self._subject_names)
        return len(words & kept_words) < _HARDLY * len(words)

    def _length(self, content: ProfileContent) -> int:
        return len(content.summary) - len(self._kept_sections_of_people)

    def _lead(self, proposed: ProfileAnswer) -> str:
        summary = "" if _says_nothing(proposed.summary) else _paragraphs(proposed.summary)
        return summary or ("" if self.withdrawn else self._old_lead)

    @cached_property
    def _old_lead(self) -> str:
        return "\n".join(
            line for line in self._library_sections[0].lines if sentences.stored_text.left_out_count(line) is None
        ).strip()

    @cached_property
    def _library_sections(self) -> list[OutlineSection]:
        return [one for one in sections_of(self.old.summary) if not one.heading or one.title in self._titles]

    @cached_property
    def _kept_sections_of_people(self) -> str:
        return without(self._of_people, self._is_withdrawn) if self.withdrawn else self._of_people

    @cached_property
    def _of_people(self) -> str:
        others = [one for one in sections_of(self.old.summary) if one.heading and one.title not in self._titles]
        return written(others).strip()

    @cached_property
    def _merge_sources(self) -> MergeSources:
        facts = tuple(fact.text for fact in self.facts if not fact.is_withdrawn)
        gone = tuple(statement.text for statement in self.withdrawn)
        lines = self._drawn_part(self.old).split("\n")
        worded = (
            line
            for line in lines
            if sentences.stored_text.noted(line) is None and sentences.stored_text.left_out_count(line) is None
        )
        notes = tuple(noted[0] for line in lines if (noted := sentences.stored_text.noted(line)))
        return MergeSources("\n".join(worded), facts, self._subject_names, self.limit, notes, gone)

    @property
    def _subject_names(self) -> tuple[str, ...]:
        who = (self.person.name, self.person.id, self.profile.name if self.profile else "", *self._ids)
        return tuple(filter(None, who))

    @property
    def _ids(self) -> tuple[str, ...]:
        return tuple({one for fact in self.facts for one in (fact.key.group_id, fact.key.user_id)})

    def _drawn_part(self, content: ProfileContent) -> str:
        """Return the part of a profile that the model wrote, without headings."""
        own = [one for one in sections_of(content.summary) if not one.heading or one.title in self._titles]
        return "\n".join(filter(None, (*content.tags, *(one.text for one in own))))


def _is_blank(proposed: ProfileAnswer, *, is_group: bool) -> bool:
    return _says_nothing(proposed.summary) and not any(lines for _, lines in _listed(proposed, is_group=is_group))


def _worded(text: str) -> list[str]:
    """Return the lines of a section that have words, without bullets, verbatim notes and counts of left-out lines."""
    lines = (line.strip(_BULLETS) for line in text.split("\n"))
    return [
        line
        for line in lines
        if line and not sentences.stored_text.noted(line) and sentences.stored_text.left_out_count(line) is None
    ]


def _says_nothing(summary: str) -> bool:
    said = summary.strip()
    return not said or (len(said) <= _SAYS_NOTHING and sentences.stored_text.says_nothing_new(duplicate_key(said)))


def _listed(proposed: ProfileAnswer, *, is_group: bool) -> Iterator[tuple[str, list[str]]]:
    """Yield heading and lines of each section, each line once; a line that begins with a date moves to the topics."""
    headings = sentences.stored_text.GROUP_HEADINGS if is_group else sentences.stored_text.PROFILE_HEADINGS
    tidy = {field: [one_line(once_dated(line), LINE_LENGTH) for line in getattr(proposed, field)] for field in headings}
    passing = [line for field, lines in tidy.items() if field != "topics" for line in lines if begins_with_day(line)]
    seen: set[str] = set()
    for field, title in headings.items():
        lasting = [line for line in tidy[field] if line not in passing]
        yield title, list(_fresh((*lasting, *passing) if field == "topics" else lasting, seen))


def _fresh(lines: Iterable[str], seen: set[str]) -> Iterator[str]:
    for line in lines:
        key = duplicate_key(line)
        if key and key not in seen:
            seen.add(key)
            yield line


def _lines_of(answer: ProfileAnswer, field: str) -> Sequence[str]:
    lines: Sequence[str] = getattr(answer, field)
    return lines


def _section(title: str, lines: Iterable[str]) -> str:
    return "\n".join((headed(title), *(f"- {line}" for line in lines)))


def _tags(given: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct tags; those over :data:`TAG_LENGTH` are dropped."""
    clean = (one_line(tag).strip("#＃ ") for tag in given)
    return tuple(_fresh((tag for tag in clean if len(tag) <= TAG_LENGTH), set()))[:MOST_TAGS]


def _without_headings(text: str) -> str:
    """Return a profile text without its headings."""
    return "\n".join(one.text for one in sections_of(text))


def _paragraphs(summary: str) -> str:
    """Return a summary as plain paragraphs, without headings, rules and fences."""
    lines = (" ".join(line.split()) for line in clean_text(summary).split("\n"))
    kept = (line.lstrip("# ") for line in lines if not (line and set(line) <= _RULES))
    return "\n".join(kept).strip()
