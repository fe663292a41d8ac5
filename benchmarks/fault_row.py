"""One row of the fault table, its size, and what a row counts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from typing_extensions import Self


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

    ``seconds`` is the row's own figure, usually the longest recovery; ``note`` explains it. ``failed`` is set if
    another promise of the row did not hold; the note then says which.
    """

    injected: int
    lost: int = 0
    twice: int = 0
    stuck: int = 0
    seconds: float = 0.0
    note: str = ""
    failed: bool = False
    row: str = ""
    what: str = ""

    @property
    def is_bad(self) -> bool:
        """Return whether a count that must be 0 is not, or nothing was injected."""
        return self.failed or self.injected == 0 or bool(self.lost or self.twice or self.stuck)


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

    def row(self, injected: int, seconds: float, note: str, *, failed: bool = False) -> Row:
        """Return the row with these counts."""
        return Row(injected, self.lost, self.twice, self.stuck, seconds, note, failed)
