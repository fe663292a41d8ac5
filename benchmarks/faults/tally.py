"""The three counts that every row of the table has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Counts:
    """What was acknowledged and is missing, what is there more than once, what is left over."""

    lost: int = 0
    twice: int = 0
    stuck: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.lost + other.lost, self.twice + other.twice, self.stuck + other.stuck)
