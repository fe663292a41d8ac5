"""One row of the fault table, and how large it is asked for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Extent:
    """How much of a row is run: the published size, or a ``quick`` one that only shows that it works."""

    quick: bool = False
    minutes: float = 2.0  # of the flood
    seed: int = 7

    def of(self, published: int, quick: int) -> int:
        """Choose a number by the size."""
        return quick if self.quick else published


@dataclass(frozen=True)
class Row:
    """What one fault did: ``injected`` times it struck; what was ``lost``, found ``twice``, or ``stuck`` must be 0.

    ``seconds`` is the row's own figure, mostly the longest recovery; ``note`` says which. ``failed`` is set where
    something else that the row promises did not hold, and the note says what.
    """

    row: str
    what: str
    injected: int
    lost: int = 0
    twice: int = 0
    stuck: int = 0
    seconds: float = 0.0
    note: str = ""
    failed: bool = False

    @property
    def is_bad(self) -> bool:
        """Whether a count that must be 0 is not, or nothing was injected at all."""
        return self.failed or self.injected == 0 or bool(self.lost or self.twice or self.stuck)
