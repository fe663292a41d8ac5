"""Tells profile lines that concern a single day; removes the date at a line's start, and the repetition of a date."""

from __future__ import annotations

import re

_DAY = r"\d{4}(?:年\d{1,2}月\d{1,2}日|-\d{2}-\d{2})"
_DATED = re.compile(f"(?:于|在)?{_DAY}(?!起|以来|之?后)")
_NOTED = re.compile(f"[（(]\\s?(?:记于)? ?({_DAY})\\s?[)）]$")
_MARKS = re.compile(r"^(?:[-*+•·#>\s]|\(?\d{1,2}[.、)）](?!\d))+")


def begins_with_day(line: str) -> bool:
    """Return whether a line begins with the day of an event, rather than one since which something holds (…起)."""
    return bool(_DATED.match(line))


def once_dated(line: str) -> str:
    """Return a line without bullets, numbering, and a date in brackets at its end if the same date comes before it."""
    said = _MARKS.sub("", line)
    noted = _NOTED.search(said)
    if not noted:
        return said
    day, before = _figures(noted[1]), said[: noted.start()].rstrip()
    return before if any(_figures(found[0]) == day for found in re.finditer(_DAY, before)) else said


def _figures(day: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", day)))
