"""Topic and values (hours, days, sizes, versions, codes, quoted names, numbers with a unit) of a statement.

The date on which a statement was made is no value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..characters import folded
from ..patterns import Pattern
from ..time.numerals import worth

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
