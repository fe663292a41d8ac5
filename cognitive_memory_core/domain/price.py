"""What a model costs."""

from __future__ import annotations

from dataclasses import dataclass

MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """What a model costs for each million tokens that it is given and that it writes; any currency."""

    given: float
    written: float

    def of(self, tokens: int, answered: int) -> float:
        """Return the price of so many tokens, of which the model wrote ``answered``."""
        return ((tokens - answered) * self.given + answered * self.written) / MILLION
