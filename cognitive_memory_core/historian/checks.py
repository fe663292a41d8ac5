"""The checks of a model's statement against the lines that it cites; none of them judges what the words mean.

Whose word it is: :func:`carries`. What it says: :func:`faults`. Whether it may replace another: :func:`is_change`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, lru_cache
from itertools import chain
from operator import add
from typing import Literal

from .. import sentences
from ..domain.event import Event, Quote, duplicate_key
from ..domain.message import Message
from ..domain.people import JobContext, Person
from ..text.caches import cleared_on_erasure
from ..text.ids import foreign_ids, ids_in
from ..text.names import plain, short_form
from ..text.names_and_quotations import TextMask, named
from ..text.safety.prompt_fences import defused
from ..text.spoken_events import spoken
from ..text.statements.figures import Line, strange_figures, values_of
from ..text.statements.lexicon import Offence, offences
from ..text.terms import FUNCTION_WORDS, pieces_of
from ..text.time.time_words import is_time, mentions

Fault = Literal["empty", "too_long", "unfounded", "figure", "quote"]
LEAST_OWN = (
    0.08  # share of a statement's tokens that must stand in lines of its voice and in nobody's lines just before
)
MOST_OTHERS = 0.2  # share that may stand only in cited lines of others
QUOTED = 6  # letters from which a passage in quotation marks is somebody's words, and no term
BEFORE, WITHIN = 12, timedelta(hours=1)  # lines before a line, and their age, that it may merely echo
_LABEL = re.compile(r"[(（][^()（）\s]{1,128}[)）]")
_QUOTATION = re.compile("“([^“”]{2,})”|「([^「」]{2,})」|『([^『』]{2,})』")


@dataclass(frozen=True)
class GivenLines:
    """The lines of a job: those that a prompt numbers, in order, and earlier ones that they may answer."""

    numbered: Sequence[Message | str]
    earlier: Sequence[Message] = ()

    def cited(self, numbers: Iterable[int]) -> list[Message]:
        """Return the lines of people with these numbers, in the order of the chat; strings have no known sender."""
        lines = (self.numbered[number - 1] for number in sorted(set(numbers)) if 0 < number <= len(self.numbered))
        return [line for line in lines if isinstance(line, Message) and line.sender_id and line.text.strip()]

    def answered(self, line: Message) -> Message | None:
        """Return the line to which a line replies; None if it is no reply, or that line is not known."""
        return next((one for one in self.messages if one.id == line.reply_to), None) if line.reply_to else None

    def with_answered(self, lines: Iterable[Message]) -> list[Message]:
        """Return lines with those that they answer, in the order in which they were said."""
        every = chain.from_iterable(filter(None, (self.answered(line), line)) for line in lines)
        return sorted({line.id: line for line in every}.values(), key=lambda line: line.sent_at)

    def echoed(self, line: Message) -> list[Message]:
        """Return lines of others whose words a line may merely repeat: those just before, and the one it answers."""
        messages = self.messages
        at = next((index for index, one in enumerate(messages) if one.id == line.id), len(messages))
        near = [one for one in messages[max(at - BEFORE, 0) : at] if line.sent_at - one.sent_at <= WITHIN]
        answered = self.answered(line)
        return [one for one in (*near, *([answered] if answered else [])) if one.sender_id != line.sender_id]

    @property
    def messages(self) -> list[Message]:
        """All lines whose sender is known, in order."""
        return [*self.earlier, *(line for line in self.numbered if isinstance(line, Message))]

    @cached_property
    def plain(self) -> str:
        """The numbered lines in plain form, in which ids are searched for; analysed once for all statements."""
        texts = (line if isinstance(line, str) else line.text for line in self.numbered)
        return plain("\n".join(text[:READ] for text in texts)[:_GIVEN_READ])


def carries(person: str, text: str, cited: Sequence[Message], given: GivenLines, job_context: JobContext) -> bool:
    """Return whether a person's cited lines carry a statement, so that they are its voice.

    At least :data:`LEAST_OWN` of its tokens stand in their lines and in no line that these may merely echo, at most
    :data:`MOST_OTHERS` stand only in cited lines of others, and every other person in it sent a cited or answered line
    or is named in one.
    """
    own = [line for line in cited if line.sender_id == person]
    tokens, told, by_them, by_others = tokens_of(text, job_context), set[str](), set[str](), set[str]()
    for line in cited:
        (by_them if line.sender_id == person else by_others).update(tokens_of(line.text, job_context))
    for line in own:
        echoed = (tokens_of(one.text, job_context) for one in given.echoed(line))
        told |= tokens_of(line.text, job_context).difference(*echoed)
    if not own or not tokens:
        return False
    return (
        len(tokens & told) >= LEAST_OWN * len(tokens)
        and len(tokens & (by_others - by_them)) <= MOST_OTHERS * len(tokens)
        and not strangers(text, person, given.with_answered(cited), job_context)
    )


def strangers(text: str, voice: str, lines: Sequence[Message], job_context: JobContext) -> list[str]:
    """Return the ids of the people in a statement, other than its voice, of whom its lines know nothing."""
    known = {voice, job_context.place.group_id, *(line.sender_id for line in lines)}
    heard, written = plain("\n".join(line.text for line in lines)).casefold(), plain(text)
    people = {one.id: one for one in (job_context.speaker, *job_context.people) if one.id}
    named_here = (one for one in people if one not in known and f"({one})" in written)
    return [one for one in named_here if not any(name in heard for name in _called(people[one]))]


def faults(
    text: str, lines: Sequence[Message], job_context: JobContext, others: Sequence[Quote] = (), *, note: str = ""
) -> Iterator[Fault]:
    """Yield what a statement says that stands in none of its lines: a day, a time or a number, or a quotation.

    ``others`` are the quotes of an event that it replaces, ``note`` the observation that it was made from; without
    lines its words must stand in this.
    """
    names, zone = [one for one in called(job_context) if one != job_context.place_name], job_context.when.tzinfo
    given = [Line(line.text, line.sent_at.astimezone(zone)) for line in lines]
    given += [Line(one.text, one.sent_at.astimezone(zone) if one.sent_at else None) for one in others]
    given += [Line(job_context.place_name), *([Line(note, job_context.when)] if note else [])]  # 周五局 is no weekday
    tokens, noted = tokens_of(text, job_context), tokens_of(note, job_context)
    if note and not lines and len(tokens & noted) < LEAST_OWN * len(tokens):
        yield "unfounded"
    if strange_figures(text, given, names):
        yield "figure"
    said = duplicate_key("\n".join((*names, *(one.text for one in given))))
    quoted = (duplicate_key("".join(found.groups(default=""))) for found in _QUOTATION.finditer(text))
    if any(one not in said for one in quoted if len(one) >= QUOTED):
        yield "quote"


def is_change(text: str, line: Message, voice: str, old: Event, job_context: JobContext, *, is_rule: bool) -> bool:
    """Return whether a statement of ``voice``, made from ``line``, may replace an event: the same voice said it later.

    They must share a token. A rule of the group may also be replaced by one that an admin lays down.
    """
    is_theirs = bool(voice) and (voice == old.sender_id or (is_rule and line.scene.is_admin))
    is_later = line.sent_at > old.happened_at and old.retired_at is None and old.scope == job_context.place
    words = tokens_of("\n".join((old.text, *(quote.text for quote in old.quotes))), job_context)
    return is_theirs and is_later and not words.isdisjoint(tokens_of(f"{text}\n{line.text}", job_context))


def is_same(text: str, voice: str, old: Event, job_context: JobContext) -> bool:
    """Return whether a statement may count as a repetition of an event: one place and voice, and equal figures."""
    is_theirs = (old.scope, old.sender_id) == (job_context.place, voice) and old.retired_at is None
    return is_theirs and values_of(text, called(job_context)) == values_of(old.text, called(job_context))


def called(job_context: JobContext) -> tuple[str, ...]:
    """Return all names of people and place, including former ones, in full, short, and as a prompt shows them."""
    return _with_other_forms(job_context.all_names)


@cleared_on_erasure
@lru_cache(maxsize=256)  # every check of a statement needs them
def _with_other_forms(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(form for name in names for form in _forms(name)))


def tokens_of(text: str, job_context: JobContext) -> frozenset[str]:
    """Return the pairs of characters, words and numbers of a text, without names, ids, dates and function words."""
    return _tokens(text, called(job_context))


@cleared_on_erasure
@lru_cache(maxsize=1024)  # the lines of a job are compared with each of its statements
def _tokens(text: str, names: tuple[str, ...]) -> frozenset[str]:
    spans = [found.span() for found in _LABEL.finditer(text)]
    spans += [(found.start, found.stop) for found in mentions(text) if found.kind in ("absolute", "yearless")]
    blank = TextMask(len(text), (*spans, *named(text, names, is_time))).blanked(text)
    found: set[str] = set()
    for run, word in pieces_of(blank):
        found.update((word,) if word else map(add, run, run[1:]))
    return frozenset(found) - FUNCTION_WORDS | {f"={value}" for value in values_of(blank)}


def _called(person: Person) -> Collection[str]:
    names = (plain(name).casefold() for name in (person.name, *person.aliases) if name)
    return {form for name in names for form in (name, short_form(name)) if len(form) > 1} | {person.id}


NAMED = 8  # hits of each kind listed in the feedback
READ = 2_000  # characters read of a text
_GIVEN_READ = 32_000  # characters read of everything that the model was given
_LONG, _TIMES_HEARD = 500, 3
_ID_LABEL = re.compile(r"[(（][0-9A-Za-z_-]{1,128}[)）]")
_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class Verdict:
    """The faults of one statement of a model; all fields are empty if it has none.

    ``lost_ids`` are known ids of the observation that the text lacks. ``foreign_ids`` are numbers of five or more
    digits that the model was not given, and known ids behind another person's name. With any of ``faults`` the text
    is not a rewrite of the observation.
    """

    offences: tuple[Offence, ...] = ()
    lost_ids: tuple[str, ...] = ()
    foreign_ids: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()

    @property
    def has_drift(self) -> bool:
        """Whether the people in the text differ from those in the observation; ``force`` does not override this."""
        return bool(self.lost_ids or self.foreign_ids)

    @property
    def is_usable(self) -> bool:
        """Whether the text may be stored at all, absolute or not."""
        return not (self.has_drift or self.faults)

    @property
    def is_absolute(self) -> bool:
        """Whether the statement stands on its own."""
        return self.is_usable and not self.offences

    @property
    def reasons(self) -> frozenset[str]:
        """Codes of why the statement is rejected; empty if it is accepted.

        They are its :data:`Fault` codes (it does not follow from the observation), "drift" (it is about other people),
        and the kinds of its offences (words such as "I" or "yesterday" that mean nothing out of their chat).
        """
        drift = ("drift",) if self.has_drift else ()
        return frozenset((*self.faults, *drift, *(offence.kind for offence in self.offences)))


def judge(text: str, original: str, given: GivenLines, job_context: JobContext) -> Verdict:
    """Judge a model's rewrite of ``original``, an observation or lines, beside the lines that the model saw.

    Only the first 2,000 characters of each text are read; a longer rewrite is too long anyway.
    """
    read, heard = text[:READ], original[:READ]
    names = tuple(name for name in called(job_context) if name in read or name in heard)
    if not _WORD.search(_content(read, names)):
        return Verdict(faults=("empty",))
    written, said = plain(read), plain(heard)
    place = Person(job_context.place.group_id, job_context.place_name)
    people = [one for one in (job_context.speaker, *job_context.people, place) if one.id]
    ids = dict.fromkeys(one.id for one in people)
    ids_by_name = _ids_by_name(f"{written}\n{said}", people)
    lost = set(ids_in(said, ids, ids_by_name)).difference(ids_in(written, ids, ids_by_name))
    remembered = plain("\n".join(spoken(event)[:READ] for event in job_context.neighbours))
    return Verdict(
        offences(read, names=names),
        tuple(one for one in ids if one in lost),
        tuple(foreign_ids(written, f"{said}\n{given.plain}\n{remembered}", ids_by_name, ids)),
        ("too_long",) if len(text) > _LONG and len(text) > _TIMES_HEARD * len(original) else (),
    )


def _ids_by_name(text: str, people: Sequence[Person]) -> dict[str, set[str]]:
    """Map each name that occurs in a plain text to the ids of its present and former bearers."""
    found = {"QQ": {one.id for one in people}}  # stands for a person without a name
    for one in people:
        for name in (one.name, *one.aliases):
            for form in _plain_forms(name):
                if form in text:
                    found.setdefault(form, set()).add(one.id)
    return found


@cleared_on_erasure
@lru_cache(maxsize=20_000)  # covers the names of a busy bot's groups, which every statement needs
def _forms(name: str) -> tuple[str, ...]:
    """Return a name in full, as a prompt shows it, and in the short form that people use; each distinct form once."""
    return tuple(dict.fromkeys(form for form in (name, defused(name), short_form(name)) if form))


@cleared_on_erasure
@lru_cache(maxsize=20_000)
def _plain_forms(name: str) -> tuple[str, ...]:
    return tuple(plain(form) for form in _forms(name))


def feedback(verdict: Verdict) -> str:
    """Return the feedback for the model on what is wrong with its text."""
    said = [sentences.models.FEEDBACK[fault] for fault in verdict.faults]
    for kind in dict.fromkeys(offence.kind for offence in verdict.offences):
        words = dict.fromkeys(offence.word for offence in verdict.offences if offence.kind == kind)
        quoted = "".join(f"「{word}」" for word in list(words)[:NAMED])
        said.append(sentences.models.FEEDBACK_LEANING[kind].format(words=quoted))
    if verdict.lost_ids:
        said.append(sentences.models.FEEDBACK_LOST.format(ids="、".join(verdict.lost_ids[:NAMED])))
    if verdict.foreign_ids:
        said.append(sentences.models.FEEDBACK_FOREIGN.format(ids="、".join(verdict.foreign_ids[:NAMED])))
    return "".join(said)


def _content(text: str, names: Collection[str]) -> str:
    """Return the text with blanks for labels, known names and times, which any rewrite may add."""
    spans = [match.span() for match in _ID_LABEL.finditer(text)]
    spans += [(mention.start, mention.stop) for mention in mentions(text)]
    return TextMask(len(text), (*spans, *named(text, names, lambda _: False))).blanked(text)
