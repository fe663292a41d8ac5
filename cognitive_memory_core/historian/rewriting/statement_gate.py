"""The gate: checks that a rewritten text stands on its own and adds nothing to what the model was given."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from operator import add
from typing import Literal

from ...domain.event import Statement
from ...domain.people import JobContext, Person
from ...text.caches import cleared_on_erasure
from ...text.identity.written_ids import ids_in, mislabelled, plain, short_form, strange_numbers, unnamed
from ...text.lexical.frequency import FUNCTION_WORDS
from ...text.lexical.terms import pieces_of
from ...text.names_and_quotations import TextMask, named
from ...text.safety.empty_answers import says_nothing
from ...text.safety.prompt_fences import defused
from ...text.statements.lexicon import Offence, offences
from ...text.statements.money_amounts import strange_amounts
from ...text.time.time_words import mentions

Fault = Literal["empty", "too_long", "unfounded", "language", "amount", "polarity", "question", "figure"]

READ = 2_000  # characters read of a text
_GIVEN_READ = 32_000  # characters read of everything that the model was given
_LONG, _TIMES_HEARD = 500, 3
_JUDGED_TERMS, _LEAST_SHARED = 4, 0.05  # measured: 1 of 152 true rewrites is below, and 93 to 97 of 100 swapped ones
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN = re.compile("[A-Za-z]")
_LATIN_WORD = re.compile("[A-Za-z]{2,}")
_FEW_WORDS = 3
_LABEL = re.compile(r"[(（][0-9A-Za-z_-]{1,128}[)）]")
_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class Verdict:
    """What is wrong with one statement of a model; all fields are empty if nothing is.

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


@dataclass(frozen=True)
class Around:
    """The texts that a model was given in addition to an observation; analysed once for all statements of a turn."""

    texts: tuple[str, ...]

    @cached_property
    def plain(self) -> str:
        """The texts in plain form, in which ids are searched for."""
        return plain("\n".join(one[:READ] for one in self.texts)[:_GIVEN_READ])

    @cached_property
    def terms(self) -> frozenset[str]:
        """The words of the texts."""
        return frozenset(_terms(self.plain))


def judge(text: str, original: str, context: Sequence[str], job_context: JobContext) -> Verdict:
    """Judge a model's rewrite of ``original``, an observation, given the other texts that the model saw.

    Only the first 2,000 characters of each text are read; a longer rewrite is too long anyway.
    """
    return judge_amid(text, original, Around(tuple(context)), job_context)


def judge_amid(text: str, original: str, around: Around, job_context: JobContext) -> Verdict:
    """Judge one of several statements of a turn as :func:`judge` does, with the texts that all of them share."""
    read, said = text[:READ], plain(original[:READ])
    given = _GateInput(said, around)
    known = _Known(job_context, f"{read}\n{original[:READ]}")
    faults = tuple(_faults(text, original, given, known))
    if "empty" in faults:
        return Verdict(faults=faults)
    written = plain(read)
    ids_by_name = known.ids_by_name(f"{written}\n{said}")
    lost = set(ids_in(said, known.ids, ids_by_name)).difference(ids_in(written, known.ids, ids_by_name))
    strange = strange_numbers(unnamed(written, ids_by_name), f"{given.plain}\n{known.remembered}", known.ids)
    foreign = (*strange, *mislabelled(written, ids_by_name, known.ids))
    return Verdict(
        offences(read, names=known.names),
        tuple(one for one in known.ids if one in lost),
        tuple(dict.fromkeys(foreign)),
        faults,
    )


def judged(statement: Statement, names: Collection[str]) -> Statement:
    """Return the statement; if it has offences, marked as not absolute. Known ``names`` are not read as words."""
    if statement.is_absolute and offences(statement.text, names=names):
        return replace(statement, is_absolute=False)
    return statement


@dataclass(frozen=True)
class _GateInput:
    """All that a model was given for one statement: the observation ``said`` in plain form, and further texts."""

    said: str
    around: Around

    @cached_property
    def plain(self) -> str:
        return f"{self.said}\n{self.around.plain}"

    def shared(self, terms: Collection[str]) -> int:
        """Return how many of the terms occur in what the model was given."""
        said = frozenset(_terms(self.said))
        return sum(term in self.around.terms or term in said for term in terms)


