"""The words of profiles and facts, and their information weights, which the checks of a new profile compare."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple

from ...text.caches import cleared_on_erasure
from ...text.lexical.frequency import FUNCTION_WORDS, telling
from ...text.lexical.terms import index_terms

SAME_THING = 0.5  # least share of words (pairs of characters) that two contradicting clauses have in common
_SHORT = 100  # characters of a text whose terms are cached
_PIECE = 1_000  # characters that are split into terms at once
_CLAUSE, _CLAUSES = 3, 300  # least characters of a clause, and the number of clauses compared on each side
_CLAUSE_ENDS = re.compile("[，。；！？,;!?\n]+")


def clauses_of(text: str) -> Iterator[str]:
    """Yield the clauses of a profile without bullets; those under three characters are skipped."""
    parts = (part.strip("-*+• \t") for part in _CLAUSE_ENDS.split(text))
    yield from islice(dict.fromkeys(part for part in parts if len(part) >= _CLAUSE), _CLAUSES)


def likeness(words: frozenset[str], others: frozenset[str]) -> float:
    """Return the number of common words divided by the size of the smaller set."""
    return len(words & others) / max(min(len(words), len(others)), 1)


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """Return words and pairs of characters, without function words."""
    return _united([_terms_in(piece).words for piece in _pieces(texts)])


def terms_of(texts: Iterable[str]) -> frozenset[str]:
    """Return characters, pairs of characters and words, without function words."""
    return _united([_terms_in(piece).terms for piece in _pieces(texts)])


def weight_of(found: Iterable[str]) -> float:
    """Return the sum of the terms' information weights: near 0 for 的, 1 for a rare character or a word."""
    return sum(map(_weight_of, found))


def without(found: frozenset[str], names: frozenset[str]) -> frozenset[str]:
    """Return the terms that are not names."""
    return found if found.isdisjoint(names) else found - names


class _Terms(NamedTuple):
    """All terms of a piece of text, and the words among them: terms longer than one character."""

    terms: frozenset[str]
    words: frozenset[str]


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    """Yield the clauses of the texts, very long ones in parts; no term extends over the end of a clause."""
    for clause in chain.from_iterable(map(_CLAUSE_ENDS.split, texts)):
        if len(clause) > _PIECE:
            yield from (clause[start : start + _PIECE] for start in range(0, len(clause), _PIECE))
        elif clause:
            yield clause


def _united(found: Sequence[frozenset[str]]) -> frozenset[str]:
    return found[0] if len(found) == 1 else frozenset[str]().union(*found)


def _terms_in(piece: str) -> _Terms:
    return _cached(piece) if len(piece) <= _SHORT else _split(piece)


@cleared_on_erasure
@lru_cache(maxsize=1024)  # clauses of a profile and its facts are looked at many times, by this merge and the next
def _cached(piece: str) -> _Terms:
    return _split(piece)


def _split(piece: str) -> _Terms:
    terms = frozenset(index_terms(piece)) - FUNCTION_WORDS
    return _Terms(terms, frozenset(term for term in terms if len(term) > 1))


@lru_cache(maxsize=20_000)
def _weight_of(term: str) -> float:
    return 1.0 if term.isascii() else min(map(telling, term)) ** 2
