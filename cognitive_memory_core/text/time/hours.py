"""Hours in a question (下午三点, 傍晚, at 3pm, midnight), on the day that it names or on the latest fitting day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from ..patterns import Pattern
from .numerals import number
from .time_spans import DAY, PARTS_OF_DAY, SPELLINGS, TimeSpan, hours_of

_HOUR = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)
_NOON = 12
_LATE = 5  # hours up to this one belong to the following night if an evening or a night is named
_PARTS = {
    "正午": "中午",
    "noon": "中午",
    "midday": "中午",
    **SPELLINGS,
    "morning": "早上",
    "afternoon": "下午",
    "evening": "晚上",
    "night": "晚上",
    "a": "早上",
    "p": "下午",
}
_SECOND_HALF = frozenset(("下午", "傍晚", "晚上", "夜里"))
_MIDNIGHT = frozenset(("午夜", "零点", "midnight"))
_SAID_PART = f"{PARTS_OF_DAY}|正午|午夜"
_NUMBER = "(?:2[0-4]|1[0-9]|0?[0-9]|二十[一二三四]?|十[一二三四五六七八九]?|[零一二两三四五六七八九])"
_CHINESE = (
    f"(?P<h>{_NUMBER})(?:点|时(?!候|间|代))(?!水|心|子|赞|评|名|击|菜|单)(?:钟|整)?"
    "(?:(?P<half>半)|(?P<kv>[一三])刻|(?P<min>[0-5]?[0-9]|[零一二三四五]?十?[一二三四五六七八九十])分?(?![0-9个人]))?"
    f"(?:[到至~—-](?:{_SAID_PART})?(?P<till>{_NUMBER})点(?P<till_half>半)?)?"
)
_COLON = "(?P<h24>[01]?[0-9]|2[0-3])[:](?P<m24>[0-5][0-9])(?![0-9:])(?: ?(?P<ap24>[ap])\\.?m\\b\\.?)?"
_ENGLISH = (
    "(?:(?P<h12>1[0-2]|0?[1-9]) ?(?P<ap>[ap])\\.?m\\b\\.?|(?P<oc>1[0-2]|[1-9]|one|two|three|four|five|six|seven|eight"
    "|nine|ten|eleven|twelve) o'clock(?: (?:in the (?P<ocp>morning|afternoon|evening)|at (?P<ocn>night)))?"
    "|(?P<word>noon|midday|midnight)(?![a-z0-9]))"
)
_AT = "(?:at|around|about|by|before|after|since|from|until|till|the)"
_CLAUSE_END = Pattern("[。！？!?；;，,\n]")
_PLAIN = "(?![饭餐好安茶凶场市]| ?(?:blue|cowboy|snack|sun|express))"
_ALONE = Pattern(
    f"(?P<part>{_SAID_PART})的?{_CHINESE}(?!的洛杉矶)|(?P<bare>{_SAID_PART}|零点(?![0-9])){_PLAIN}"
    f"|(?<![a-z0-9_]){_AT} (?:{_COLON}|{_ENGLISH}){_PLAIN}"
)
_BESIDE = Pattern(
    f",? ?(?:的|{_AT} )?(?:(?P<part>{_SAID_PART})?{_CHINESE}|{_COLON}|{_ENGLISH}|(?P<bare>{_SAID_PART}){_PLAIN})"
)
_AT_END = Pattern(f"(?:(?:(?P<part>{_SAID_PART})的? ?)?(?:{_CHINESE}|{_COLON})|{_ENGLISH})$")
_CLOCKS = Pattern(f"(?:(?P<part>{_SAID_PART})的? ?)?(?:{_CHINESE}|{_COLON})|{_ENGLISH}")
_WHOLE = Pattern("[^a-z0-9]{0,9}(?P<word>noon|midday|midnight)[^a-z0-9]{0,9}")
_HABIT = Pattern(
    "每|平时|平常|通常|一般|往往|总是|经常|常常|习惯|固定|几点"
    "|(?<![a-z])(?:every|each|usually|always|often|normally|typically|daily|mondays|weekdays)(?![a-z])"
)
_LOOKS_BACK = Pattern("[说聊讲了]|(?<![超通经路度难])过(?![来去年节生])|发生|提到|发的|那[次个条场张]|来着")
_READ_BEFORE = 32  # characters before a day that may contain its hour
_SHORTEST = 3 * _HOUR  # minimum span of a day or part of one that has hours: 两小时前 has none


def hours_in(text: str) -> Iterator[re.Match[str]]:
    """Yield the hours in a folded text that are named without a day.

    Habits are left out; so is a part of a day without a clock time (中午吃什么) unless the clause is about the past.
    """
    whole = _WHOLE.fullmatch(text)
    found = [whole] if whole else _ALONE.finditer(text)
    for match in found:
        clause = _clause(text, match.start(), match.end())
        if not _HABIT.compiled.search(clause) and (not _only_part(match) or _asks_back(match, clause)):
            yield match


def clocks(text: str) -> Iterator[tuple[int, int, int, bool]]:
    """Yield the clock times of a folded text: start, stop, minutes of the half day, and whether only the hour is told.

    Twelve hours apart is equal, because people say 三点 for both. A range yields both of its ends.
    """
    for match in _CLOCKS.finditer(text):
        if match["word"] is not None:
            continue
        at = int(times_of(match, "")[0] / _MINUTE) % (_NOON * 60)
        is_whole = not any(match[name] for name in ("half", "kv", "min")) and match["m24"] in (None, "00")
        yield match.start(), match.end(), at, is_whole
        if match["till"]:
            yield match.start(), match.end(), (number(match["till"]) % _NOON) * 60, not match["till_half"]


def latest(match: re.Match[str], now: datetime, *, ahead: bool) -> TimeSpan | None:
    """Return the matched hours on the last day on which they have begun; with ``ahead``, on the next one not yet over.

    None if the hours may be in the morning or in the evening.
    """
    span = _span(match, "")
    if span is None:
        return None
    start, stop = (datetime.combine(now.date(), datetime.min.time()) + end for end in span)
    if ahead and stop <= now:
        return TimeSpan(start + DAY, stop + DAY)
    if start > now and not ahead:
        return TimeSpan(start - DAY, stop - DAY)
    return TimeSpan(start, stop)


def narrowed(time_span: TimeSpan, text: str, start: int, stop: int, part: str) -> TimeSpan:
    """Return ``time_span`` narrowed to the hours beside the words from ``start`` to ``stop`` of a folded text.

    Unchanged without such hours, or if the span is longer than a day. ``part`` is the part of the day in these words,
    or "".
    """
    if not _SHORTEST <= time_span.stop - time_span.start <= DAY:
        return time_span
    match = _BESIDE.compiled.match(text, stop) or _before(text, start)
    span = _span(match, part) if match else None
    if span is None:
        return time_span
    first = datetime.combine(time_span.start.date(), datetime.min.time())
    return TimeSpan(first + span[0], first + span[1])


def clock_at_end(text: str) -> re.Match[str] | None:
    """Return the clock time at the end of a folded text; None if there is none, or if it ends a range (三点到五点)."""
    match = _AT_END.compiled.search(text)
    return None if match is None or match["till"] else match


def times_of(clock: re.Match[str], part: str) -> tuple[timedelta, ...]:
    """Return the times of day that a clock time can mean, since midnight; ``part`` is the part of the day beside it.

    Eight o'clock without a part of the day ("") yields two times, in the morning and in the evening.
    """
    found = clock.groupdict()
    if found["word"]:
        return ((24 if found["word"] in _MIDNIGHT else _NOON) * _HOUR,)
    said = next((found[name] for name in ("part", "ap", "ap24", "ocp", "ocn") if found[name]), part)
    hour = _hour(found, _PARTS.get(said, said))
    hours = _both_halves(found) if hour is None else (hour,)
    return tuple(each * _HOUR + _past_the_hour(found) for each in hours)


def _both_halves(found: dict[str, str | None]) -> tuple[int, ...]:
    hour = number(found["h"] or found["oc"] or "0")
    return (hour, hour + _NOON) if hour else (0,)


def _past_the_hour(found: dict[str, str | None]) -> timedelta:
    minutes, quarters = found["min"] or found["m24"], found["kv"]
    if found["half"]:
        return _HOUR / 2
    return number(minutes or "0") * _MINUTE + number(quarters or "0") * 15 * _MINUTE


def _before(text: str, start: int) -> re.Match[str] | None:
    before = text[max(start - _READ_BEFORE, 0) : start]
    return next((match for match in _ALONE.finditer(before) if before[match.end() :] in ("", " ", " on ")), None)


def _clause(text: str, start: int, stop: int) -> str:
    before, after = text[max(start - _READ_BEFORE, 0) : start], text[stop : stop + _READ_BEFORE]
    return f"{_CLAUSE_END.compiled.split(before)[-1]}\n{_CLAUSE_END.compiled.split(after)[0]}"


def _only_part(match: re.Match[str]) -> bool:
    return bool(match.groupdict().get("bare"))


def _asks_back(match: re.Match[str], clause: str) -> bool:
    return match.group() == match.string.strip() or bool(_LOOKS_BACK.compiled.search(clause))


def _span(match: re.Match[str], part: str) -> tuple[timedelta, timedelta] | None:
    """Return start and stop of the hours, since midnight; None if they may be in the morning or in the evening."""
    found = match.groupdict()
    word = found.get("bare") or found.get("word")
    if word in _MIDNIGHT:
        return 23 * _HOUR, 25 * _HOUR
    if word:
        first, last = hours_of(_PARTS.get(word, word))
        return first * _HOUR, last * _HOUR
    said = next((found[name] for name in ("part", "ap", "ap24", "ocp", "ocn") if found.get(name)), part)
    hour = _hour(found, _PARTS.get(said, said))
    if hour is None:
        return None
    start, stop = _around(hour * _HOUR, found)
    return start, _till(start, found) if found.get("till") else stop


def _hour(found: dict[str, str | None], part: str) -> int | None:
    colon = found.get("h24")
    hour = number(colon or found.get("h") or found.get("h12") or found.get("oc") or "0")
    if not part:
        return hour if colon or hour > _NOON else None
    if part in _SECOND_HALF:
        is_night = part in ("晚上", "夜里") and hour % _NOON <= _LATE
        return hour % _NOON + (2 * _NOON if is_night else _NOON) if hour <= _NOON else hour
    if part == "中午":
        return hour + _NOON if hour <= _LATE else hour
    return hour % _NOON if hour == _NOON else hour


def _around(start: timedelta, found: dict[str, str | None]) -> tuple[timedelta, timedelta]:
    if found.get("half"):
        return start + _HOUR / 2, start + _HOUR
    minutes = found.get("min") or found.get("m24")
    quarter = found.get("kv")
    if not minutes and not quarter:
        return start, start + _HOUR
    exact = start + (number(minutes) if minutes else 15 * number(quarter or "")) * _MINUTE
    return exact - _HOUR / 4, exact + _HOUR / 4


def _till(start: timedelta, found: dict[str, str | None]) -> timedelta:
    stop = number(found["till"] or "") * _HOUR + (_HOUR / 2 if found.get("till_half") else 0 * _HOUR)
    while stop <= start:
        stop += _NOON * _HOUR
    return stop
