"""How a time expression becomes a span: rules, and the frame of the time at which it was said."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from ..characters import lazy
from .calendar_spans import DAY, WEEK, TimeSpan, day, days, monday_of, month, shifted, weekend, year
from .vocabulary import (
    DAYS,
    MONTHS,
    ORDINALS,
    PARTS,
    QUARTERS,
    STEPS,
    UNITS,
    WEEKDAYS,
    WEEKENDS,
    YEARS,
    Unit,
    number,
    worth,
)

Kind = Literal[
    "absolute",  # 2026年3月4日: names its year
    "yearless",  # 3月4日, 三月: complete for people, needs a year on a calendar
    "relative",  # 昨天, 两周前: relative to the day on which it is said
    "now",  # 现在: relative to that day, too, but names no window of time
    "open",  # 周三, 14号: ambiguous between several days
    "habit",  # 周一到周五: recurring, not on one day
    "vague",  # 最近, 改天: no calendar span
    "decoy",  # 以前, 三月七: hides what only looks like a time
    "dated",  # of a rule only: "absolute", "relative" or "yearless", as the year is said
]
Lean = Literal["back", "ahead"]
LEANS: tuple[Lean, ...] = ("back", "ahead")
_HOUR = timedelta(hours=1)
_SATURDAY = 5
SPANS: dict[Unit, timedelta] = {
    "second": _HOUR / 3600,
    "minute": _HOUR / 60,
    "hour": _HOUR,
    "day": DAY,
    "week": WEEK,
    "month": 30 * DAY,
    "year": 365 * DAY,
}
_MARGINS = {"day": 0, "week": 3, "month": 15}  # days around one so far back
_FEW_DAYS = 5  # 头几天
_LONG = {"month": 1, "year": 12}  # months
_SHORT = ("second", "minute", "hour")


@dataclass(frozen=True)
class TimeFrame:
    """The reference for a time expression: the wall clock, and which day an expression such as "Friday" means.

    With the ``lean`` "back" it is the latest Friday up to and including today, with "ahead" the first one after today.
    """

    now: datetime
    lean: Lean = "back"

    @property
    def today(self) -> date:
        """The date of the wall clock."""
        return self.now.date()


SpanReader = Callable[[re.Match[str], TimeFrame], TimeSpan]
Rule = tuple[Kind, re.Pattern[str], SpanReader | None]


def rule(kind: Kind, pattern: str, reading: SpanReader | None = None) -> Rule:
    """Create a rule. Patterns must have bounded repetitions only, so that matching is linear in the text."""
    return kind, lazy(pattern), reading


def said(match: re.Match[str], *groups: str) -> str:
    """Return the first of these groups that matched; "" if none did or the pattern has none of them."""
    found = match.groupdict()
    return next((word for group in groups if (word := found.get(group))), "")


def part_of(match: re.Match[str]) -> str:
    """Return the part of a day, month or year by the name that the spans use; "" if none is said."""
    word = said(match, "part")
    return PARTS.get(word, word)


def amount_of(match: re.Match[str]) -> float:
    """Return how many units ago are said, below 0 if ahead; 1 without a number."""
    count = said(match, "n") or "1"
    whole = 0.5 if count.startswith(("半", "half")) else number(count)
    return (whole + (0.5 if said(match, "half", "more") else 0)) * (-1 if said(match, "ahead") else 1)


def year_of(match: re.Match[str], frame: TimeFrame) -> int | None:
    """Return the year that is said, relative to this year or in digits (two are of this century), or None."""
    if relative := said(match, "ry"):
        return frame.today.year + YEARS[relative]
    spelt = said(match, "y")
    if not spelt:
        return None
    return worth(spelt) + 2000 if len(spelt) < len("2025") else worth(spelt)


def month_said(match: re.Match[str], frame: TimeFrame) -> date:
    """Return the first day of the month that is said; without a year the latest one that has begun."""
    if which := said(match, "which"):
        return shifted(frame.today.replace(day=1), STEPS[which])
    return dated(year_of(match, frame), MONTHS.get(match["m"]) or number(match["m"]), 1, frame)


def dated(in_year: int | None, in_month: int, on_day: int, frame: TimeFrame) -> date:
    """Return a date; without a year the latest one that has begun."""
    if in_year is not None:
        return date(in_year, in_month, on_day)
    for one in range(frame.today.year, frame.today.year - 9, -1):  # most years have no 29 February
        with suppress(ValueError):
            if (when := date(one, in_month, on_day)) <= frame.today:
                return when
    raise ValueError(on_day)


def nth_weekday(in_year: int, in_month: int, count: int, index: int) -> date:
    """Return the ``count``-th weekday ``index`` (Monday is 0) of a month."""
    first = date(in_year, in_month, 1)
    return first + ((index - first.weekday()) % 7 + 7 * (count - 1)) * DAY


def counted_day(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Read 昨天晚上, tomorrow morning, last night."""
    step = DAYS[said(match, "day")] if said(match, "day") else STEPS[match["which"]]
    return day(frame.today + step * DAY, "晚上" if said(match, "day") == "tonight" else part_of(match))


def open_weekday(index: int, frame: TimeFrame) -> date:
    """Return the weekday ``index`` (Monday is 0) that the frame's lean means."""
    back = (frame.today.weekday() - index) % 7
    return frame.today + (7 - back if frame.lean == "ahead" else -back) * DAY


