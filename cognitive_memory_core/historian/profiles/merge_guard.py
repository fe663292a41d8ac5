"""How far a new portrait may lie from the old one: no further than the new facts can explain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Literal

from ... import sentences
from ...text.identity.names import one_line
from ...text.identity.written_ids import plain, strange_numbers
from ...text.lexical.frequency import FUNCTION_WORDS, telling
from ...text.lexical.terms import index_terms
from ...text.lexical.tokens import sentences_of
from ...text.statements.sameness import contradicts

Kind = Literal["emptied", "unrelated", "overgrown", "destructive", "strangers", "contrary"]
SUPPORTED = 0.12  # least share of a portrait that must come from old portrait and facts: honest ones have 0.15 and more
SENTENCE_SUPPORTED, SENTENCE = 0.1, 18.0  # the same for each sentence of that weight or more
KEPT = 0.5  # least share of the old one that must be left
KEPT_OF_LITTLE = 0.25  # the same where the old one is so short that one changed fact is a large share of it
LITTLE = 60.0  # weight of such a short one: some forty characters
KEPT_OF_NOTES = 0.12  # the same of lines noted as they were said, which a portrait puts in fewer and other words
PLAY = (
    40.0  # weight of words that may come from nowhere, beside PER_FACT times the facts' and PER_OLD times the old one's
)
PER_FACT, PER_OLD = 1.5, 0.4
ROOM = 200  # characters by which a portrait may grow, beside three times those of the facts
SEAMS = 3.0  # weight of what stands around something withdrawn and goes with it
_PIECE = 1_000  # characters that are split into terms at once
_SHOWN = 3  # strange ids that are named
SAME_THING = 0.5  # least share of its words, pairs of characters, that a clause has in common with one it contradicts
_CLAUSE, _CLAUSES = 3, 300  # characters of one that may be denied, and how many are compared with as many
_CLAUSE_ENDS = re.compile("[，。；！？,;!?\n]+")
_QUOTED = 40  # characters of a clause that a model is shown again


@dataclass(frozen=True)
class Objection:
    """Why a portrait is refused, and how its painter is told."""

    kind: Kind
    feedback: str


@dataclass(frozen=True)
class Grounds:
    """What a new portrait may rest on: the old one, the new facts, and who is portrayed (names and ids).

    ``limit`` is how many characters a portrait may have; an old one over it may be condensed. ``notes`` are lines of
    the old one that nobody has put into words yet. What is ``withdrawn`` must go, in whatever words it was put.
    """

    old: str
    facts: Sequence[str]
    who: Sequence[str]
    limit: int
    notes: Sequence[str] = ()
    withdrawn: Sequence[str] = ()

    @property
    def given(self) -> tuple[str, ...]:
        """All that may be put into other words."""
        return (*self.facts, *self.notes)


def objection(new: str, grounds: Grounds) -> Objection | None:
    """Say why a portrait must not take the place of the old one; None where it may."""
    content = _Content.of(new, grounds)
    if (content.owed or content.notes) and not content.new:
        return Objection("emptied", sentences.portrait_emptied())
    if strangers := _strangers(new, grounds):
        return Objection("strangers", sentences.portrait_of_strangers("、".join(strangers[:_SHOWN])))
    if content.is_unrelated or any(_comes_from_nowhere(one, content) for one in sentences_of(new)):
        return Objection("unrelated", sentences.portrait_unrelated())
    if content.is_overgrown or len(new) > len(grounds.old) + 3 * sum(map(len, grounds.given)) + ROOM:
        return Objection("overgrown", sentences.portrait_overgrown())
    if content.kept < _wanted(content, grounds) * content.owed or content.has_lost_notes:
        return Objection("destructive", sentences.portrait_destroyed())
    return _contrary(new, grounds)


def _contrary(new: str, grounds: Grounds) -> Objection | None:
    turned = _turned_round(new, grounds)
    if turned is None:
        return None
    now, before = (one_line(clause, _QUOTED) for clause in turned)
    return Objection("contrary", sentences.portrait_turned_round(now, before))


def _turned_round(new: str, grounds: Grounds) -> tuple[str, str] | None:
    """Give a clause that says the contrary of one in the old portrait, and that one, where no fact speaks of it."""
    names = _terms(grounds.who)
    explained = _words((*grounds.given, *grounds.withdrawn)) - names
    before = {clause: _words([clause]) - names for clause in _clauses(grounds.old)}
    for clause in (one for one in _clauses(new) if one not in before):
        words = _words([clause]) - names
        was = max(before, key=lambda old: _likeness(words, before[old]), default="")
        held = before.get(was, frozenset[str]())
        if _likeness(words, held) >= SAME_THING and explained.isdisjoint(words & held) and contradicts(clause, was):
            return clause, was
    return None


def _likeness(words: frozenset[str], others: frozenset[str]) -> float:
    return len(words & others) / max(min(len(words), len(others)), 1)


def _clauses(text: str) -> Iterator[str]:
    """Give the parts of a portrait's lines, without bullets; one of two characters says nothing that can be denied."""
    parts = (part.strip("-*+• \t") for part in _CLAUSE_ENDS.split(text))
    yield from islice(dict.fromkeys(part for part in parts if len(part) >= _CLAUSE), _CLAUSES)


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(term for term in _terms(texts) if len(term) > 1)


