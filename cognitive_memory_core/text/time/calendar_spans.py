"""Spans of the calendar in local wall-clock time: days, weekends, months, years."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
_HOURS = {
    "凌晨": (0, 6),
    "清晨": (4, 9),
    "早上": (5, 12),
    "上午": (6, 12),
    "中午": (11, 14),
    "下午": (12, 19),
    "傍晚": (16, 20),
    "晚上": (17, 29),  # an evening extends into the night
    "夜里": (20, 30),
}
_MONTHS_OF = {
    "初": (1, 2),
    "中": (6, 2),
    "底": (11, 2),
    "上半年": (1, 6),
    "下半年": (7, 6),
    "春天": (3, 3),
    "夏天": (6, 3),
    "秋天": (9, 3),
    "冬天": (12, 3),
    "第一季度": (1, 3),
    "第二季度": (4, 3),
    "第三季度": (7, 3),
    "第四季度": (10, 3),
}
_DAYS_OF = {"初": (1, 10), "上旬": (1, 10), "中": (11, 20), "中旬": (11, 20), "下旬": (21, 31), "底": (21, 31)}


@dataclass(frozen=True)
class TimeSpan:
    """``[start, stop)`` without a zone."""

    start: datetime
    stop: datetime


def day(when: date, part: str = "") -> TimeSpan:
    """Return a day, or a named part of it (上午, 晚上)."""
    start = datetime.combine(when, time())
    first, last = _HOURS.get(part, (0, 24))
    return TimeSpan(start + timedelta(hours=first), start + timedelta(hours=last))


def days(first: date, last: date) -> TimeSpan:
    """Return the days from the first to the last, both included."""
    return TimeSpan(datetime.combine(first, time()), datetime.combine(last, time()) + DAY)


def weekend(monday: date) -> TimeSpan:
    """Return Saturday and Sunday of the week that begins on a Monday."""
    return days(monday + 5 * DAY, monday + 6 * DAY)


def month(first: date, part: str = "") -> TimeSpan:
    """Return the month of a day, or a named third of it (初, 中旬, 底)."""
    length = monthrange(first.year, first.month)[1]
    start, last = _DAYS_OF.get(part, (1, 31))
    return days(first.replace(day=start), first.replace(day=min(last, length)))


def year(number: int, part: str = "") -> TimeSpan:
    """Return a year, or a named part of it (初, 上半年, 夏天)."""
    start, length = _MONTHS_OF.get(part, (1, 12))
    first = date(number, start, 1)
    return days(first, shifted(first, length) - DAY)


def shifted(when: date, months: int) -> date:
    """Add months to a date; a day that the resulting month does not have becomes its last day."""
    years, index = divmod(when.year * 12 + when.month - 1 + months, 12)
    return date(years, index + 1, min(when.day, monthrange(years, index + 1)[1]))


def monday_of(when: date) -> date:
    """Return the Monday of a day's week."""
    return when - when.weekday() * DAY


def written(when: date) -> str:
    """Return a day in Chinese."""
    return f"{when.year}年{when.month}月{when.day}日"
