"""How much terms count for chat lines: by rarity, and, for the remarks of a monologue, by the line's length."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from itertools import chain

from ..text.lexical.terms import SEARCHED
from .talk_lines import TalkLine
from .term_coverage import saturated, usual_weight

ECHO = 0.6  # share of the query: a recent line that contains as much is taken for the query itself
ASIDE = 0.5  # factor of terms that stand beside the question only
_LENGTH_SHARE = 0.75  # BM25's b, for the remarks of a monologue
_FULL_LENGTH = 60  # terms from which a line counts as long
COVERAGE_SATURATION = 1.0  # see saturated; a smaller one lets age and people outweigh half of the query


@dataclass(frozen=True)
class Weights:
    """Weights of the parts of a line's score relative to its own words (1); 0 disables a part."""

    window: float = 0.2  # for the adjacent line; halved with each line of distance, and within a monologue in private
    reply: float = 0.5
    session: float = 0.15  # for lines of the same topic of the session, unless they are a monologue in private
    label: float = 0.3  # for its speaker's name and day: lines by somebody tell less about them than lines about them
    substance: float = 0.3  # gain of a long line over an empty one
    single: float = 0.7  # factor of a single character compared with a pair or word
    saturation: float = 1.2  # how soon repeated occurrences of a term stop counting (BM25's k1)


WEIGHTS = Weights()


@dataclass(frozen=True)
class Measure:
    """How terms count for a line: their weights, the weight of the whole query, and the damping by line length."""

    rarity: Mapping[str, float]
    whole: float
    weights: Weights
    usual_length: float = 0.0  # of a line, in terms; 0: the length of a line does not matter

    def damping(self, line: TalkLine) -> float:
        """Return the number of occurrences at which a term reaches half of its greatest weight in this line."""
        if not self.usual_length:
            return self.weights.saturation
        return self.weights.saturation * (1.0 + _LENGTH_SHARE * (len(line.said) / self.usual_length - 1.0))

    def score(self, line: TalkLine, covered: float) -> float:
        """Return the score in [0, 1] of a line that contains terms of the weight ``covered`` of the query."""
        share = min(saturated(covered / self.whole, COVERAGE_SATURATION), 1.0)
        return share if self.usual_length else share * _substance(line, self.weights)


def of_talk(
    asked: frozenset[str], asides: frozenset[str], words: Sequence[Sequence[frozenset[str]]], weights: Weights
) -> Measure:
    """Return how terms count in talk of several people: by their rarity in these lines and in the language."""
    having, lines = Counter(chain.from_iterable(chain.from_iterable(words))), len(words[0])
    rarity = {
        term: _rarity(term, having.get(term, 0), lines, weights) * (ASIDE if term in asides else 1.0) for term in asked
    }
    return Measure(rarity, _whole(rarity), weights)


def of_remarks(
    asked: frozenset[str],
    asides: frozenset[str],
    lines: Sequence[TalkLine],
    said: Sequence[frozenset[str]],
    weights: Weights,
) -> Measure:
    """Return how terms count in a monologue, as in BM25: by their rarity in these lines and by the line's length."""
    having = Counter(chain.from_iterable(said))
    rarity = {term: _rarity_of(having.get(term, 0), len(lines)) * (ASIDE if term in asides else 1.0) for term in asked}
    return Measure(rarity, _whole(rarity), weights, sum(len(line.said) for line in lines) / len(lines) or 1.0)


def is_echo(line: TalkLine, measure: Measure, asked_since: datetime | None) -> bool:
    """Return whether a line said at ``asked_since`` or later repeats the query, exactly or nearly."""
    if asked_since is None or line.message.sent_at < asked_since:
        return False
    rarity = measure.rarity
    return sum(rarity[term] for term in line.said.intersection(rarity)) >= ECHO * measure.whole


def _whole(rarity: Mapping[str, float]) -> float:
    return sum(nlargest(SEARCHED, rarity.values())) or 1.0


def _rarity(term: str, having: int, lines: int, weights: Weights) -> float:
    alone = len(term) == 1 and not term.isascii()
    usual = usual_weight(term) * (weights.single if alone else 1.0)
    return usual * _rarity_of(having, lines)


def _rarity_of(having: int, lines: int) -> float:
    return math.log1p((lines - having + 0.5) / (having + 0.5))


def _substance(line: TalkLine, weights: Weights) -> float:
    """Return a factor in (0, 1] that lowers the score of short lines; it is 1 for long ones."""
    says = min(math.log1p(len(line.said)) / math.log(_FULL_LENGTH), 1.0)
    return (1.0 + weights.substance * says) / (1.0 + weights.substance)
