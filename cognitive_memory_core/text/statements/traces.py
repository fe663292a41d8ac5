"""Whether a text still tells a statement, in these or similar words: by pairs of characters, and words, that both have.

Times are left out, since who puts something in other words leaves them out first, and so are the names of whom it is
told. What is told in other words altogether leaves no trace.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from ..lexical.frequency import FUNCTION_WORDS, telling
from ..lexical.terms import index_terms
from ..time.timewords import mentions

MOST = 0.5  # share of a statement from which on a text tells it
RECITED = 0.4  # share from which on a line of chat repeats it; see docs/decisions/0019-forgotten-lines.md
_FRAME = frozenset("不没也很最更太喜欢爱讨厌怕吃喝看玩听说想会要能在住做是有去来过着了打算计划习惯经常每天觉得最近正")
_OF_FRAME = 0.1  # weight of what opens a statement of any sort: 不喜欢吃, 打算, 住在
_SPLIT = re.compile(r"(?<=[。！？!?；;\n])")
_MARKS = "-*+•>· \t"  # what may stand before a line
_PIECE = 1_000  # characters that are split into terms at once


@dataclass(frozen=True)
class Trace:
    """What a text is recognised by."""

    terms: frozenset[str]

    @classmethod
    def of(cls, text: str, but: Iterable[str] = ()) -> Trace:
        """Give the trace of a text, without what stands in other texts, too."""
        return cls(_telling(_terms(_timeless(text))) - frozenset(term for other in but for term in _terms(other)))

    @property
    def weight(self) -> float:
        """How much there is to be recognised."""
        return sum(map(_weight, self.terms))

    def share_in(self, other: Trace) -> float:
        """Tell how much of it is in another, from 0 to 1; 0 where nothing is to be recognised."""
        return Trace(self.terms & other.terms).weight / (self.weight or 1.0)


@dataclass(frozen=True)
class WithdrawnClaim:
    """Something that must not be told any more, though ``but`` these may, and who it is of may be named."""

    text: str
    but: tuple[str, ...] = ()

    @cached_property
    def trace(self) -> Trace:
        """What it is recognised by."""
        return Trace.of(self.text, self.but)

    def is_told_by(self, text: str) -> bool:
        """Tell whether a text says most of it, or says mostly what stands in it."""
        said = Trace.of(text, self.but)
        return self.trace.share_in(said) > MOST or said.share_in(self._whole) > MOST

    def is_recited_by(self, line: str) -> bool:
        """Tell whether a line of chat repeats it: most of its weight, and more than one word where it has more."""
        said = Trace.of(line, self.but)
        shared = self.trace.terms & said.terms
        return len(shared) >= min(len(self.trace.terms), 2) > 0 and self.trace.share_in(said) > RECITED

    def is_told_throughout(self, texts: Iterable[str]) -> bool:
        """Tell whether many texts say most of it together."""
        said = frozenset(term for text in texts for term in Trace.of(text).terms)
        return self.trace.share_in(Trace(said)) > MOST

    @cached_property
    def _whole(self) -> Trace:
        return Trace(_terms(self.text))


def pieces(text: str) -> list[str]:
    """Split a text after each sentence, clause between semicolons, and line; joined it is the text."""
    return [part for part in _SPLIT.split(text) if part]


def without(text: str, goes: Callable[[str], bool]) -> str:
    """Give a text without the pieces for which ``goes`` says so; a line of which all went goes, too."""
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
    """Leave characters out where there are pairs of them."""
    pairs = frozenset(term for term in terms if len(term) > 1 or term.isascii()) - FUNCTION_WORDS
    return pairs or terms


def _weight(term: str) -> float:
    if term.isascii():
        return 1.0
    return _OF_FRAME if _FRAME.issuperset(term) else min(map(telling, term)) ** 2
