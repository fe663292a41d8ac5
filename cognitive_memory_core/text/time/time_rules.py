"""Rules of the time grammar: a pattern, the kind of expression, and its calendar span."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from ..patterns import Pattern
from .time_spans import DAY, WEEK, TimeSpan, day, days, moment, monday_of, month, shifted, weekend, written, year

Kind = Literal[
    "absolute",  # 2026年3月4日: names its year
    "yearless",  # 3月4日, 三月: complete for people, needs a year on a calendar
    "relative",  # 昨天, 两周前: relative to the day on which it is said
    "now",  # 现在: relative to that day, too, but names no window of time
    "open",  # 周三, 14号: ambiguous between several days
    "habit",  # 周一到周五: recurring, not on one day
    "vague",  # 最近, 改天: no calendar span
    "decoy",  # 以前, 三月七: hides what only looks like a time
]
Unit = Literal["second", "minute", "hour", "day", "week", "month", "year"]
Lean = Literal["back", "past", "ahead"]
_HOUR = timedelta(hours=1)
QUARTERS = ("第一季度", "第二季度", "第三季度", "第四季度")
RELATIVE_YEARS = {"大前": -3, "前": -2, "去": -1, "今": 0, "本": 0, "明": 1, "后": 2}
_SATURDAY = 5
_SPANS: dict[Unit, timedelta] = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": _HOUR,
    "day": DAY,
    "week": WEEK,
    "month": 30 * DAY,
    "year": 365 * DAY,
}
_MARGINS: dict[Unit, int] = {"week": 3, "month": 15}  # days on either side of a day that is weeks or months away


@dataclass(frozen=True)
class TimeFrame:
    """The reference for a time expression: the wall clock, and which day an expression such as "Friday" means.

    With the ``lean`` "back" it is the latest Friday up to and including today, with "past" the latest one before today,
    with "ahead" the first one after today.
    """

    now: datetime
    lean: Lean = "back"

    @property
    def today(self) -> date:
        """The date of the wall clock."""
        return self.now.date()


SpanReader = Callable[[re.Match[str], TimeFrame], TimeSpan | None]


@dataclass(frozen=True)
class Rule:
    """A pattern of one kind of time expression, and how to compute its span.

    ``reading`` may raise ValueError or OverflowError for an impossible date.
    """

    kind: Kind
    pattern: Pattern
    reading: SpanReader | None = None


def rule(kind: Kind, pattern: str, reading: SpanReader | None = None) -> Rule:
    """Create a rule. Patterns must have bounded repetitions only, so that matching is linear in the text."""
    return Rule(kind, Pattern(pattern), reading)


def ago(amount: float, unit: Unit, frame: TimeFrame) -> TimeSpan:
    """Return the span that is ``amount`` units before the wall clock, or after it if ``amount`` is negative.

    A number of hours or days gives that hour or day. Weeks, months and years are approximate: the span is about one
    unit wide, half a unit for an amount such as 1.5, with the day so far back in its middle; its wording is equally
    rough.
    """
    if unit in ("second", "minute", "hour"):
        return moment(frame.now - amount * _SPANS[unit], _HOUR / 2)
    if unit in ("day", "week"):
        when = (frame.now - amount * _SPANS[unit]).date()
        return day(when) if unit == "day" else _worded(_about(when, amount, unit), f"{written(when)}左右")
    months, rest = divmod(amount * (12 if unit == "year" else 1), 1)
    when = shifted(frame.today, -int(months)) - round(rest * 30) * DAY
    about = _about(when, amount, unit)
    return _worded(about, f"{when.year}年左右" if unit == "year" else f"{when.year}年{when.month}月左右")


def some(unit: Unit, frame: TimeFrame, *, most: int = 5, least: int = 2) -> TimeSpan:
    """Return the span from ``most`` to ``least`` units ago, or ahead if both are negative; its wording is ""."""
    first, last = frame.now - most * _SPANS[unit], frame.now - least * _SPANS[unit]
    if unit in ("second", "minute", "hour"):
        return TimeSpan(min(first, last), max(first, last))
    ends = sorted((first.date(), last.date()))
    return _worded(days(ends[0], ends[1]), "")


def lately(amount: float, unit: Unit, frame: TimeFrame) -> TimeSpan:
    """Return the span of the last ``amount`` units, today included, or of the coming ones if the amount is negative."""
    if unit in ("second", "minute", "hour"):
        other = frame.now - amount * _SPANS[unit]
        return TimeSpan(min(other, frame.now), max(other, frame.now) + _SPANS["minute"])
    other = _back(amount, unit, frame)
    return days(min(other, frame.today), max(other, frame.today))


def weekday(index: int, frame: TimeFrame) -> date:
    """Return the weekday ``index`` (Monday is 0) that the frame's lean means; raise ValueError if it may be today."""
    if frame.lean == "back":
        return frame.today - (frame.today.weekday() - index) % 7 * DAY
    if frame.today.weekday() == index:
        raise ValueError(index)
    return _step(frame, (index - frame.today.weekday()) % 7, 7)


