"""Says the days of what a text tells of time, so that a test can read them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from cognitive_memory_core.text.time.time_words import dated_words, time_window
from tests.support.clock import NOON


def window(text: str, at: datetime = NOON) -> str | None:
    """Return a window as its first and last day, or with hours if it is no whole number of days."""
    found = time_window(text, at)
    if found is None:
        return None
    last = found.stop - timedelta(microseconds=1)
    if found.start.hour or found.stop.hour or found.stop.minute:
        return f"{found.start:%m-%d %H:%M} {found.stop:%m-%d %H:%M}"
    first = f"{found.start:%Y-%m-%d}"
    return first if found.start.date() == last.date() else f"{first} {last:%Y-%m-%d}"


def with_dates(text: str, when: datetime, names: Collection[str] = ()) -> str:
    """Return a statement made at ``when`` with its relative times replaced by their dates."""
    for mention, day in reversed(dated_words(text, when, names)):
        text = text[: mention.start] + day + text[mention.stop :]
    return text
