"""From a model's answer to a statement, checked against the lines that it cites; and lines kept as they were said.

No check judges what words mean. Whose word a statement is: :func:`carries`. What it says: :func:`verdict_on`,
:func:`faults`. Whether it may take the place of an event: :func:`is_change`, :func:`is_same`. What fails the checks is
kept as it was said (:func:`as_said`), whole; an observation of a chat plugin as the bot's note (:func:`as_noted`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property, lru_cache
from itertools import chain
from operator import add
from typing import Literal

from .. import sentences
from ..domain.event import Event, EventKind, Quote, Statement, duplicate_key, exchange
from ..domain.job import JobContext
from ..domain.message import Message
from ..domain.people import Person
from ..domain.turn import Turn
from ..prompts.answers import StatementAnswer
from ..text.callnames import ids_of, labelled
from ..text.characters import cleared_on_erasure
from ..text.cleaning import one_line, plain
from ..text.ids import foreign_ids, ids_by_name, ids_in, name_forms
from ..text.names import clean_name, short_form
from ..text.numbers import ID_LABEL, Line, strange_figures, values_of
from ..text.problems import shared
from ..text.relative_words import Offence, offences
from ..text.spans import LABEL, blanked, named
from ..text.speakers import spoken
from ..text.terms import FUNCTION_WORDS, pieces_of
from ..text.time.time_words import is_time, mentions

Fault = Literal["empty", "too_long", "unfounded", "figure", "quote"]
LEAST_OWN = 0.08  # share of a statement's tokens in lines of its voice, and in nobody's lines just before
MOST_OTHERS = 0.2  # share that may stand only in cited lines of others
LEAST_TOLD = 0.5  # share of an experience's words that its lines tell, as of a suggestion's draft
KEPT_CONFIDENCE = 0.6  # of what is kept as it was said
QUOTED = 6  # letters from which a passage in quotation marks is somebody's words, and no term
BEFORE, WITHIN = 12, timedelta(hours=1)  # lines before a line, and their age, that it may merely echo
NAMED = 8  # hits of each kind listed in the feedback
READ = 2_000  # characters read of a text
_GIVEN_READ = 32_000  # characters read of everything that the model was given
_LONG, _TIMES_HEARD = 500, 3
_QUOTATION = re.compile("“([^“”]{2,})”|「([^「」]{2,})」|『([^『』]{2,})』")
_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class GivenLines:
    """The lines of a job: those that a prompt numbers, in order, and earlier ones that they may answer."""

    numbered: Sequence[Message | str]
    earlier: Sequence[Message] = ()

    @cached_property
    def messages(self) -> list[Message]:
        """All lines whose sender is known, in order."""
        return [*self.earlier, *(line for line in self.numbered if isinstance(line, Message))]

    @cached_property
    def plain(self) -> str:
        """The numbered lines in plain form, in which ids are searched for; analysed once for all statements."""
        texts = (line if isinstance(line, str) else line.text for line in self.numbered)
        return plain("\n".join(text[:READ] for text in texts)[:_GIVEN_READ])

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
    people, place = (job_context.speaker, *job_context.people), job_context.place.group_id
    text = labelled(one_line(answer.text[:READ]), people)

    # its voice, and the lines that it rests on
    cited = given.cited(answer.lines)
    senders = {line.sender_id for line in cited}
    (voice,) = ids_of((answer.speaker,), people)
    if not voice and len(senders) == 1:
        (voice,) = senders
    is_carried = voice in senders and carries(voice, text, cited, given, job_context)
    if note and not is_carried:  # the observation remains what the bot noted, in other words
        cited, voice = [], ""
    lines = given.with_answered(cited)

    # its kind: the lines of an experience must have told the problem and the solution
    kind, told, pain, solution, outcome = answer.kind, text, "", "", ""
    if kind == "experience":
        problem, way = answer.pain.strip(), answer.solution.strip()
        source = "\n".join((note, *(line.text for line in lines)))
        if problem and way and shared(f"{problem}\n{way}", source) >= LEAST_TOLD:
            pain, solution, outcome = answer.pain, answer.solution, answer.outcome
            told = f"{text}\n{pain}\n{solution}\n{outcome}"
        else:
            kind = "knowledge" if way else "event"

    # whom it is about: those whom the model lists, and those but the voice whom the text names by id, because what
    # somebody says of others is no fact about themselves
    listed, written = ids_of(answer.subjects, people), plain(text)
    whom = () if cited else (job_context.speaker.id,)  # a note is about a turn with this person
    known = dict.fromkeys(one.id for one in people if one.id and one.id != place)
    others = (one for one in known if one != voice and f"({one})" in written)
    statement = Statement(
        text,
        kind,
        subjects=tuple(dict.fromkeys((*(one for one in (*listed, *whom) if one in known), *others))),
        speaker=voice,
        confidence=answer.confidence,
        is_of_place=place in listed,
        quotes=quotes_of(lines, job_context) if cited else (Quote("", "", note),) if note else (),
        message_ids=tuple(line.id for line in cited),
        happened_at=cited[-1].sent_at if cited else None,
        pain=pain,
        solution=solution,
        outcome=outcome,
    )

    # the checks, and the event whose place it takes
    near = dict(enumerate(job_context.neighbours, 1))
    same, old = near.get(answer.same_as), near.get(answer.replaces)
    verdict = verdict_on(text, note or "\n".join(line.text for line in cited), given, job_context)
    if verdict.is_usable:
        found = faults(told, lines, job_context, old.quotes if old else (), note=note)
        verdict = replace(verdict, faults=tuple(found))
    own = [line for line in cited if line.sender_id == voice]
    if same and is_same(text, voice, same, job_context):
        statement = replace(statement, repeats=same.id)
    elif old and own and is_change(text, own[-1], voice, old, job_context, is_rule=statement.is_of_place):
        statement = replace(statement, replaces=old.id)
    return Judged(statement, verdict, is_carried or bool(note))


def as_said(
    cited: Sequence[Message], given: GivenLines, job_context: JobContext, kind: EventKind = "event"
) -> Statement:
    """Keep lines as they were said, whole, each reply with the line that it answers; the last sender is the voice."""
    quotes, last = quotes_of(given.with_answered(cited), job_context), cited[-1]
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
    noted = one_line(observation) or sentences.context.NOTHING_SHOWN
    return Statement(
        f"{sentences.context.BOT_NOTED}：{noted}",
        subjects=(turn.scene.user_id,),
        confidence=KEPT_CONFIDENCE,
        is_absolute=False,
        quotes=(Quote("", "", noted),),
        message_ids=tuple(turn.message_ids),
        observation=observation,
    )


def quotes_of(lines: Iterable[Message], job_context: JobContext) -> tuple[Quote, ...]:
    """Return lines as quotes, each with the name that its sender had then."""
    quotes: list[Quote] = []
    for line in lines:
        then = clean_name(line.scene.user_name) if line.sender_id else ""
        name = then or (clean_name(job_context.named(line.sender_id).name) if line.sender_id else "")
        quotes.append(Quote(line.id, line.sender_id, line.text, name, line.sent_at))
    return tuple(quotes)


def carries(voice: str, text: str, cited: Sequence[Message], given: GivenLines, job_context: JobContext) -> bool:
    """Return whether a person's cited lines carry a statement, so that they are its voice.

    At least :data:`LEAST_OWN` of its tokens stand in their lines and in no line that these may merely echo (those of
    others just before, and the one it answers), at most :data:`MOST_OTHERS` stand only in cited lines of others, and
    every other person in it sent a cited or answered line or is named in one.
    """
    names = called(job_context)
    tokens, told, by_them, by_others = tokens_of(text, names), set[str](), set[str](), set[str]()
    for line in cited:
        words = tokens_of(line.text, names)
        if line.sender_id != voice:
            by_others |= words
            continue
        by_them |= words
        at = next((index for index, one in enumerate(given.messages) if one.id == line.id), len(given.messages))
        near = [one for one in given.messages[max(at - BEFORE, 0) : at] if line.sent_at - one.sent_at <= WITHIN]
        heard = filter(None, (*near, given.answered(line)))
        told |= words.difference(*(tokens_of(one.text, names) for one in heard if one.sender_id != voice))
    is_own = len(tokens & told) >= LEAST_OWN * len(tokens) and bool(tokens and by_them)
    if not is_own or len(tokens & (by_others - by_them)) > MOST_OTHERS * len(tokens):
        return False

    lines = given.with_answered(cited)
    known = {voice, job_context.place.group_id, *(line.sender_id for line in lines)}
    said, written = plain("\n".join(line.text for line in lines)).casefold(), plain(text)
    for person in {one.id: one for one in (job_context.speaker, *job_context.people) if one.id}.values():
        if person.id not in known and f"({person.id})" in written:
            full = [plain(name).casefold() for name in (person.name, *person.aliases) if name]
            forms = {form for name in full for form in (name, short_form(name)) if len(form) > 1}
            if not any(form in said for form in (*forms, person.id)):
                return False
    return True


@dataclass(frozen=True)
class Verdict:
    """The faults of one statement of a model; all fields are empty if it has none.

    ``lost_ids`` are known ids of the observation that the text lacks. ``foreign_ids`` are numbers of five or more
    digits that the model was not given, and known ids behind another person's name: the text is about other people,
    which not even ``force`` overrides. With any of ``faults`` the text is not a rewrite of the observation.
    """

    offences: tuple[Offence, ...] = ()
    lost_ids: tuple[str, ...] = ()
    foreign_ids: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()

    @property
    def is_usable(self) -> bool:
        """Whether the text may be stored at all, absolute or not."""
        return not (self.lost_ids or self.foreign_ids or self.faults)

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
        drift = ("drift",) if self.lost_ids or self.foreign_ids else ()
        return frozenset((*self.faults, *drift, *(offence.kind for offence in self.offences)))

    @property
    def feedback(self) -> str:
        """What is wrong with the text, as the model is told it."""
        told = sentences.models
        said = [told.FEEDBACK[fault] for fault in self.faults]
        for kind in dict.fromkeys(offence.kind for offence in self.offences):
            words = dict.fromkeys(offence.word for offence in self.offences if offence.kind == kind)
            said.append(
                told.FEEDBACK_LEANING[kind].format(words="".join(f"「{word}」" for word in list(words)[:NAMED]))
            )
        for wrong, ids in ((told.FEEDBACK_LOST, self.lost_ids), (told.FEEDBACK_FOREIGN, self.foreign_ids)):
            said += [wrong.format(ids="、".join(ids[:NAMED]))] if ids else []
        return "".join(said)


def verdict_on(text: str, original: str, given: GivenLines, job_context: JobContext) -> Verdict:
    """Judge a model's rewrite of ``original``, an observation or lines, beside the lines that the model saw.

    Only the first 2,000 characters of each text are read; a longer rewrite is too long anyway.
    """
    read, heard = text[:READ], original[:READ]
    names = tuple(name for name in called(job_context) if name in read or name in heard)
    spans = [match.span() for match in ID_LABEL.finditer(read)]  # labels, names and times: any rewrite may add them
    spans += [(mention.start, mention.stop) for mention in mentions(read)]
    if not _WORD.search(blanked(read, (*spans, *named(read, names, lambda _: False)))):
        return Verdict(faults=("empty",))

    written, said = plain(read), plain(heard)
    place = Person(job_context.place.group_id, job_context.place_name)
    people = [one for one in (job_context.speaker, *job_context.people, place) if one.id]
    ids = dict.fromkeys(one.id for one in people)
    by_name = {**ids_by_name(people, written, said), "QQ": set(ids)}  # QQ stands for a person without a name
    lost = set(ids_in(said, ids, by_name)).difference(ids_in(written, ids, by_name))
    remembered = (plain(spoken(event)[:READ]) for event in job_context.neighbours)
    return Verdict(
        offences(read, names=names),
        tuple(one for one in ids if one in lost),
        tuple(foreign_ids(written, chain((said, given.plain), remembered), by_name, ids)),
        ("too_long",) if len(text) > _LONG and len(text) > _TIMES_HEARD * len(original) else (),
    )


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
    if note and not lines:
        tokens = tokens_of(text, called(job_context))
        if len(tokens & tokens_of(note, called(job_context))) < LEAST_OWN * len(tokens):
            yield "unfounded"
    if strange_figures(text, given, names):
        yield "figure"
    said = duplicate_key("\n".join((*names, *(one.text for one in given))))
    quoted = (duplicate_key("".join(found.groups(default=""))) for found in _QUOTATION.finditer(text))
    if any(one not in said for one in quoted if len(one) >= QUOTED):
        yield "quote"


def is_change(text: str, line: Message, voice: str, old: Event, job_context: JobContext, *, is_rule: bool) -> bool:
    """Return whether a statement of ``voice``, made from ``line``, may replace an event: the same voice said it later.

    They must share a token. A rule of the group, no word of its voice about themselves, may also be replaced by one
    that an admin lays down.
    """
    is_rule = is_rule and line.scene.is_admin and old.sender_id not in old.subjects
    is_theirs = bool(voice) and (voice == old.sender_id or is_rule)
    is_later = line.sent_at > old.happened_at and old.retired_at is None and old.scope == job_context.place
    words = tokens_of("\n".join((old.text, *(quote.text for quote in old.quotes))), called(job_context))
    return is_theirs and is_later and not words.isdisjoint(tokens_of(f"{text}\n{line.text}", called(job_context)))


def is_same(text: str, voice: str, old: Event, job_context: JobContext) -> bool:
    """Return whether a statement may count as a repetition of an event: one place and voice, and equal figures."""
    is_theirs = (old.scope, old.sender_id) == (job_context.place, voice) and old.retired_at is None
    return is_theirs and values_of(text, called(job_context)) == values_of(old.text, called(job_context))


def called(job_context: JobContext) -> tuple[str, ...]:
    """Return all names of people and place, including former ones, in full, short, and as a prompt shows them."""
    return _with_other_forms(job_context.names)


@cleared_on_erasure
@lru_cache(maxsize=256)  # every check of a statement needs them
def _with_other_forms(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(form for name in names for form in name_forms(name)))


@cleared_on_erasure
@lru_cache(maxsize=1024)  # the lines of a job are compared with each of its statements
def tokens_of(text: str, names: tuple[str, ...]) -> frozenset[str]:
    """Return the pairs of characters, words and numbers of a text, without names, ids, dates and function words."""
    spans = [found.span() for found in LABEL.finditer(text)]
    spans += [(found.start, found.stop) for found in mentions(text) if found.kind in ("absolute", "yearless")]
    blank = blanked(text, (*spans, *named(text, names, is_time)))
    found: set[str] = set()
    for run, word in pieces_of(blank):
        found.update((word,) if word else map(add, run, run[1:]))
    return frozenset(found) - FUNCTION_WORDS | {f"={value}" for value in values_of(blank)}
