"""Instants and intervals as the memory takes them: with a time zone, in a year that every zone can represent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timezone

from .. import sentences
from ..errors import BadArgument

_WRITTEN = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?:(:\d\d)(?:[.,](\d+))?)? ?(?:([Zz])|([+-]\d\d)(?::?(\d\d))?)?", re.ASCII
)


def datetime_of(text: str) -> datetime:
    """Parse a date, with or without a time; naive if it names no zone. Raises ValueError for any other text."""
    found = _WRITTEN.fullmatch(text.strip())
    if found is None:
        return datetime.fromisoformat(text.strip())
    day, minute, second, fraction, utc, hours, minutes = found.groups()
    fraction = f".{fraction[:6]:0<6}" if fraction else ""
    zone = "+00:00" if utc else f"{hours}:{minutes or '00'}" if hours else ""
    return datetime.fromisoformat(f"{day}T{minute}{second or ':00'}{fraction}{zone}")


FIRST_YEAR, LAST_YEAR = 2, 9998  # outside of them a conversion to another zone can overflow
EARLIEST = datetime(FIRST_YEAR, 1, 2, tzinfo=timezone.utc)
LATEST = datetime(LAST_YEAR, 12, 30, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Interval:
    """The half-open interval ``[start, stop)``; both ends have a time zone."""

    start: datetime
    stop: datetime

    def __post_init__(self) -> None:
        """Reject ends without a time zone."""
        checked_instant(self.start, "start")
        checked_instant(self.stop, "stop")

    def __contains__(self, instant: datetime) -> bool:
        """Return whether the instant lies inside; ``stop`` itself is outside."""
        return self.start <= instant < self.stop


def checked_instant(value: object, what: str) -> datetime:
    """Return the instant if it has a time zone and a year that every zone can represent; else raise BadArgument."""
    instant = checked_zoned(value, what)
    if not FIRST_YEAR <= instant.year <= LAST_YEAR:
        raise BadArgument(sentences.caller.bad_value(what, instant.year, f" {FIRST_YEAR} 到 {LAST_YEAR} 年之间的时间"))
    return instant


def checked_zoned(value: object, what: str) -> datetime:
    """Return the time if it has a time zone; raise BadArgument otherwise."""
    if not isinstance(value, datetime) or value.tzinfo is None or value.utcoffset() is None:
        raise BadArgument(sentences.caller.NAIVE_INSTANT.format(what=what))
    return value