def some_weekday(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Read 周三下午, on friday."""
    return day(open_weekday(WEEKDAYS[match["on"]], frame), part_of(match))


def some_weekend(_match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Return the weekend that the frame's lean means."""
    monday = monday_of(frame.today)
    is_earlier = frame.today.weekday() < _SATURDAY and frame.lean != "ahead"
    return weekend(monday - WEEK if is_earlier else monday)


def numbered_day(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Return the day of this number that the frame's lean means."""
    wanted, today = number(match["d"]), frame.today
    step = int(wanted < today.day) if frame.lean == "ahead" else -int(wanted > today.day)
    return day(shifted(today.replace(day=1), step).replace(day=wanted), part_of(match))


def date_or_month(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Read a day, several days or the whole of a month: 3月4日, 三月底, 3月4到6号, 三月头几天, march 3rd, 2024-03."""
    numbered = said(match, "d", "unsaid", "bare")
    if end := said(match, "end"):
        first, count = month_said(match, frame), _FEW_DAYS if match["n"] == "几" else number(match["n"])
        last, further = shifted(first, 1) - DAY, (count - 1) * DAY
        return days(first, min(first + further, last)) if end == "头" else days(max(last - further, first), last)
    if not numbered:
        return month(month_said(match, frame), part_of(match))
    if said(match, "which"):
        first = month_said(match, frame).replace(day=number(numbered))
    else:
        named = MONTHS.get(match["m"]) or number(match["m"])
        first = dated(year_of(match, frame), named, number(numbered), frame)
    last = said(match, "d2")
    return days(first, first.replace(day=number(last))) if last else day(first)


def whole_year(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Read 2024年夏天, 去年, in 2023; a part of a year alone is of this year."""
    named = year_of(match, frame)
    return year(frame.today.year if named is None else named, part_of(match))


def years_from_now(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Read 去年这个时候: about a month around this day of that year."""
    when = shifted(frame.today, 12 * YEARS[match["ry"]])
    return days(when - 15 * DAY, when + 15 * DAY)


def quarter(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Read a quarter; without a year it is the latest one that has begun."""
    word = said(match, "q", "q2")
    index = ORDINALS.get(word) or number(word)
    return year(dated(year_of(match, frame), 3 * index - 2, 1, frame).year, QUARTERS[index - 1])


def stepped(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Read 上周三晚上, 这周末, last month, next quarter, next friday, last march, la semaine derniere.

    "last friday" is the latest one before today, a month's name is never the month that has begun, and "last weekend"
    may be the current one.
    """
    step, on, unit = STEPS[said(match, "which") or "last"], said(match, "on"), said(match, "unit")
    today, monday = frame.today, monday_of(frame.today) + step * WEEK
    if on and (unit or step >= 0):
        return day(monday + WEEKDAYS[on] * DAY, part_of(match))
    if on:
        return day(today - ((today.weekday() - WEEKDAYS[on] - 1) % 7 + 1) * DAY)
    if name := said(match, "m", "part"):
        found, other = (
            month(date(one, MONTHS[name], 1)) if name in MONTHS else year(one, part_of(match))
            for one in (today.year, today.year + step)
        )
        is_apart = found.stop > frame.now if step < 0 else found.start <= frame.now
        return other if is_apart else found
    if said(match, "end") or unit in WEEKENDS:
        return some_weekend(match, frame) if step < 0 and unit in WEEKENDS else weekend(monday)
    match UNITS.get(unit):
        case "week":
            return days(monday, monday + 6 * DAY)
        case "month":
            return month(shifted(today.replace(day=1), step))
        case "year":
            return year(today.year + step)
        case _:
            first = shifted(today.replace(day=1), 3 * step)
            return year(first.year, QUARTERS[(first.month - 1) // 3])


def moved(now: datetime, amount: float, unit: Unit) -> datetime:
    """Return the instant so many units before a wall-clock time, ahead of it if below 0; a month's half is 15 days."""
    if unit not in _LONG:
        return now - amount * SPANS[unit]
    months, rest = divmod(amount * _LONG[unit], 1)
    return datetime.combine(shifted(now.date(), -int(months)), now.time()) - round(rest * 30) * DAY


def ago(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Read 三天前, 2 weeks ago, 三天后, in 2 weeks.

    A number of hours or days gives that hour or day. Weeks, months and years are approximate: the span is about one
    unit wide, half a unit for an amount such as 1.5, with the day so far back in its middle.
    """
    amount, unit = amount_of(match), UNITS[match["unit"]]
    when = moved(frame.now, amount, unit)
    if unit in _SHORT:
        return TimeSpan(when - _HOUR / 2, when + _HOUR / 2)
    middle, shares = when.date(), 2 if amount % 1 else 1
    if unit == "year":
        return days(shifted(middle, -6 // shares), shifted(middle, 6 // shares))
    margin = _MARGINS[unit] // shares * DAY
    return days(middle - margin, middle + margin)


def lately(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Read 最近三天, past week, next 2 weeks, today included."""
    unit = UNITS[match["unit"]]
    return _whole(unit, frame.now, moved(frame.now, amount_of(match), unit))


def between(most: int, least: int) -> SpanReader:
    """Return a reader of 几天前, 几天后: from ``most`` to ``least`` units ago or ahead; a month counts as 30 days."""

    def read(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
        unit = UNITS[match["unit"]]
        length = SPANS[unit] * (-1 if said(match, "ahead") else 1)
        return _whole(unit, frame.now - most * length, frame.now - least * length)

    return read


def _whole(unit: Unit, *ends: datetime) -> TimeSpan:
    """Return the span from one end to the other, of whole days unless the unit is shorter than a day."""
    first, last = sorted(ends)
    return TimeSpan(first, last) if unit in _SHORT else days(first.date(), last.date())
