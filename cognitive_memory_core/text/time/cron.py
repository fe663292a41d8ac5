"""Parsing of cron expressions of five fields as APScheduler parses them, without importing APScheduler."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_LEAP_YEAR = 2024  # its February has 29 days
_VALUE = "[0-9]{1,4}|[a-z]{3}"
_PART = re.compile(rf"(?:\*|(?P<first>{_VALUE})(?:-(?P<last>{_VALUE}))?)(?:/(?P<step>[0-9]{{1,4}}))?")


@dataclass(frozen=True)
class _Field:
    """A cron field of numbers from ``least`` to ``most``; ``names`` are words for the numbers, in their order."""

    least: int
    most: int
    names: Sequence[str] = ()

    def values(self, text: str) -> set[int] | None:
        """Return the numbers that a text allows in this field: {0, 30} for "*/30"; None if the text is invalid."""
        found: set[int] = set()
        for part in text.split(","):
            values = self._values_of(part)
            if values is None:
                return None
            found |= set(values)
        return found

    def _values_of(self, part: str) -> range | None:
        match = _PART.fullmatch(part)
        if match is None:
            return None
        first = self.least if match["first"] is None else self._number(match["first"])
        is_single = match["first"] is not None and match["last"] is None and match["step"] is None
        last = first if is_single else self.most if match["last"] is None else self._number(match["last"])
        step = int(match["step"] or 1)
        if first is None or last is None or not self.least <= first <= last <= self.most:
            return None
        if match["step"] and (not 0 < step <= last - first or part[0].isalpha()):
            return None
        return range(first, last + 1, step)

    def _number(self, text: str) -> int | None:
        if text.isdigit():
            return int(text)
        return self.least + self.names.index(text) if text in self.names else None


_MINUTE, _HOUR, _DAY = _Field(0, 59), _Field(0, 23), _Field(1, 31)
_MONTH, _WEEKDAY = _Field(1, 12, _MONTHS), _Field(0, 6, _WEEKDAYS)
_FIELDS = (_MINUTE, _HOUR, _DAY, _MONTH, _WEEKDAY)


def is_cron(expression: str) -> bool:
    """Return whether a text has the five fields minute, hour, day, month, weekday (0 is Monday), and is ever due.

    The day may also be "last". A text whose day occurs in none of its months, such as 30 February, is rejected.
    """
    texts = expression.lower().split()
    if len(texts) != len(_FIELDS):
        return False
    texts[2] = "28" if texts[2] == "last" else texts[2]
    fields = [field.values(text) for field, text in zip(_FIELDS, texts, strict=True)]
    if not all(fields):
        return False
    days, months = fields[2] or set(), fields[3] or set()
    return any(min(days) <= monthrange(_LEAP_YEAR, month)[1] for month in months)