class _Known:
    """The ids of the job context's people and group, and those names of theirs that occur in a text."""

    def __init__(self, job_context: JobContext, text: str) -> None:
        """Collect all ids, and the names that occur in ``text``, because few of thousands of people may be in it."""
        self._place = Person(job_context.place.group_id, job_context.place_name)
        self._people = (job_context.speaker, *job_context.people)
        self.ids = dict.fromkeys(one.id for one in (*self._people, self._place) if one.id)
        self.names = self.names_in(text)
        self.remembered = plain("\n".join(event.text[:READ] for event in job_context.neighbours))

    def names_in(self, text: str) -> tuple[str, ...]:
        """Return the names of known people that a text contains, written in full or shortened as in speech."""
        called = (form for name, _ in self._named() for form in _forms(name))
        return tuple({form: None for form in called if form in text})

    def ids_by_name(self, text: str) -> dict[str, set[str]]:
        """Map each name that occurs in a plain text to the ids of its present and former bearers."""
        found = {"QQ": set(self.ids)}  # stands for a person without a name
        for name, user_id in self._named():
            for form in _plain_forms(name):
                if form in text:
                    found.setdefault(form, set()).add(user_id)
        return found

    def _named(self) -> Iterator[tuple[str, str]]:
        for person in (*self._people, self._place):
            yield person.name, person.id
            for alias in person.aliases:
                yield alias, person.id


@cleared_on_erasure
@lru_cache(maxsize=20_000)  # covers the names of a busy bot's groups, which every statement needs
def _forms(name: str) -> tuple[str, ...]:
    """Return a name in full, as a prompt shows it, and in the short form that people use; each distinct form once."""
    return tuple(dict.fromkeys(form for form in (name, defused(name), short_form(name)) if form))


@cleared_on_erasure
@lru_cache(maxsize=20_000)
def _plain_forms(name: str) -> tuple[str, ...]:
    return tuple(plain(form) for form in _forms(name))


def _faults(text: str, original: str, given: _GateInput, known: _Known) -> Iterator[Fault]:
    read = text[:READ]
    if says_nothing(read, original[:READ]):
        yield "empty"
        return
    if len(text) > _LONG and len(text) > _TIMES_HEARD * len(original):
        yield "too_long"
    own, source = _content(read, known.names), _content(original[:READ], known.names)
    if _WORD.search(source) and not _WORD.search(own):
        yield "empty"
        return
    if _is_translated(own, source, given, known):
        yield "language"
    if _is_unfounded(own, given):
        yield "unfounded"
    if strange_amounts(plain(own), f"{given.plain}\n{known.remembered}"):
        yield "amount"


def _content(text: str, names: Collection[str]) -> str:
    """Return the text with blanks for labels, known names and times, which any rewrite may add."""
    spans = [match.span() for match in _LABEL.finditer(text)]
    spans += [(mention.start, mention.stop) for mention in mentions(text)]
    mask = TextMask(len(text), (*spans, *named(text, names, lambda _: False)))
    return mask.blanked(text)


def _is_translated(own: str, source: str, given: _GateInput, known: _Known) -> bool:
    """Return whether the language changed: all Chinese characters are gone, or there are some and none were given."""
    if _HAN.search(source):
        return bool(_LATIN.search(own)) and not _HAN.search(own)
    if len(_LATIN_WORD.findall(source)) < _FEW_WORDS or not _HAN.search(own):
        return False
    return not _HAN.search(_content(given.plain, known.names_in(given.plain)))


def _is_unfounded(own: str, given: _GateInput) -> bool:
    """Return whether a text shares too few terms with all that the model was given."""
    terms = {term for term in _terms(plain(own)) if term not in FUNCTION_WORDS}
    if len(terms) < _JUDGED_TERMS:
        return False
    return given.shared(terms) < _LEAST_SHARED * len(terms)


def _terms(text: str) -> Iterator[str]:
    """Yield the words of a text, or pairs of adjacent characters where words are not separated."""
    for run, word in pieces_of(text):
        if word:
            yield word
        else:
            yield from map(add, run, run[1:])