@dataclass(frozen=True)
class _Content:
    """The terms of new portrait, old one, notes in it, notes and facts together, and what is withdrawn.

    Names say nothing. Notes that are withdrawn are none.
    """

    new: frozenset[str]
    old: frozenset[str]
    notes: frozenset[str]
    given: frozenset[str]
    gone: frozenset[str]

    @classmethod
    def of(cls, new: str, grounds: Grounds) -> _Content:
        """Leave out the names, which everything about somebody holds."""
        names = _terms(grounds.who)
        gone = _terms(grounds.withdrawn) - names
        texts = ([new], [grounds.old], grounds.given)
        found, old, given = (_terms(each) - names for each in texts)
        return cls(found, old, _terms(grounds.notes) - names - gone, given, gone)

    @property
    def is_unrelated(self) -> bool:
        """Whether next to nothing in it comes from what was given."""
        return _weight(self.new & (self.old | self.given)) < SUPPORTED * _weight(self.new)

    @property
    def is_overgrown(self) -> bool:
        """Whether more in it comes from nowhere than rewording brings along."""
        unexplained = _weight(self.new - self.old - self.given)
        return unexplained > PLAY + PER_FACT * _weight(self.given) + PER_OLD * _weight(self.old)

    @property
    def owed(self) -> float:
        """What of the old one must be accounted for: what is withdrawn and stands there in other words may go, too."""
        excused = _weight(self.gone - self.old) + SEAMS if self.gone else 0.0
        return max(_weight(self.old - self.gone) - excused, 0.0)

    @property
    def kept(self) -> float:
        """How much of the old one is left, beside what is withdrawn."""
        return _weight((self.old & self.new) - self.gone)

    @property
    def has_lost_notes(self) -> bool:
        """Whether next to nothing is left of many notes."""
        weight = _weight(self.notes)
        return weight > LITTLE and _weight(self.notes & self.new) < KEPT_OF_NOTES * weight


def _wanted(content: _Content, grounds: Grounds) -> float:
    share = KEPT if _weight(content.old) > LITTLE else KEPT_OF_LITTLE
    return share * min(1.0, grounds.limit / max(len(grounds.old), 1))


def _comes_from_nowhere(sentence: str, content: _Content) -> bool:
    terms = _terms([sentence]) & content.new
    weight = _weight(terms)
    return weight >= SENTENCE and _weight(terms & (content.old | content.given)) < SENTENCE_SUPPORTED * weight


def _strangers(new: str, grounds: Grounds) -> list[str]:
    source = plain("\n".join((grounds.old, *grounds.given, *grounds.who)))
    return strange_numbers(plain(new), source, grounds.who)


def _terms(texts: Iterable[str]) -> frozenset[str]:
    """Give characters, pairs of them, and words; common words of no content are left out."""
    pieces = (text[start : start + _PIECE] for text in texts for start in range(0, len(text), _PIECE))
    return frozenset(term for piece in pieces for term in index_terms(piece)) - FUNCTION_WORDS


def _weight(terms: Iterable[str]) -> float:
    """Weigh terms by how much they tell: 的 next to nothing, a rare character or a word 1."""
    return sum(map(_weight_of, terms))


@lru_cache(maxsize=20_000)
def _weight_of(term: str) -> float:
    return 1.0 if term.isascii() else min(map(telling, term)) ** 2
