"""Histograms of how long operations take, for monitoring from outside."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds


@dataclass(frozen=True)
class Durations:
    """How long one operation took since the start.

    ``counts`` has one bucket for each of ``bounds`` and a last one for longer operations; buckets do not overlap.
    """

    bounds: ClassVar[tuple[float, ...]] = BOUNDS
    operation: str
    counts: tuple[int, ...]
    seconds: float


class Stopwatches:
    """Measures the durations of several operations; a failed operation counts, too."""

    def __init__(self, *operations: str, clock: Callable[[], float] = time.perf_counter) -> None:
        """Start with nothing counted; ``clock`` returns seconds."""
        self._clock = clock
        self._counts = {operation: [0] * (len(BOUNDS) + 1) for operation in operations}
        self._seconds = dict.fromkeys(operations, 0.0)

    @contextmanager
    def timed(self, operation: str) -> Generator[None, None, None]:
        """Measure how long the ``with`` block takes and record it under ``operation``."""
        began = self._clock()
        try:
            yield
        finally:
            took = self._clock() - began
            self._counts[operation][bisect_left(BOUNDS, took)] += 1
            self._seconds[operation] += took

    def shown(self) -> tuple[Durations, ...]:
        """Return the durations counted so far, one Durations for each operation."""
        return tuple(
            Durations(operation, tuple(counts), self._seconds[operation]) for operation, counts in self._counts.items()
        )
