"""Stretches of time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .. import sentences
from ..errors import BadArgument


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
    """Give the instant back when it carries a zone; else raise BadArgument."""
    if not isinstance(value, datetime) or value.tzinfo is None or value.utcoffset() is None:
        raise BadArgument(sentences.naive_instant(what))
    return value
