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

from ..characters import folded
from ..patterns import Pattern
from ..terms import FUNCTION_WORDS, index_terms, telling
from ..time.numerals import worth
from ..time.time_words import mentions

_READ = 300  # characters of a statement
_LABEL = re.compile(r"[^\s，。：:、（）()“”\"]{0,12}[(（][0-9a-z_-]{1,128}[)）]")
_DATE = r"\d{4}年\d{1,2}月\d{1,2}日(?:凌晨|早上|上午|下午|晚上|前后|前|后|晚)?"
_SAID_ON = re.compile(
    rf"(?:^|(?<=[，,。； ]))[在于]?{_DATE}(?![（(起至到举截进])"
    rf"|[在于]{_DATE}(?=[又也才]?(?:说|提出|表示|报告|宣布|确认))"
    r"|[（(]\d{4}[-年]\d{1,2}[-月]\d{1,2}日?[）)]"
)
_UNITS = (
    "个|位|分钟|小时|秒|天|周|个月|年|元|块|万元|人|次|张|岁|楼|层|斤|公斤|寸|条|票|只|台|级|折|倍|米|公里"
    "|bpm|kg|km|cm|fps|%"
)
_DAY = re.compile(r"(?:\d{4}年)?\d{1,2}月(?:\d{1,2}[日号]?|[底初中])|(?<!\d)\d{1,2}[号日]")
_VALUES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("hour", re.compile(r"\d{1,2}[:：]\d{2}|[0-9一二两三四五六七八九十]{1,3}点半?(?![名评])")),
    ("day", _DAY),
    ("weekday", re.compile("(?:周|星期|礼拜)([一二三四五六日天末])(?!局)")),
    ("size", re.compile(r"\d+[x×*]\d+")),
    ("version", re.compile(r"(?<![\d.])\d+(?:\.\d+)+")),
    ("code", re.compile(r"(?<![a-z0-9])[a-z]{1,3}-?\d{1,4}(?![0-9a-z])")),
    ("name", re.compile("[“《「]([^”》」]{1,30})[”》」]")),
    ("number", re.compile(rf"(?<![\d.])(\d+(?:\.\d+)?|[零一二两三四五六七八九十百千万]+)({_UNITS})")),
)
_CHANGES = Pattern(
    "改[为到成名在回用叫]?|换[成到为]|挪[到至]|延期|延后|顺延|推迟|提前[到至]|放[慢快]|退回|升[到级]|降[到至]|涨到|搬[到去]|已经?|花了"
    "|从[^，,]{2,20}起|now|instead"
)
_FORMERLY = Pattern("原(?:定|为|来|本|先)|最初|起初|暂定|预计|打算|计划|坚持|本来|在攒|tentatively|originally|plan")
_WORDS = re.compile("[一-龥]+|[a-z]{2,}")


@dataclass(frozen=True)
class ValueReading:
    """What is compared of a statement: the words of its topic, and its values as ``(type, value)``."""

    about: frozenset[str]
    values: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, text: str) -> ValueReading:
        """Extract topic and values from a statement."""
        rest, values = _SAID_ON.sub(" ", _LABEL.sub(" ", folded(text[:_READ]))), set[tuple[str, str]]()
        for kind, pattern in _VALUES:
            values.update(_valued(kind, match) for match in pattern.finditer(rest))
            rest = pattern.sub(" ", rest)
        return cls(_words(_FORMERLY.compiled.sub(" ", _CHANGES.compiled.sub(" ", rest))), frozenset(values))


def _valued(kind: str, match: re.Match[str]) -> tuple[str, str]:
    if kind != "number":
        return kind, match[1] if match.re.groups else match[0]
    number = match[1] if match[1].isascii() else str(worth(match[1]))
    return f"number of {match[2]}", number


def _words(text: str) -> frozenset[str]:
    """Return the pairs of Chinese characters in a text, and its words of other languages."""
    found: set[str] = set()
    for run in _WORDS.findall(text):
        found.update([run] if run.isascii() else (run[at : at + 2] for at in range(len(run) - 1)))
    return frozenset(found)


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
            said = ValueReading.of(text)
            return not self._values.isdisjoint(said.values) and not self._reading.about.isdisjoint(said.about)
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
    def _reading(self) -> ValueReading:
        return ValueReading.of(self.text)

    @cached_property
    def _values(self) -> frozenset[tuple[str, str]]:
        """The values of the claim that the texts in ``but`` do not have."""
        return self._reading.values.difference(*(ValueReading.of(other).values for other in self.but))

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
