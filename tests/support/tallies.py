"""A tally of the quality report that keeps its counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Counts:
    """A tally that keeps what it is told."""

    names: Counter[str] = field(default_factory=Counter[str])

    def count(self, name: str, times: int = 1) -> None:
        """Keep a count."""
        self.names[name] += times

    def recalled(self, event_ids: Iterable[str]) -> None:
        """Keep nothing: a historian recalls nothing."""

    def took(self, read: str, seconds: float) -> None:
        """Keep nothing: a historian reads nothing for turns."""
