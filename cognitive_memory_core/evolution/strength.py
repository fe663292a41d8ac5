"""The strength of a belief: it rises with each person who confirms the belief, and falls over time otherwise."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from ..domain.belief import Belief

FIRST, PER_PERSON, STRONGEST_FIRST = 0.4, 0.1, 0.8
RISE = 0.25  # share of the rest up to 1 that each confirming person adds
HALF_LIFE = timedelta(days=180)  # a rule that nobody breaks is seldom spoken of
NOTICED = timedelta(days=1)  # a shorter time is left to the next run, so that runs close together do not add up


def first_strength(supporters: int) -> float:
    """Return the strength of a new belief that this number of people supports."""
    return min(FIRST + PER_PERSON * supporters, STRONGEST_FIRST)


def confirmed(belief: Belief, people: int, now: datetime) -> Belief:
    """Return a belief with more strength, because this number of people confirmed it at ``now``."""
    return replace(belief, strength=1.0 - (1.0 - belief.strength) * (1.0 - RISE) ** people, weighed_at=now)


def faded(belief: Belief, now: datetime) -> Belief:
    """Return a belief, weaker by the time since ``weighed_at``; unchanged within a day or if the clock went back."""
    passed = now - (belief.weighed_at or belief.updated_at)
    if passed < NOTICED:
        return belief
    return replace(belief, strength=belief.strength * 0.5 ** (passed / HALF_LIFE), weighed_at=now)
