"""Days, times and numbers in texts, and those of a statement that none of its lines has."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from .characters import cleared_on_erasure
from .cleaning import plain
from .spans import blanked, named
from .time.calendar_spans import TimeSpan, day
from .time.clocks import clocks
from .time.time_rules import LEANS
from .time.time_words import is_time, mentions
from .time.vocabulary import worth

_LONGEST_DAY = timedelta(days=1, hours=12)  # an evening extends into the night
_LEAP = datetime(2024, 2, 29)  # noqa: DTZ001  # wall-clock times throughout; a year with a 29 February
FORTNIGHT = 14  # days around a line within which a weekday that it names may be meant
ID_LABEL = re.compile(r"[(（][0-9A-Za-z_-]{1,128}[)）]")
_NUMBER = re.compile(
    "(?:(?P<digits>[0-9]+(?:[.,][0-9]+)*)(?:块(?P<dimes>[0-9]{1,2})(?![0-9]))?"
    "(?:[ ]?(?P<scale>[千万亿]|[kw](?![a-z]))(?P<rest>[1-9一二三四五六七八九](?![0-9]))?)?"
    "|(?P<han>[零〇一二两三四五六七八九十百千万亿]{1,32}))[号日]?",
    re.IGNORECASE,
)
_SCALES = {"千": 1e3, "k": 1e3, "万": 1e4, "w": 1e4, "亿": 1e8}
_WEEKDAY = re.compile("(?:周|星期|礼拜)([一二三四五六日天])(?!期)")
_FEW = 2  # 一 and 两 are in every other word (一起, 两边) and count nothing by themselves


@dataclass(frozen=True)
class Line:
    """A text with the instant at which it was said, in the zone of its place; None if that is unknown."""

    text: str
    when: datetime | None = None


def strange_figures(statement: str, lines: Sequence[Line], names: Collection[str] = ()) -> list[str]:
    """Return the days, times and numbers of a statement, as written in it, that none of its lines has."""
    walls = [line.when and line.when.replace(tzinfo=None) for line in lines]  # equal instants may be different days
    whens = [when for when in walls if when]
    told = _figures(statement, max(whens, default=None), tuple(names))
    given = [_figures(line.text, wall, tuple(names)) for line, wall in zip(lines, walls, strict=True)]
    numbers = {value for one in given for value in one.values}
    clocks = {at for one in given for _, at, _ in one.clocks}
    said_at = {(when.hour % 12) * 60 + when.minute for when in whens}
    times, hours = clocks | said_at, clocks or said_at  # beside a time, the hour in which it was said vouches for none
    spans = [span for one in given for _, of_word in one.days for span in of_word]
    spans += [day(when) for when in whens]
    named_weekdays = {weekday for one in given for weekday in one.weekdays}
    weekdays = named_weekdays | {_weekday(one) for one in spans if one.stop - one.start <= _LONGEST_DAY}
    if named_weekdays:
        near = (when + timedelta(days=step) for when in whens for step in range(-FORTNIGHT, FORTNIGHT + 1))
        spans += [one for one in map(day, near) if _weekday(one) in named_weekdays]
    strange: list[str] = []
    for word, of_word in told.days:  # a day must lie in one of the spans, or a line have its number
        is_known = any(one.start < other.stop and other.start < one.stop for one in of_word for other in spans)
        has_number = any(one.start.day in numbers for one in of_word if one.stop - one.start <= _LONGEST_DAY)
        strange += [word] if of_word and not (is_known or has_number) else []
    strange += [f"周{one}" for one in told.weekdays if one not in weekdays]
    for word, at, is_whole in told.clocks:
        is_hour = any(at // 60 == other // 60 for other in hours) or (at // 60 or 12) in numbers
        if not (at in times or at // 60 * 60 in times or (is_whole and is_hour)):
            strange.append(word)
    days = {float(one.start.day) for one in spans if one.stop - one.start <= _LONGEST_DAY}
    return [
        *strange,
        *(word for word, value in told.numbers if value not in numbers and not (word[-1] in "号日" and value in days)),
    ]


def values_of(text: str, names: Collection[str] = ()) -> frozenset[object]:
    """Return the days, times and numbers of a text, for comparison with those of another one."""
    found = _figures(text, None, tuple(names))
    days = (span for _, spans in found.days for span in spans[:1])
    times = (at for _, at, _ in found.clocks)
    return frozenset((*days, *found.weekdays, *(f":{at}" for at in times), *(value for _, value in found.numbers)))


@dataclass(frozen=True)
class _Figures:
    """The figures of one text, with the words for them; ``values`` also has the numbers too common for ``numbers``."""

    days: tuple[tuple[str, tuple[TimeSpan, ...]], ...]
    weekdays: frozenset[str]
    clocks: tuple[tuple[str, int, bool], ...]
    numbers: tuple[tuple[str, float], ...]
    values: frozenset[float]


@cleared_on_erasure
@lru_cache(maxsize=512)  # the lines of a job and the facts of a profile are compared with each statement made of them
def _figures(text: str, when: datetime | None, names: tuple[str, ...]) -> _Figures:
    rest = plain(text)
    rest = blanked(rest, (*(one.span() for one in ID_LABEL.finditer(rest)), *named(rest, names, is_time)))
    found = [one for one in mentions(rest) if one.kind not in ("now", "vague")]
    dated = [one for one in found if one.kind not in ("open", "habit") or not _WEEKDAY.search(one.text)]
    days: list[tuple[str, tuple[TimeSpan, ...]]] = []
    for one in dated:  # a date without a year may be a year off
        spans = [span for lean in LEANS if (span := one.at(when or _LEAP, lean))]
        steps = [timedelta(days=365 * years) for years in ((0, -1, 1) if one.kind == "yearless" else (0,))]
        of_word = tuple(TimeSpan(span.start + step, span.stop + step) for span in spans for step in steps)
        days.append((rest[one.start : one.stop], of_word))
    weekdays = list(_WEEKDAY.finditer(rest))
    rest = blanked(rest, (*((one.start, one.stop) for one in found), *(one.span() for one in weekdays)))
    times = list(clocks(rest))
    every = list(numbers_in(blanked(rest, [(start, stop) for start, stop, _, _ in times])))
    return _Figures(
        tuple(days),
        frozenset(one[1].replace("天", "日") for one in weekdays),
        tuple((rest[start:stop].strip(), at, whole) for start, stop, at, whole in times),
        tuple((word, value) for word, value in every if word[0].isascii() or value > _FEW),
        frozenset(value for _, value in every),
    )


def numbers_in(text: str) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a text, as written and as values."""
    for found in _NUMBER.finditer(text):
        if found["han"]:
            yield found[0], float(worth(found["han"]))
            continue
        digits = found["digits"].replace(",", "")
        if digits.count(".") > 1:  # a version
            yield found[0], float(digits.replace(".", "")) + 0.5
            continue
        if found["dimes"]:  # 38块5
            digits = f"{digits}.{found['dimes']}"
        factor = _SCALES[found["scale"].lower()] if found["scale"] else 1.0
        rest = float(worth(found["rest"])) * factor / 10 if found["rest"] else 0.0
        yield found[0], round(float(digits) * factor + rest, 6)


def _weekday(span: TimeSpan) -> str:
    return "一二三四五六日"[span.start.weekday()]
