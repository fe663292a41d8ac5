"""What a question asks for, as numbers: its terms with their weights, times and people; and the factors they give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from ..domain.interval import Interval
from ..settings import Decay
from ..text.lexical.frequency import telling_of
from ..text.lexical.terms import SEARCHED, hashed
from .query import NAMED, Query
from .rows import Array, Mask, Rows, Scores

SINGLE = 0.7  # weight of a single character beside that of a pair or word
ASIDE = 0.5  # of terms that stand beside the question only
OUTSIDE = 0.3  # factor of a row outside the times that the question names
PERSON = 0.15  # gain of a row by or about the people named; a larger one would let a wrong name hide the right answer
RECENT_US = 120 * 1_000_000  # lines this recent may be the question itself
DAY_US = 86_400 * 1_000_000.0
Window = tuple[int, int]
STEPS = ("time", "people", "age")


@dataclass(frozen=True)
class Asked:
    """A question as numbers; instants are microseconds since 1970.

    ``weights`` are those of the terms in talk, by how telling they are in the language; ``asides`` has a lower one for
    each term that stands beside the question only. ``people`` are those named, ``named`` the first of them.
    """

    terms: Array
    weights: Scores
    asides: Scores
    windows: Sequence[Window]
    people: frozenset[str]
    now_us: int
    decay: Decay | None
    most: int = SEARCHED

    @property
    def named(self) -> list[str]:
        """The people who get candidates of their own."""
        return sorted(self.people)[:NAMED]

    def is_recent(self, at_us: Array) -> Mask:
        """Return which instants are so recent that the line may be the question itself."""
        return at_us >= self.now_us - RECENT_US


def asked_of(query: Query, now: datetime, decay: Decay | None) -> Asked:
    """Return a question as numbers."""
    terms = {hashed(term): term for term in query.terms}
    asides = [ASIDE if term in query.asides else 1.0 for term in terms.values()]
    telling = [telling_of(term) * (SINGLE if len(term) == 1 and not term.isascii() else 1.0) for term in terms.values()]
    weights = np.array(asides) * np.array(telling)
    windows = [span_us(query.window)] if query.window else []
    return Asked(
        np.array(list(terms), np.uint32), weights, np.array(asides), windows, query.people, instant_us(now), decay
    )


def instant_us(at: datetime) -> int:
    """Return an instant in microseconds since 1970."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def span_us(window: Interval) -> Window:
    """Return an interval in microseconds since 1970."""
    return instant_us(window.start), instant_us(window.stop)


_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


@dataclass(frozen=True)
class Factors:
    """The factors of some rows' scores, by name."""

    by_name: dict[str, Scores]
    product: Scores

    def of(self, rows: Array) -> Factors:
        """Return those of some of the rows."""
        return Factors({name: factor[rows] for name, factor in self.by_name.items()}, self.product[rows])


def factors_of(rows: Rows, asked: Asked, at: Array, relevance: Scores | None = None) -> Factors:
    """Return the factors of the given rows: the time and people that the question names, and seed 001's decay."""
    at_us, one = rows.at_us.values[at], np.ones(len(at))
    time, people, age = one, one, one
    inside = np.any([(at_us >= start) & (at_us < stop) for start, stop in asked.windows], axis=0) if asked.windows else one
    if np.any(inside) and not np.all(inside):
        time = np.where(inside, 1.0, OUTSIDE)
    if asked.people:
        flat, owners, _ = rows.people.of(at)
        named = np.isin(flat, [rows.code_of(who) for who in asked.people])
        people = 1.0 + PERSON * np.bincount(owners[named], minlength=len(at)) / len(asked.people)
    if asked.decay is not None:
        fresh = 0.5 ** (np.maximum(asked.now_us - at_us, 0) / DAY_US / asked.decay.half_life_days)
        age = 1.0 + asked.decay.boost * fresh
        if relevance is not None:
            age = np.where(relevance >= asked.decay.floor, age, 1.0)
    return Factors({"time": time, "people": people, "age": age}, time * people * age)
