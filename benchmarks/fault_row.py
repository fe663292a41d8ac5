"""One row of the fault table, its size, and what a row counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from typing_extensions import Self

from .measure import rounded


@dataclass(frozen=True)
class Extent:
    """The size of a row: the published one, or a ``quick`` one that only shows that the row works."""

    quick: bool = False
    minutes: float = 2.0  # duration of the flood row
    seed: int = 7

    def of(self, published: int, quick: int) -> int:
        """Return the number for the chosen size."""
        return quick if self.quick else published


@dataclass(frozen=True)
class Row:
    """The result of one fault, which was ``injected`` so many times; ``lost``, ``twice`` and ``stuck`` must be 0.

    ``seconds`` is the row's own figure, usually the longest recovery; 0 is the time of the whole row. ``failed`` is set
    if another promise of the row did not hold; the note or the examples of what went wrong then say which.
    """

    injected: int
    lost: int = 0
    twice: int = 0
    stuck: int = 0
    seconds: float = 0.0
    note: str = ""
    failed: bool = False
    examples: Sequence[str] = ()
    row: str = ""
    what: str = ""

    @property
    def is_bad(self) -> bool:
        """Return whether a count that must be 0 is not, or nothing was injected."""
        return self.failed or self.injected == 0 or bool(self.lost or self.twice or self.stuck)


class Seen(Counter[str]):
    """What a row counts, by name, and an example of each thing that went wrong."""

    def __init__(self) -> None:
        """Start with nothing."""
        super().__init__()
        self.examples: list[str] = []

    def wrong(self, name: str, example: str) -> None:
        """Count what should not have happened."""
        self[name] += 1
        self.examples.append(example)


def told(**figures: str | float) -> str:
    """Return the part of a note that names figures."""
    return ", ".join(f"{name.replace('_', ' ')} {rounded(value)}" for name, value in figures.items())


class Summed:
    """A dataclass whose fields can be added, one by one."""

    def __add__(self, other: Self) -> Self:
        """Return the sums."""
        names = [one.name for one in fields(self)]  # type: ignore[arg-type]  # those that derive from it are dataclasses
        sums: dict[str, Any] = {name: getattr(self, name) + getattr(other, name) for name in names}
        return type(self)(**sums)


@dataclass(frozen=True)
class Counts(Summed):
    """Counts of what was acknowledged and is missing, what exists more than once, and what is left over."""

    lost: int = 0
    twice: int = 0
    stuck: int = 0

    def row(self, injected: int, seconds: float, note: str, **rest: Any) -> Row:
        """Return the row with these counts."""
        return Row(injected, self.lost, self.twice, self.stuck, seconds, note, **rest)
