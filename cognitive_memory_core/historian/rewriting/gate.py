"""The gate: only what stands on its own counts as absolute, and nothing may come out that did not go in."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from operator import add
from typing import Literal

from ...domain.event import Statement
from ...domain.people import Anchors, Person
from ...text.caches import cleared_on_erasure
from ...text.identity.written_ids import mislabelled, plain, spoken, standing, strange_numbers, unnamed
from ...text.lexical.frequency import FUNCTION_WORDS
from ...text.lexical.terms import pieces_of
from ...text.safety.fences import defused
from ...text.safety.refusals import says_nothing
from ...text.spared_spans import Spared, named
from ...text.statements.amounts import strange_amounts
from ...text.statements.lexicon import Offence, offences
from ...text.time.timewords import mentions

Fault = Literal["empty", "too_long", "unfounded", "language", "amount"]

READ = 2_000  # characters of a text that are looked at
_GIVEN_READ = 32_000  # of all that the model was given
_LONG, _TIMES_HEARD = 500, 3
_JUDGED_TERMS, _LEAST_SHARED = 4, 0.05  # measured: 1 of 152 true rewrites falls below, 93 to 97 of 100 exchanged ones
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN = re.compile("[A-Za-z]")
_LATIN_WORD = re.compile("[A-Za-z]{2,}")
_FEW_WORDS = 3
_LABEL = re.compile(r"[(（][0-9A-Za-z_-]{1,128}[)）]")
_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class Verdict:
    """What is wrong with one statement of a model; nothing where it may pass.

    ``lost_ids`` are known ids that stood in what was heard and are gone; ``foreign_ids`` are numbers of five or more
    digits that stand nowhere in what the model was given, and known ids behind the name of somebody else. ``faults``
    make a text no rewrite at all.
    """

    offences: tuple[Offence, ...] = ()
    lost_ids: tuple[str, ...] = ()
    foreign_ids: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()

    @property
    def has_drift(self) -> bool:
        """Whether it speaks of somebody else than what was heard: no force lets that pass."""
        return bool(self.lost_ids or self.foreign_ids)

    @property
    def is_usable(self) -> bool:
        """Whether the text may be stored at all, absolute or not."""
        return not (self.has_drift or self.faults)

    @property
    def is_absolute(self) -> bool:
        """Whether the statement stands on its own."""
        return self.is_usable and not self.offences


@dataclass(frozen=True)
class Around:
    """The texts that a model was given beside an observation, read once for all statements of a turn."""

    texts: tuple[str, ...]

    @cached_property
    def plain(self) -> str:
        """The texts in the spelling that ids are looked for in."""
        return plain("\n".join(one[:READ] for one in self.texts)[:_GIVEN_READ])

    @cached_property
    def terms(self) -> frozenset[str]:
        """The words of the texts."""
        return frozenset(_terms(self.plain))


def judge(text: str, heard: str, context: Sequence[str], anchors: Anchors) -> Verdict:
    """Judge what a model made of ``heard``, an observation, in the light of the other texts that it was given.

    The first 2,000 characters of each text count; a longer one is too long anyway.
    """
    return judge_amid(text, heard, Around(tuple(context)), anchors)


def judge_amid(text: str, heard: str, around: Around, anchors: Anchors) -> Verdict:
    """Do what :func:`judge` does, for one of many statements of a turn."""
    read, said = text[:READ], plain(heard[:READ])
    given = _GateInput(said, around)
    known = _Known(anchors, f"{read}\n{heard[:READ]}")
    faults = tuple(_faults(text, heard, given, known))
    if "empty" in faults:
        return Verdict(faults=faults)
    written = plain(read)
    bearers = known.bearers(f"{written}\n{said}")
    lost = set(standing(said, known.ids, bearers)).difference(standing(written, known.ids, bearers))
    strange = strange_numbers(unnamed(written, bearers), given.plain, known.ids)
    foreign = (*strange, *mislabelled(written, bearers, known.ids))
    return Verdict(
        offences(read, names=known.names),
        tuple(one for one in known.ids if one in lost),
        tuple(dict.fromkeys(foreign)),
        faults,
    )


def judged(statement: Statement, names: Collection[str]) -> Statement:
    """Mark a statement that still leans on its moment; known names are never offences."""
    if statement.is_absolute and offences(statement.text, names=names):
        return replace(statement, is_absolute=False)
    return statement


@dataclass(frozen=True)
class _GateInput:
    """All that a model was given for one statement: what was ``said``, plain, and the texts around it."""

    said: str
    around: Around

    @cached_property
    def plain(self) -> str:
        return f"{self.said}\n{self.around.plain}"

    def shared(self, terms: Collection[str]) -> int:
        """Count the terms that stand in it."""
        said = frozenset(_terms(self.said))
        return sum(term in self.around.terms or term in said for term in terms)


class _Known:
    """Whom the anchors name, by ids and by those of their names that stand in a text; the group is one of them."""

    def __init__(self, anchors: Anchors, text: str) -> None:
        """Read the anchors; there may be thousands of people, but hardly any of them in the text."""
        self._place = Person(anchors.place.group_id, anchors.place_name)
        self._people = (anchors.speaker, *anchors.people)
        self.ids = dict.fromkeys(one.id for one in (*self._people, self._place) if one.id)
        self.names = self.names_in(text)
        self.remembered = plain("\n".join(event.text[:READ] for event in anchors.neighbours))

    def names_in(self, text: str) -> tuple[str, ...]:
        """Give the names that stand in a text, in full and as others say them."""
        called = (form for name, _ in self._named() for form in _forms(name))
        return tuple({form: None for form in called if form in text})

    def bearers(self, text: str) -> dict[str, set[str]]:
        """Give the names that stand in a plain text, each with the ids of those who bear or bore it."""
        found = {"QQ": set(self.ids)}  # what somebody without a name is called
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
@lru_cache(maxsize=20_000)  # the names of a busy bot's groups, asked again with every statement
def _forms(name: str) -> tuple[str, ...]:
    """Give a name in full, as a prompt shows it, and as others say it."""
    return tuple(dict.fromkeys(form for form in (name, defused(name), spoken(name)) if form))


@cleared_on_erasure
@lru_cache(maxsize=20_000)
def _plain_forms(name: str) -> tuple[str, ...]:
    return tuple(plain(form) for form in _forms(name))


def _faults(text: str, heard: str, given: _GateInput, known: _Known) -> Iterator[Fault]:
    read = text[:READ]
    if says_nothing(read, heard[:READ]):
        yield "empty"
        return
    if len(text) > _LONG and len(text) > _TIMES_HEARD * len(heard):
        yield "too_long"
    own, source = _content(read, known.names), _content(heard[:READ], known.names)
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
    """Blank what is the same in every rewrite: labels, known names and times."""
    spans = [match.span() for match in _LABEL.finditer(text)]
    spans += [(mention.start, mention.stop) for mention in mentions(text)]
    spared = Spared(len(text), (*spans, *named(text, names, lambda _: False)))
    return spared.blanked(text)


def _is_translated(own: str, source: str, given: _GateInput, known: _Known) -> bool:
    """Tell whether the language changed: no Han is left, or Han came where nobody wrote any."""
    if _HAN.search(source):
        return bool(_LATIN.search(own)) and not _HAN.search(own)
    if len(_LATIN_WORD.findall(source)) < _FEW_WORDS or not _HAN.search(own):
        return False
    return not _HAN.search(_content(given.plain, known.names_in(given.plain)))


def _is_unfounded(own: str, given: _GateInput) -> bool:
    """Tell whether a text shares next to nothing with all that was given."""
    terms = {term for term in _terms(plain(own)) if term not in FUNCTION_WORDS}
    if len(terms) < _JUDGED_TERMS:
        return False
    return given.shared(terms) < _LEAST_SHARED * len(terms)


def _terms(text: str) -> Iterator[str]:
    """Give the words of a text; pairs of neighbouring characters where words are not parted."""
    for run, word in pieces_of(text):
        if word:
            yield word
        else:
            yield from map(add, run, run[1:])
