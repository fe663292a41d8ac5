"""Reads the figures that benchmarks wrote to a folder by :class:`benchmarks.measure.Report`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .measure import Cell

Row = Mapping[str, Cell]


@dataclass(frozen=True)
class Kept:
    """One benchmark's table with its machine and date."""

    title: str
    machine: str
    at: str
    rows: Sequence[Row]

    @property
    def columns(self) -> list[str]:
        """Return the names of the columns in order."""
        return list(self.rows[0]) if self.rows else []

    @property
    def label(self) -> str:
        """Return the column that names a row."""
        return next(name for name in self.columns if isinstance(self.rows[0][name], str))

    def numbers(self, besides: Sequence[str] = ()) -> list[str]:
        """Return the columns that hold numbers."""
        held = (name for name in self.columns if any(isinstance(row[name], int | float) for row in self.rows))
        return [name for name in held if name not in besides]


def find_kept(folder: Path, name: str) -> Kept | None:
    """Read one benchmark's figures; None if it was not run."""
    path = folder / f"{name}.json"
    if not path.exists():
        return None
    whole = json.loads(path.read_text("utf-8"))
    return Kept(whole["benchmark"], whole["machine"], whole["at"], whole["rows"])
