"""Reads from response headers when a server will accept the next request."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

LONGEST = 60.0
_LONGEST_HEADER = 64


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the pause that ``retry-after-ms`` or ``Retry-After`` (seconds or a date) requests, in seconds, at most 60.

    Returns None for zero, a past date or an unreadable value, so that the caller's own pause applies.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return _bounded(milliseconds / 1000)
    written = headers.get("retry-after", "").strip()
    seconds = _number(written)
    return _bounded(_until(written, now) if seconds is None else seconds)


def _number(written: str) -> float | None:
    with suppress(ValueError):
        number = float(written) if len(written) <= _LONGEST_HEADER else math.nan
        return None if math.isnan(number) else number
    return None


def _until(written: str, now: datetime) -> float:
    with suppress(ValueError, TypeError, OverflowError, IndexError):
        date = parsedate_to_datetime(written[:_LONGEST_HEADER])
        return ((date if date.tzinfo else date.replace(tzinfo=timezone.utc)) - now).total_seconds()
    return 0.0


def _bounded(seconds: float) -> float | None:
    return min(seconds, LONGEST) if seconds > 0 else None
