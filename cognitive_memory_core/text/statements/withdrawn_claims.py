"""Detection of texts that repeat a statement in the same or similar words, by shared character pairs and words.

Times and the names of the people concerned are ignored, because a paraphrase usually drops them.
A paraphrase in entirely different words is not detected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from math import fsum

from ..terms import FUNCTION_WORDS, index_terms, telling
from ..time.time_words import mentions
from .figures import values_of

MOST = 0.5  # share of a statement from which a text contains it
RECITED = 0.4  # share from which a line of chat repeats it; see docs/decisions/0019-forgotten-lines.md
_FRAME = frozenset("不没也很最更太喜欢爱讨厌怕吃喝看玩听说想会要能在住做是有去来过着了打算计划习惯经常每天觉得最近正")
_OF_FRAME = 0.1  # weight of generic openings: 不喜欢吃, 打算, 住在
_SPLIT = re.compile(r"(?<=[。！？!?；;\n])")
_MARKS = "-*+•>· \t"  # characters before the text of a line
_PIECE = 1_000  # characters that are split into terms at once


@dataclass(frozen=True)
class Trace:
    """The terms of a text, each of which has a weight, by which a repetition of the text is recognised."""

    terms: frozenset[str]

    @classmethod
    def of(cls, text: str, but: Iterable[str] = ()) -> Trace:
        """Return the terms of a text, without its times and without the terms of the texts in ``but``."""
        return cls(_telling(_terms(_timeless(text))) - frozenset(term for other in but for term in _terms(other)))

    @property
    def weight(self) -> float:
        """The total weight of the terms."""
        return fsum(map(_weight, self.terms))  # equal sets have equal weights, in whatever order they are iterated

    def share_in(self, other: Trace) -> float:
        """Return which share of this trace's weight ``other`` also has, from 0 to 1; 0 if this trace is empty."""
        return Trace(self.terms & other.terms).weight / (self.weight or 1.0)


@dataclass(frozen=True)
class WithdrawnClaim:
    """A statement that must no longer be repeated; the words of the texts in ``but`` may still be said."""

    text: str
    but: tuple[str, ...] = ()

    @cached_property
    def trace(self) -> Trace:
        """The terms of the claim, as a Trace."""
        return Trace.of(self.text, self.but)

    def is_told_by(self, text: str) -> bool:
        """Return whether a text contains most of the claim, or consists mostly of it.

        If all words of the claim are in ``but`` and only a value is not (周二 was replaced by 周四), the text must have
        that value and share a word of the topic.
        """
        if not self.trace.terms and self._values:
            has_topic = not _telling(self._whole.terms).isdisjoint(Trace.of(text).terms)
            return has_topic and not self._values.isdisjoint(values_of(text))
        said = Trace.of(text, self.but)
        return self.trace.share_in(said) > MOST or said.share_in(self._whole) > MOST

    def is_recited_by(self, line: str) -> bool:
        """Return whether a line has over the share ``RECITED`` of the claim's weight, and at least two of its terms.

        One term suffices if the claim has only one.
        """
        said = Trace.of(line, self.but)
        shared = self.trace.terms & said.terms
        return len(shared) >= min(len(self.trace.terms), 2) > 0 and self.trace.share_in(said) > RECITED

    @cached_property
    def _values(self) -> frozenset[object]:
        """The days, times and numbers of the claim that the texts in ``but`` do not have."""
        return values_of(self.text).difference(*map(values_of, self.but))

    @cached_property
    def _whole(self) -> Trace:
        return Trace(_terms(self.text))


def pieces(text: str) -> list[str]:
    """Split a text after each sentence, semicolon and line break; joined, the parts are the text."""
    return [part for part in _SPLIT.split(text) if part]


def without(text: str, goes: Callable[[str], bool]) -> str:
    """Return a text without the :func:`pieces` for which ``goes`` is true, and without lines that become empty."""
    kept = (_spared(line, goes) for line in text.split("\n"))
    return "\n".join(line for line in kept if line is not None)


def _spared(line: str, goes: Callable[[str], bool]) -> str | None:
    said = line.lstrip(_MARKS)
    parts = pieces(said)
    left = [part for part in parts if not (part.strip() and goes(part))]
    if len(left) == len(parts):
        return line
    rest = "".join(left).strip("；; ")
    return line[: len(line) - len(said)] + rest if rest else None


def _timeless(text: str) -> str:
    for found in reversed(mentions(text)):
        text = f"{text[: found.start]} {text[found.stop :]}"
    return text


def _terms(text: str) -> frozenset[str]:
    starts = range(0, len(text), _PIECE)
    return frozenset(term for start in starts for term in index_terms(text[start : start + _PIECE]))


def _telling(terms: frozenset[str]) -> frozenset[str]:
    """Return the terms with content, without single Chinese characters and function words; all, if no others remain."""
    pairs = frozenset(term for term in terms if len(term) > 1 or term.isascii()) - FUNCTION_WORDS
    return pairs or terms


def _weight(term: str) -> float:
    if term.isascii():
        return 1.0
    return _OF_FRAME if _FRAME.issuperset(term) else min(map(telling, term)) ** 2
