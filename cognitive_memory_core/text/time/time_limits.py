"""Times as callers write them: instants and windows in ISO 8601, and time limits (2小时, 1h30m, 到明天早上8点)."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from datetime import datetime, time, timedelta, timezone, tzinfo

from ... import sentences
from ...domain.instants import EARLIEST, LATEST, Interval, checked_zoned, datetime_of
from ...errors import BadArgument
from ..characters import folded, lazy
from .calendar_spans import DAY, WEEK
from .clocks import clock_at_end, times_of
from .time_rules import LEANS
from .time_words import Mention, mentions
from .vocabulary import meaning, number

log = logging.getLogger(__name__)
LONGEST_TEXT = 64
_TICK = timedelta(microseconds=1)


def interval_of(time_from: datetime | str | None, time_to: datetime | str | None, zone: tzinfo) -> Interval | None:
    """Return the window from one time to another, both included; None if neither is given.

    Naive values are read in ``zone``, a bare date at the end includes its day, reversed ends are swapped with a
    warning. Raises BadArgument for an invalid time.
    """
    if _blank(time_from) and _blank(time_to):
        return None
    start = EARLIEST if _blank(time_from) else instant_of(time_from, zone, "time_from")
    last = LATEST if _blank(time_to) else instant_of(time_to, zone, "time_to", end=True)
    if start > last:
        log.warning("%s", sentences.log.TIMES_SWAPPED)
        start, last = instant_of(time_to, zone, "time_to"), instant_of(time_from, zone, "time_from", end=True)
    return Interval(start, last + _TICK)


def instant_of(value: object, zone: tzinfo, what: str, *, end: bool = False) -> datetime:
    """Parse one time; with ``end`` a bare date means the last instant of its day. Raises BadArgument."""
    if isinstance(value, datetime):
        return _zoned(value, zone)
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise BadArgument(sentences.caller.BAD_TIME.format(what=what, value=value))
    text = value.strip().replace("/", "-")
    try:
        found = datetime_of(text)
    except ValueError:
        raise BadArgument(sentences.caller.BAD_TIME.format(what=what, value=value)) from None
    return _zoned(datetime.combine(found, time.max) if end and len(text) <= len("2026-03-04") else found, zone)


def _zoned(instant: datetime, zone: tzinfo) -> datetime:
    zoned = instant if instant.tzinfo else instant.replace(tzinfo=zone)
    return min(max(zoned, EARLIEST), LATEST)


def _blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


LONGEST = 40  # characters
_UNITS = meaning(  # by the first character
    {
        timedelta(minutes=1): "分|m",
        timedelta(hours=1): "小|钟|时|h",
        DAY: "天|日|d",
        WEEK: "周|星|礼|w",
        30 * DAY: "月",
    }
)
_AMOUNT = (
    "(?P<n>[0-9]{1,4}(?:\\.5)?|[零一二两三四五六七八九十百]{1,5}|半) ?个?(?P<half>半?)"
    "(?P<unit>分钟?|小时|钟头|时|天|日|周|星期|礼拜|月|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)(?P<more>半?)"
)
_AMOUNTS = lazy(_AMOUNT)
_DURATION = lazy(f"(?:(?:{re.sub('[?]P<[a-z]+>', '?:', _AMOUNT)})[ ,]?(?:and |零)?){{1,3}}(?:[之以]?[后内])?")
_UNTIL = lazy("(?:直?到|至|until |till |to )? ?(?P<end>.{1,40}?) ?(?:为止|结束|[之以]?前)?")


def time_limit(text: str, now: datetime) -> datetime | None:
    """Return the end of a time limit that begins at ``now``, in the zone of ``now``; None if the text is no time limit.

    A limit that names a day without a clock time ends when that day, or the named part of it, begins. Of several
    possible days or hours the next one is returned; the result is in the past only if the text names a past day.
    Raises BadArgument if ``now`` has no zone.
    """
    checked_zoned(now, "now")
    said = folded(text).strip()
    if not 0 < len(said) <= LONGEST:
        return None
    try:
        if _DURATION.fullmatch(said):
            return _after(said, now)
        until, local = _UNTIL.fullmatch(said), now.replace(tzinfo=None)
        ends = sorted(_ends(until["end"], local)) if until else []
    except (ValueError, OverflowError):
        return None
    if not ends:
        return None
    end = next((one for one in ends if one > local), ends[-1]).replace(tzinfo=now.tzinfo)
    return end if end <= LATEST else None


def _after(duration: str, now: datetime) -> datetime | None:
    length = timedelta()
    for part in _AMOUNTS.finditer(duration):
        said = part["n"]
        amount = 0.5 if said == "半" else float(said) if said[0].isdecimal() else number(said)
        length += (amount + (0.5 if part["half"] or part["more"] else 0)) * _UNITS[part["unit"][0]]
    end = now.astimezone(timezone.utc) + length
    return end.astimezone(now.tzinfo) if length and end <= LATEST else None


def _ends(said: str, now: datetime) -> Iterator[datetime]:
    """Yield every instant that a text can mean; a part of a day without a date is that of today or of tomorrow."""
    clock, today = clock_at_end(said), datetime.combine(now, time())
    named = (said[: clock.start()] if clock else said).strip().removesuffix("的").strip()
    starts = [] if named else [(today, ""), (today + DAY, "")]
    whole = _only_mention(named)
    days = [whole] if whole or not named else [_only_mention(f"今天{named}"), _only_mention(f"明天{named}")]
    for each in filter(None, days):
        references = (now, now + 364 * DAY) if each.kind == "yearless" else (now,)
        readings = (each.at(since, lean) for since in references for lean in LEANS)
        starts += [(found.start, each.part) for found in readings if found]
    for start, part in starts:
        midnight = datetime.combine(start, time())
        yield from (midnight + at for at in times_of(clock, part)) if clock else (start,)


def _only_mention(text: str) -> Mention | None:
    found = mentions(text)
    return found[0] if len(found) == 1 and (found[0].start, found[0].stop) == (0, len(text)) else None
