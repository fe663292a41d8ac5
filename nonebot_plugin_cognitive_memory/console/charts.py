"""Small bar charts as numbers for an SVG that a template draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 560, 110
GAP = 0.25  # of the room of a bar


@dataclass(frozen=True)
class ChartBar:
    """One bar: its label, its value, its rectangle, and the page to which it links ("" for none)."""

    label: str
    value: int
    x: float
    y: float
    width: float
    height: float
    path: str = ""


def bars(values: Sequence[tuple[str, int, str]]) -> tuple[ChartBar, ...]:
    """Return the bars of labels, values and pages from left to right; the tallest is as high as the drawing."""
    most = max((value for _, value, _ in values), default=0)
    room = WIDTH / max(len(values), 1)
    return tuple(
        ChartBar(
            label,
            value,
            round(number * room + room * GAP / 2, 1),
            round(HEIGHT - _height(value, most), 1),
            round(room * (1 - GAP), 1),
            round(_height(value, most), 1),
            path,
        )
        for number, (label, value, path) in enumerate(values)
    )


def _height(value: int, most: int) -> float:
    return HEIGHT * max(value, 0) / most if most else 0.0
