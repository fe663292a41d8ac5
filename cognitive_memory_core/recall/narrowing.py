"""Narrower readings for the time and people that a query names, whose rows others may crowd out in a large place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..domain.hit import ReadFilter
from .query import Query

NARROWED = 40  # extra candidates for the time and for each person named
NAMED = 3  # named people that get a search of their own


def narrowed(reading: ReadFilter, query: Query) -> Iterator[ReadFilter]:
    """Yield readings for the time and people that a query names, where the given reading does not restrict them."""
    if query.window is not None and reading.window is None:
        yield replace(reading, window=query.window)
    for person in sorted(query.people)[:NAMED] if not reading.user_id else ():
        yield replace(reading, user_id=person)
