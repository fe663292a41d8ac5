"""Tests of time windows on labelled questions, half of which name no time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from cognitive_memory_core.text.time.time_words import time_window
from tests.support.clock import NOON

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
Window = tuple[datetime, datetime]


def asked(name: str) -> Iterator[tuple[str, Window | None]]:
    """Load a set of labelled questions."""
    for line in Path(__file__).with_name(f"asked_{name}.tsv").read_text("utf-8").splitlines():
        text, _, ends = line.partition("\t")
        if not text.startswith("# "):
            yield text, labelled(ends) if ends else None


def labelled(ends: str) -> Window:
    """Parse the first and last day of a label, or its hours."""
    if ":" in ends:
        start, stop = (datetime.fromisoformat(f"2026-{end}") for end in (ends[:11], ends[12:]))
        return start, stop
    first, last = map(datetime.fromisoformat, ends.split(" "))
    return first, last + DAY


def is_right(found: Window | None, label: Window | None) -> bool:
    """Return whether a window matches the label: days exactly, hours within one hour."""
    if found is None or label is None:
        return found is label
    reach = HOUR if label[1] - label[0] < DAY else DAY * 0
    return all(abs(mine - theirs) <= reach for mine, theirs in zip(found, label, strict=True))


def read(text: str) -> Window | None:
    """Return the window of a question without its time zone."""
    found = time_window(text, NOON)
    return found and (found.start.replace(tzinfo=None), found.stop.replace(tzinfo=None))


@pytest.mark.parametrize(
    ("name", "least", "missed", "made_up"),
    [("zh", 200, 1, 9), ("en", 200, 2, 4), ("more_zh", 60, 1, 0), ("more_en", 60, 1, 1)],
)
def test_questions_are_read_as_people_read_them(name: str, least: int, missed: int, made_up: int) -> None:
    """Of the labelled questions of each language no more are misread than when it was measured.

    In the second sets quarters, holidays, bounds and two windows are found; habits and people called 周末 are not.
    """
    cases = list(asked(name))
    timed = [text for text, label in cases if label and not is_right(read(text), label)]
    timeless = [text for text, label in cases if label is None and read(text)]
    assert len(cases) > least
    assert len(timed) <= missed, timed
    assert len(timeless) <= made_up, timeless
