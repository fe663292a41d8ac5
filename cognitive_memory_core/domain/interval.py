"""Stretches of time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .. import sentences
from ..errors import BadArgument

FIRST_YEAR, LAST_YEAR = 2, 9998  # a day beyond them, some zone has no date


@dataclass(frozen=True)
class Interval:
    """The half-open stretch ``[start, stop)``; both ends carry a zone."""

    start: datetime
    stop: datetime

    def __post_init__(self) -> None:
        """Refuse ends without a zone."""
        checked_instant(self.start, "start")
        checked_instant(self.stop, "stop")

    def __contains__(self, instant: datetime) -> bool:
        """Tell whether the instant lies inside; the stop itself lies outside."""
        return self.start <= instant < self.stop


def checked_instant(value: object, what: str) -> datetime:
    """Give the instant back when it carries a zone and every zone can tell it; else raise BadArgument."""
    instant = checked_zoned(value, what)
    if not FIRST_YEAR <= instant.year <= LAST_YEAR:
        raise BadArgument(sentences.bad_value(what, instant.year, f" {FIRST_YEAR} 到 {LAST_YEAR} 年之间的时间"))
    return instant


def checked_zoned(value: object, what: str) -> datetime:
    """Give the time back when it carries a zone; else raise BadArgument."""
    if not isinstance(value, datetime) or value.tzinfo is None or value.utcoffset() is None:
        raise BadArgument(sentences.naive_instant(what))
    return value
