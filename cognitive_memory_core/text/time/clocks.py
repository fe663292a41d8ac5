"""Hours in a text (下午三点, 傍晚, at 3pm, midnight), on the day that it names or on the latest fitting day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta

from ..characters import lazy
from .calendar_spans import DAY, TimeSpan, day
from .time_rules import said
from .vocabulary import PARTS, PARTS_OF_DAY, number

_HOUR = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)
_NOON = 12
_LATE = 5  # hours up to this one belong to the following night if an evening or a night is named
_SECOND_HALF = frozenset(("下午", "傍晚", "晚上", "夜里"))
_MIDNIGHT = frozenset(("午夜", "midnight"))
_SAID_PART = f"{PARTS_OF_DAY}|正午|午夜"
_NUMBER = "(?:2[0-4]|1[0-9]|0?[0-9]|二十[一二三四]?|十[一二三四五六七八九]?|[零一二两三四五六七八九])"
_CHINESE = (
    f"(?P<h>{_NUMBER})(?:点|时(?!候|间|代))(?!水|心|子|赞|评|名|击|菜|单|的洛杉矶)(?:钟|整)?"
    "(?:(?P<half>半)|(?P<kv>[一三])刻|(?P<min>[0-5]?[0-9]|[零一二三四五]?十?[一二三四五六七八九十])分?(?![0-9个人]))?"
    f"(?:[到至~—-](?:{_SAID_PART})?(?P<till>{_NUMBER})点(?P<till_half>半)?)?"
)
_COLON = "(?P<h24>[01]?[0-9]|2[0-3])[:](?P<m24>[0-5][0-9])(?![0-9:])(?: ?(?P<ap24>[ap])\\.?m\\b\\.?)?"
_ENGLISH = (
    "(?:(?P<h12>1[0-2]|0?[1-9]) ?(?P<ap>[ap])\\.?m\\b\\.?|(?P<oc>1[0-2]|[1-9]|one|two|three|four|five|six|seven|eight"
    "|nine|ten|eleven|twelve) o'clock(?: (?:in the (?P<ocp>morning|afternoon|evening)|at (?P<ocn>night)))?"
    "|(?P<word>noon|midday|midnight)(?![a-z0-9]| ?(?:blue|cowboy|snack|sun|express)))"
)
_HOURS = lazy(
    f"(?:(?P<part>{_SAID_PART})的? ?)?(?:{_CHINESE}|{_COLON})|{_ENGLISH}|(?P<bare>{_SAID_PART})(?![饭餐好安茶凶场市])"
)
_AT = "(?:at|around|about|by|before|after|since|from|until|till|the) "
_AFTER_AT = lazy(f"(?<![a-z0-9_]){_AT}$")
_TO_AN_HOUR = lazy(f",? ?(?:的|{_AT})?")  # between a day and its hour
_CLAUSE_STOP = lazy("[。！？!?；;，,\n]")
_HABIT = lazy(
    "每|平时|平常|通常|一般|往往|总是|经常|常常|习惯|固定|几点"
    "|(?<![a-z])(?:every|each|usually|always|often|normally|typically|daily|mondays|weekdays)(?![a-z])"
)
_LOOKS_BACK = lazy("[说聊讲了]|(?<![超通经路度难])过(?![来去年节生])|发生|提到|发的|那[次个条场张]|来着")
_NEAR = 32  # characters beside a day that may contain its hour
_SHORTEST = 3 * _HOUR  # minimum span of a day or part of one that has hours: 两小时前 has none


def latest_hours(text: str, now: datetime) -> Iterator[TimeSpan]:
    """Yield the hours that a folded text names without a day, on the last day on which they have begun.

    Left out are habits, hours that may be in the morning or in the evening, and a part of a day without a clock time
    (中午吃什么) unless the clause is about the past.
    """
    for match in filter(_is_certain, _HOURS.finditer(text)):
        before = text[max(match.start() - _NEAR, 0) : match.start()]
        after = text[match.end() : match.end() + _NEAR]
        clause = f"{_CLAUSE_STOP.split(before)[-1]}\n{_CLAUSE_STOP.split(after)[0]}"
        is_past = not match["bare"] or match.group() == text.strip() or _LOOKS_BACK.search(clause)
        if is_past and not _HABIT.search(clause) and (found := _on(now, match)):
            step = DAY if found.start > now else 0 * DAY
            yield TimeSpan(found.start - step, found.stop - step)


def _is_certain(match: re.Match[str]) -> bool:
    """Return whether hours are no other numbers: with a part of the day, as midnight, or behind a word such as "at"."""
    start = match.start()
    is_told = said(match, "part", "bare") or match["h"] == "零"
    return bool(is_told or _AFTER_AT.search(match.string[max(start - _NEAR, 0) : start]))


def clocks(text: str) -> Iterator[tuple[int, int, int, bool]]:
    """Yield the clock times of a folded text: start, stop, minutes of the half day, and whether only the hour is told.

    Twelve hours apart is equal, because people say 三点 for both. A range yields both of its ends.
    """
    for match in _HOURS.finditer(text):
        if said(match, "word", "bare"):
            continue
        at = int(times_of(match, "")[0] / _MINUTE) % (_NOON * 60)
        is_whole = not any(match[name] for name in ("half", "kv", "min")) and match["m24"] in (None, "00")
        yield match.start(), match.end(), at, is_whole
        if match["till"]:
            yield match.start(), match.end(), (number(match["till"]) % _NOON) * 60, not match["till_half"]


def narrowed(time_span: TimeSpan, text: str, start: int, stop: int, part: str) -> TimeSpan:
    """Return ``time_span`` narrowed to the hours beside the words from ``start`` to ``stop`` of a folded text.

    Unchanged without such hours, or if the span is longer than a day. ``part`` is the part of the day in these words,
    or "".
    """
    if not _SHORTEST <= time_span.stop - time_span.start <= DAY:
        return time_span
    near = _HOURS.finditer(text, max(start - _NEAR, 0), stop + _NEAR)
    beside = [one for one in near if _is_beside(one, start, stop)]
    return (_on(time_span.start, beside[-1], part) if beside else None) or time_span


def _is_beside(hours: re.Match[str], start: int, stop: int) -> bool:
    """Return whether hours belong to a day that is named from ``start`` to ``stop``, before it or after it."""
    if hours.end() > stop:
        return bool(_TO_AN_HOUR.fullmatch(hours.string, stop, max(hours.start(), stop)))
    return hours.string[hours.end() : start] in ("", " ", " on ") and _is_certain(hours)


def clock_at_end(text: str) -> re.Match[str] | None:
    """Return the clock time at the end of a folded text; None if there is none, or if it ends a range (三点到五点)."""
    match = next((one for one in _HOURS.finditer(text) if one.end() == len(text)), None)
    return None if match is None or said(match, "till", "bare") else match


def times_of(clock: re.Match[str], part: str) -> tuple[timedelta, ...]:
    """Return the times of day that a clock time can mean, since midnight; ``part`` is the part of the day beside it.

    Eight o'clock without a part of the day ("") yields two times, in the morning and in the evening; a time of the
    following night is above 24 hours.
    """
    if word := said(clock, "word"):
        return ((24 if word in _MIDNIGHT else _NOON) * _HOUR,)
    hour, minutes = (number(said(clock, *names) or "0") for names in (("h24", "h", "h12", "oc"), ("min", "m24")))
    past = _HOUR / 2 if said(clock, "half") else (minutes + number(said(clock, "kv") or "0") * 15) * _MINUTE
    word = said(clock, "part", "ap", "ap24", "ocp", "ocn") or part
    part = PARTS.get(word, word)
    if part in _SECOND_HALF and hour <= _NOON:
        is_night = part in ("晚上", "夜里") and hour % _NOON <= _LATE
        hour = hour % _NOON + (2 * _NOON if is_night else _NOON)
    elif part == "中午":
        hour += _NOON if hour <= _LATE else 0
    elif part:
        hour = 0 if hour == _NOON and part not in _SECOND_HALF else hour
    elif 0 < hour <= _NOON and not said(clock, "h24"):
        return hour * _HOUR + past, (hour + _NOON) * _HOUR + past
    return (hour * _HOUR + past,)


def _on(when: date, hours: re.Match[str], part: str = "") -> TimeSpan | None:
    """Return hours on a day as a span; None if they may be in the morning or in the evening."""
    midnight = datetime.combine(when, time())
    word = said(hours, "bare", "word")
    if word in _MIDNIGHT:
        return TimeSpan(midnight + 23 * _HOUR, midnight + 25 * _HOUR)
    if word:
        return day(when, PARTS.get(word, word))
    start, *other = times_of(hours, part)
    if other:
        return None
    stop = start + (_HOUR / 2 if said(hours, "half") else _HOUR)
    if said(hours, "min", "m24", "kv"):
        start, stop = start - _HOUR / 4, start + _HOUR / 4
    if till := said(hours, "till"):
        stop = number(till) * _HOUR + (_HOUR / 2 if said(hours, "till_half") else 0 * _HOUR)
        while stop <= start:
            stop += _NOON * _HOUR
    return TimeSpan(midnight + start, midnight + stop)
