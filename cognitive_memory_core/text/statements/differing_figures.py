"""Finds figures of a statement that its cited lines do not contain: numbers with units, hours and days."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from ..lexical.folding import folded
from ..time.numerals import worth
from ..time.time_rules import Lean
from ..time.time_spans import TimeSpan
from ..time.time_words import Mention, mentions

_SPELT_DIGIT = "零一二两三四五六七八九"
_DIGIT = f"0-9{_SPELT_DIGIT}"
_NUMBER = re.compile(
    "(?P<whole>[0-9]{1,12}(?:,[0-9]{3}){0,4}(?:[.][0-9]{1,4})?|[零一二两三四五六七八九十百千万亿]{1,16})"
    f" ?(?P<scale>[百千万亿kw]{{1,2}})?(?P<rest>[{_DIGIT}](?![{_DIGIT}十百千万.]))?"
    f"(?P<part>[米度点][{_DIGIT}]{{1,2}})?(?= ?[多余几来好]? ?个?(?P<unit>[a-z%一-鿿]{{0,2}}))"
)
_NOT_NUMBERS = re.compile(
    "千万(?=别|不|要|记|请)|万一|十分(?!钟)|百度|万能|万圣|四川|八卦|三明治|三峡|统一|唯一|万万|一[^0-9零一二两三四五六七八九十百千万元块毛米]"
    "|第一(?![0-9十百])|(?:周|星期|礼拜)[一二三四五六日天]|两人(?=都|一起|合)|十三(?=[(（])|零食|百合|七夕|双十一|不三不四|乱七八糟|三心二意|九点水|二手|二胡|三观|五菱|三消"
)
_VERSION = re.compile("(?<![0-9.])[0-9]{1,9}(?:[.][0-9]{1,9}){2,8}")
_CLOCK = re.compile(
    "(?:(?<![0-9.:])(?P<hour>[0-9]{1,2})|(?:(?<![一二两三四五六七八九十])|(?<=[周期拜][一二三四五六]))(?P<spelt>二十[一二三四]?|十[一二三四五六七八九]?|[一二两三四五六七八九]))"
    f"(?::(?P<minute>[0-9]{{2}})|点(?![名评赞心儿子])(?:钟|(?P<half>半)|(?P<quarter>一刻|三刻)|(?P<past>[0-9]{{1,2}}|[{_SPELT_DIGIT}十]{{1,3}})分?)?)"
)
_LITTLE = re.compile("(?:有|这|那|差|早|晚|快|慢|好|大|小|多|少)一点|一点(?=[也都儿])")
_SCALES = {"百": 100, "千": 1_000, "k": 1_000, "万": 10_000, "w": 10_000, "亿": 100_000_000}
_KINDS = {
    "money": ("块", "元", "毛", "刀", "rmb"),
    "people": ("人", "位", "名"),
    "time": ("天", "日", "周", "月", "年", "小时", "分钟", "秒", "星期", "h", "晚", "宿"),
    "size": ("公里", "千米", "米", "厘米", "cm", "km", "斤", "公斤", "kg", "克", "平"),
    "age": ("岁",),
    "floor": ("楼", "层"),
    "count": ("张", "只", "条", "票", "次", "本", "台", "件", "杯", "瓶", "袋", "辆", "局", "集", "首"),
}
_HALF_DAY = 12 * 60
_TWO = 2  # digits of a year: 零七年, 98年
_FIXED = ("absolute", "yearless")
_SPELT = (("一刻钟", "15分钟"), ("三刻钟", "45分钟"), ("俩", "两"), ("仨", "三"))
_BEFORE = re.compile("原[为定来是]|[从由][^，。]{1,16}[改换调涨降]")
_FORMERLY = re.compile("原[为定来是]|此前[是为]|以前[是为]|(?<![一-鿿])(?:was|formerly|previously)(?![a-z])")
_CLAUSE = re.compile("[，,；;。]")
_TITLE = re.compile("《[^《》]{0,80}》")
_LEANS: tuple[Lean, ...] = ("back", "past", "ahead")
_LEAP = datetime(2024, 1, 1)  # noqa: DTZ001  # a wall clock, of a year that has every day


class Dated(Protocol):
    """A line with its wall-clock time."""

    @property
    def text(self) -> str:
        """The line."""
        ...

    @property
    def when(self) -> datetime | None:
        """The wall-clock time of the line; None if unknown."""
        ...


class _Figure(NamedTuple):
    """One number: ``values`` are all that it may mean, ``kind`` is the kind of its unit, "" if unknown."""

    values: frozenset[float]
    kind: str
    main: float


def differing_figures(statement: str, lines: Sequence[Dated], around: str = "") -> bool:
    """Return whether a statement names a number, hour or day that contradicts the lines it was made from.

    A figure that the statement leaves out is no contradiction. A figure is also allowed if the texts ``around`` hold it
    and either the lines hold no number or the clause is about a former state ("used to", "originally").
    """
    told, said = _spelled(_TITLE.sub(" ", statement)), _spelled("\n".join(line.text for line in lines))
    days = [(_spelled(line.text), line.when) for line in lines]
    now = _without_past(told, _spelled(around))
    return _differ_in_days(now, days) or _differ_in_hours(now, said) or _differ_in_numbers(told, said, around)


def _without_past(told: str, around: str) -> str:
    """Return a statement without clauses on a former state whose hours and days all occur in the texts ``around``."""
    return "，".join(one for one in _CLAUSE.split(told) if not (_FORMERLY.search(one) and _is_timed_by(one, around)))


def _is_timed_by(clause: str, around: str) -> bool:
    """Return whether the texts ``around`` name every hour and day of a clause."""
    hours, spans = set(_hours(around)), list(_named(around, None))
    is_timed = all(hour in hours for hour in _hours(clause))
    return is_timed and all(_meet(days, spans) for days in _dated(clause, None))


def _spelled(text: str) -> str:
    text = folded(unicodedata.normalize("NFKC", text))
    for word, numeral in _SPELT:
        text = text.replace(word, numeral)
    return text


# --- numbers -----------------------------------------------------------------------------------------------------


def _differ_in_numbers(told: str, said: str, around: str) -> bool:
    if set(_VERSION.findall(told)) - set(_VERSION.findall(said)) and _VERSION.search(said):
        return True
    plain = _VERSION.sub(" ", said)
    given = list(_figures(plain))
    if not given or _BEFORE.search(told):
        given += _figures(_VERSION.sub(" ", _spelled(around)))
    sums = {sum(figure.main for figure in given)}
    given += _figures(_untimed(plain))  # a clock may cut a number, as it does in the statement
    return any(not _is_given(one, given, sums) for one in _figures(_untimed(_VERSION.sub(" ", told))))


def _is_given(one: _Figure, given: list[_Figure], sums: set[float]) -> bool:
    alike = [other for other in given if not one.values.isdisjoint(other.values)]
    if not alike:
        return one.main in sums
    return not one.kind or any(other.kind in ("", one.kind) for other in alike)


def _figures(text: str) -> Iterator[_Figure]:
    text = _NOT_NUMBERS.sub(lambda match: " " * len(match[0]), text)
    for match in _NUMBER.finditer(text):
        main = _main(match)
        if main != 1 or match["part"]:
            yield _Figure(frozenset((main, *_readings(match, main))), _kind(match["unit"]), main)


def _main(match: re.Match[str]) -> float:
    value = _value(match["whole"])
    scale = 1.0
    for char in match["scale"] or "":
        scale *= _SCALES[char]
    rest = float(worth(match["rest"])) * scale / 10 if match["rest"] and scale > 1 else 0.0
    return round(value * scale + rest, 4)


def _readings(match: re.Match[str], main: float) -> Iterator[float]:
    """Yield other values of a numeral: 3 and 5 of 三五天, 178 of 一米七八, 38.7 of 三十八度七, 2007 of 零七年."""
    whole, part = match["whole"], match["part"]
    yield _value(whole)
    if not whole.isascii() and len(whole) > 1:
        last = float(worth(whole[-1])) if whole[-1] in "十百千万" else 1.0
        yield from (float(worth(char)) * last for char in whole if char not in "十百千万亿")
    if part:
        decimal = main + float(worth(part[1:])) / 10 ** len(part[1:])
        yield from (round(decimal, 4), round(decimal * 100, 4))
    if len(whole) == _TWO and match["unit"].startswith(("年", "后", "级", "届")):
        yield from (main + 1900, main + 2000)


def _value(numeral: str) -> float:
    digits = numeral.replace(",", "")
    return float(digits) if digits.isascii() else float(worth(digits))


def _kind(unit: str) -> str:
    return next((kind for kind, words in _KINDS.items() if unit.startswith(words)), "")


def _untimed(text: str) -> str:
    """Return a statement without times and hours, which are compared separately."""
    chars = list(text)
    for mention in mentions(text):
        chars[mention.start : mention.stop] = " " * (mention.stop - mention.start)
    return _CLOCK.sub(" ", "".join(chars))


# --- hours -------------------------------------------------------------------------------------------------------


def _differ_in_hours(told: str, said: str) -> bool:
    given = set(_hours(said))
    return bool(given) and any(hour not in given for hour in _hours(told))


def _hours(text: str) -> Iterator[int]:
    """Yield each clock time in a text in minutes from midnight or noon: a line may leave out morning or evening."""
    for match in _CLOCK.finditer(_LITTLE.sub(" ", text)):
        minutes = int(match["minute"] or 0) + 30 * bool(match["half"])
        minutes += {"一刻": 15, "三刻": 45}.get(match["quarter"] or "", 0)
        minutes += int(worth(match["past"])) if match["past"] else 0
        yield (int(worth(match["hour"] or match["spelt"])) * 60 + minutes) % _HALF_DAY


# --- days --------------------------------------------------------------------------------------------------------


def _differ_in_days(told: str, lines: Sequence[tuple[str, datetime | None]]) -> bool:
    """Return whether a statement names a day other than those that the lines name or on which they were said.

    False if no line names a day.
    """
    given = [span for text, when in lines for span in _named(text, when)]
    if not given:
        return False
    given += [_today(when) for _, when in lines if when]
    now = max((when for _, when in lines if when), default=None)
    return any(not _meet(spans, given) for spans in _dated(told, now))


def _named(text: str, when: datetime | None) -> Iterator[TimeSpan]:
    kinds = _FIXED if when is None else (*_FIXED, "relative", "open", "habit")
    for mention in mentions(text):
        if mention.kind in kinds:
            yield from _spans(mention, _wall(when))


def _dated(told: str, when: datetime | None) -> Iterator[list[TimeSpan]]:
    """Yield the possible spans of each date and recurring day (每周五, 15号); other weekdays may be parts of names."""
    for mention in mentions(told):
        word = told[max(mention.start - 1, 0) : mention.stop]
        is_meant = mention.kind in ("open", "habit") and ("每" in word or word.endswith(("日", "号")))
        if (mention.kind in _FIXED or (is_meant and when)) and (spans := list(_spans(mention, _wall(when)))):
            yield spans


def _wall(when: datetime | None) -> datetime:
    return when.replace(tzinfo=None) if when else _LEAP


def _today(when: datetime) -> TimeSpan:
    start = datetime.combine(when.date(), datetime.min.time())
    return TimeSpan(start, start + timedelta(days=1))


def _spans(mention: Mention, now: datetime) -> Iterator[TimeSpan]:
    """Yield the calendar spans that a time expression may mean; for a date without a year also those a year off."""
    for span in filter(None, (mention.at(now, lean) for lean in _LEANS)):
        yield span
        if mention.kind == "yearless":
            yield from (_moved(span, years) for years in (-1, 1))


def _moved(span: TimeSpan, years: int) -> TimeSpan:
    step = timedelta(days=365 * years)
    return TimeSpan(span.start + step, span.stop + step)


def _meet(spans: list[TimeSpan], given: list[TimeSpan]) -> bool:
    return any(one.start < other.stop and other.start < one.stop for one in spans for other in given)
