"""One row of the fault table, its size, and what a row counts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

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
    """What a row counts, by name, and an example of each thing that went wrong.

    ``lost``, ``twice`` and ``stuck`` are those of the row; its note tells the others.
    """

    def __init__(self, counts: Iterable[str] = (), **named: int) -> None:
        """Start with these counts."""
        self.examples: list[str] = []
        self.seconds = 0.0  # the row's own figure
        super().__init__(counts, **named)

    def update(self, counts: Any = (), /, **named: int) -> None:
        """Add counts, with the examples of others."""
        super().update(counts, **named)
        self.examples += getattr(counts, "examples", [])

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the examples when a process hands it to another."""
        return type(self), (dict(self),), {"examples": self.examples, "seconds": self.seconds}

    def wrong(self, name: str, example: str) -> None:
        """Count what should not have happened."""
        self[name] += 1
        self.examples.append(example)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Time a block; the longest counts."""
        begun = time.perf_counter()
        yield
        self.seconds = max(self.seconds, time.perf_counter() - begun)

    def row(self, injected: int, note: str = "", *, failed: object = False) -> Row:
        """Return the row with these counts and a further note; it failed if ``failed`` is neither 0 nor empty."""
        counts = [self.pop(kind, 0) for kind in ("lost", "twice", "stuck")]
        note = "; ".join(filter(None, (told(**self), note)))
        return Row(injected, *counts, self.seconds, note, bool(failed), self.examples)


def told(**figures: str | float) -> str:
    """Return the part of a note that names figures."""
    return ", ".join(f"{name.replace('_', ' ')} {rounded(value)}" for name, value in figures.items())
