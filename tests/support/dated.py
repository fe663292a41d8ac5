"""Writes out the dates of a statement's relative times, so that a test can read them where they belong."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from cognitive_memory_core.text.time.time_words import dated_words


def with_dates(text: str, when: datetime, names: Collection[str] = ()) -> str:
    """Return a statement made at ``when`` with its relative times replaced by their dates."""
    for mention, day in reversed(dated_words(text, when, names)):
        text = text[: mention.start] + day + text[mention.stop :]
    return text
