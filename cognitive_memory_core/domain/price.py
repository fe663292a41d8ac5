"""The price of a model's tokens."""

from __future__ import annotations

from dataclasses import dataclass

MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """The price of a million input tokens (``given``) and of a million output tokens (``written``), in any currency."""

    given: float
    written: float

    def __str__(self) -> str:
        """Return the price as .env writes it."""
        return f"{self.given:.15g}/{self.written:.15g}"

    def of(self, tokens: int, answered: int) -> float:
        """Return the price of ``tokens`` in all, of which ``answered`` are output tokens."""
        return ((tokens - answered) * self.given + answered * self.written) / MILLION
