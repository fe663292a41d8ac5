"""Detects a newer statement that gives another value for the subject of an older one, or says that it has ended.

Statements are compared by topic (pairs of characters, weighed by how rare they are) and by values (hours, days, sizes,
versions, codes, quoted names, numbers with a unit). The date on which a statement was made is no value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from ..lexical.folding import folded
from ..patterns import Pattern
from ..time.numerals import worth

Weigh = Callable[[Collection[str]], float]
_READ = 300  # characters of a statement
LIKE, LIKE_ENDED = (
    0.3,
    0.12,
)  # least share of common words of two that give two values, or of which one ends the other
NEAR = 5  # characters between a word that ends something and what it ends
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
_ENDS = Pattern(
    r"不再|破了|退回|取消|拒绝|回来|停(?:了|办|用|止|[一两三几\d])|作废|放弃|戒了|辞了|退出|分手|离职|关了|没了"
    "|no longer|cancelled|quit"
)
_CLAUSE_END = re.compile("[，,。；;]")
_WORDS = re.compile("[一-龥]+|[a-z]{2,}")


@dataclass(frozen=True)
class ValueReading:
    """What :func:`may_replace` compares of a statement.

    ``about`` are the words of its topic, ``values`` its values as ``(type, value)``. ``changes`` means that it tells of
    a change, ``was`` that it tells of a former state. ``ended`` are the words beside one like "cancelled".
    """

    about: frozenset[str]
    values: frozenset[tuple[str, str]]
    changes: bool
    was: bool
    ended: frozenset[str]

    @classmethod
    def of(cls, text: str) -> ValueReading:
        """Extract topic, values and words of change from a statement."""
        bare = _LABEL.sub(" ", folded(text[:_READ]))
        undated = _SAID_ON.sub(" ", bare)
        rest, values = undated, set[tuple[str, str]]()
        for kind, pattern in _VALUES:
            values.update(_valued(kind, match) for match in pattern.finditer(rest))
            rest = pattern.sub(" ", rest)
        about = _words(_FORMERLY.compiled.sub(" ", _CHANGES.compiled.sub(" ", rest)))
        ended = frozenset[str]().union(*map(_words, _beside(_DAY.sub("", undated))))
        changes, was = bool(_CHANGES.compiled.search(undated)), bool(_FORMERLY.compiled.search(undated))
        return cls(about, frozenset(values), changes, was, ended)


def tells_of_a_change(text: str) -> bool:
    """Return whether a statement says that something changes, ended, or formerly held."""
    said = folded(text[:_READ])
    return any(pattern.compiled.search(said) for pattern in (_CHANGES, _FORMERLY, _ENDS))


def may_replace(older: ValueReading, newer: ValueReading, weigh: Weigh, like: float = LIKE) -> bool:
    """Return whether ``newer`` may replace ``older``: the topic is the same, and a value changed or the thing ended.

    ``weigh`` returns the weight of words. ``like`` is the least share of common topic for a changed value, in [0, 1].
    """
    common = older.about & newer.about
    if not common:
        return False
    alike = weigh(common) / max(min(weigh(older.about), weigh(newer.about)), 1e-9)
    if alike >= like and (newer.changes or older.was) and _differ(older, newer):
        return True
    return alike >= LIKE_ENDED and bool(newer.ended & common) and not older.ended & common


def _differ(older: ValueReading, newer: ValueReading) -> bool:
    """Return whether both statements have values of some type, but no common value of that type."""
    kinds = {kind for kind, _ in older.values} & {kind for kind, _ in newer.values}
    return any(not {value for kind, value in older.values & newer.values if kind == one} for one in kinds)


def _valued(kind: str, match: re.Match[str]) -> tuple[str, str]:
    if kind != "number":
        return kind, match[1] if match.re.groups else match[0]
    number = match[1] if match[1].isascii() else str(worth(match[1]))
    return f"number of {match[2]}", number


def _beside(text: str) -> Iterator[str]:
    for match in _ENDS.finditer(text):
        yield _CLAUSE_END.split(text[max(match.start() - NEAR, 0) : match.start()])[-1]
        yield _CLAUSE_END.split(text[match.end() : match.end() + NEAR])[0]


def _words(text: str) -> frozenset[str]:
    """Return the pairs of Chinese characters in a text, and its words of other languages."""
    found: set[str] = set()
    for run in _WORDS.findall(text):
        found.update([run] if run.isascii() else (run[at : at + 2] for at in range(len(run) - 1)))
    return frozenset(found)
