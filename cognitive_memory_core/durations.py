"""How long calls take, counted in buckets."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds


@dataclass(frozen=True)
class Durations:
    """How long one operation took since the start; a failed one counts, too.

    ``counts`` has one bucket for each of ``bounds`` and a last one for longer operations; buckets do not overlap.
    """

    bounds: ClassVar[tuple[float, ...]] = BOUNDS
    operation: str
    counts: tuple[int, ...] = (0,) * (len(BOUNDS) + 1)
    seconds: float = 0.0


@contextmanager
def timed(durations: dict[str, Durations], operation: str) -> Generator[None, None, None]:
    """Measure how long the ``with`` block takes, and add it to the durations of ``operation``."""
    began = time.perf_counter()
    try:
        yield
    finally:
        took, before = time.perf_counter() - began, durations.get(operation, Durations(operation))
        counts = list(before.counts)
        counts[bisect_left(BOUNDS, took)] += 1
        durations[operation] = Durations(operation, tuple(counts), before.seconds + took)
