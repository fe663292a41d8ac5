"""The parts of a reading that a question names: in a large place others may outnumber what lies in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..domain.hit import Reading
from .query import Query

NARROWED = 40  # candidates of the time, and of each person, beside the best of all
NAMED = 3  # people of whom that is asked


def narrowed(reading: Reading, query: Query) -> Iterator[Reading]:
    """Give the readings of the time and of the people that a question names, as far as its own leaves them open."""
    if query.window is not None and reading.window is None:
        yield replace(reading, window=query.window)
    for person in sorted(query.people)[:NAMED] if not reading.user_id else ():
        yield replace(reading, user_id=person)
