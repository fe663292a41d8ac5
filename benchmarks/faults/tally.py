"""The three counts that every row of the table has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Counts:
    """Counts of what was acknowledged and is missing, what exists more than once, and what is left over."""

    lost: int = 0
    twice: int = 0
    stuck: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.lost + other.lost, self.twice + other.twice, self.stuck + other.stuck)