def latest_nth_weekday(count: int, index: int, frame: TimeFrame) -> date:
    """Return the ``count``-th weekday ``index`` of this month, or of the month before if it has not come yet."""
    here = frame.today.replace(day=1)
    found = nth_weekday(here.year, here.month, count, index)
    before = shifted(here, -1)
    return found if found <= frame.today else nth_weekday(before.year, before.month, count, index)


def nth_weekday(in_year: int, in_month: int, count: int, index: int) -> date:
    """Return the ``count``-th (-1: the last) weekday ``index`` (Monday is 0) of a month; raise ValueError if absent."""
    first = date(in_year, in_month, 1)
    if count < 0:
        last = shifted(first, 1) - DAY
        return last - (last.weekday() - index) % 7 * DAY
    found = first + ((index - first.weekday()) % 7 + 7 * (count - 1)) * DAY
    if found.month != in_month:
        raise ValueError(count)
    return found


def open_weekend(frame: TimeFrame) -> TimeSpan:
    """Return the weekend that the frame's lean means; raise ValueError if it may be the one that has begun."""
    monday = monday_of(frame.today)
    if frame.today.weekday() >= _SATURDAY:
        if frame.lean == "past":
            raise ValueError(frame.lean)
        return weekend(monday)
    return weekend(monday if frame.lean == "ahead" else monday - WEEK)


def day_of_month(number: int, frame: TimeFrame) -> date:
    """Return the day of this number that the frame's lean means; raise ValueError if it may be today."""
    if frame.lean != "back" and frame.today.day == number:
        raise ValueError(number)
    first = frame.today.replace(day=1)
    step = 1 if frame.lean == "ahead" else -1
    is_near = number >= frame.today.day if frame.lean == "ahead" else number <= frame.today.day
    return (first if is_near else shifted(first, step)).replace(day=number)


def dated(number: int | None, month_number: int, day_number: int, frame: TimeFrame) -> date:
    """Return a date; without a year the latest one that has begun."""
    if number is not None:
        return date(number, month_number, day_number)
    if (month_number, day_number) == (2, 29):
        return _leap_day(frame.today)
    when = date(frame.today.year, month_number, day_number)
    return when if when <= frame.today else when.replace(year=when.year - 1)


def quarter_of(named: int | None, number: int, frame: TimeFrame) -> TimeSpan:
    """Return a quarter of a year; without a year the latest one that has begun."""
    first = dated(named, 3 * number - 2, 1, frame)
    return year(first.year, QUARTERS[number - 1])


def stepped_quarter(step: int, frame: TimeFrame) -> TimeSpan:
    """Return the quarter ``step`` quarters after the current one."""
    first = shifted(frame.today.replace(day=1), 3 * step)
    return year(first.year, QUARTERS[(first.month - 1) // 3])


def month_of(number: int | None, month_number: int, frame: TimeFrame, part: str = "") -> TimeSpan:
    """Return a month; without a year the latest one that has begun."""
    return month(dated(number, month_number, 1, frame), part)


def _about(when: date, amount: float, unit: Unit) -> TimeSpan:
    shares = 2 if amount % 1 else 1
    if unit == "year":
        return days(shifted(when, -6 // shares), shifted(when, 6 // shares))
    margin = _MARGINS[unit] // shares * DAY
    return days(when - margin, when + margin)


def _step(frame: TimeFrame, ahead: int, cycle: int) -> date:
    return frame.today + (ahead if frame.lean == "ahead" else ahead - cycle) * DAY


def _back(amount: float, unit: Unit, frame: TimeFrame) -> date:
    if unit in ("day", "week"):
        return (frame.now - amount * _SPANS[unit]).date()
    return shifted(frame.today, -int(amount * (12 if unit == "year" else 1)))


def _leap_day(today: date) -> date:
    for number in range(today.year, today.year - 9, -1):
        try:
            when = date(number, 2, 29)
        except ValueError:
            continue
        if when <= today:
            return when
    raise ValueError(today)


def _worded(time_span: TimeSpan, text: str) -> TimeSpan:
    return TimeSpan(time_span.start, time_span.stop, text)
