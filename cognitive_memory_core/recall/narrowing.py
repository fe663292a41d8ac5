"""Narrower read filters for the time and people that a query names: in a large place other rows may fill the result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..domain.read_filter import ReadFilter
from .query import Query

NARROWED = 40  # extra candidates for the time and for each person named
NAMED = 3  # named people that get a search of their own


def narrowed(read_filter: ReadFilter, query: Query) -> Iterator[ReadFilter]:
    """Yield a narrower read filter for the time, and for each person, that a query names, unless already restricted."""
    if query.window is not None and read_filter.window is None:
        yield replace(read_filter, window=query.window)
    for person in sorted(query.people)[:NAMED] if not read_filter.user_id else ():
        yield replace(read_filter, user_id=person)
