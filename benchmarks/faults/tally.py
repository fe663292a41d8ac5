"""Counts that are added up: those that every row of the table has, and a base for others."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from typing_extensions import Self


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
