"""Parsing of instants: ISO 8601, with or without a zone, or a date only."""

from __future__ import annotations

import logging
from datetime import datetime, time, timedelta, timezone, tzinfo

from ... import sentences
from ...domain.interval import FIRST_YEAR, LAST_YEAR, Interval, datetime_of
from ...errors import BadArgument

log = logging.getLogger(__name__)
EARLIEST = datetime(FIRST_YEAR, 1, 2, tzinfo=timezone.utc)
LATEST = datetime(LAST_YEAR, 12, 30, tzinfo=timezone.utc)
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
