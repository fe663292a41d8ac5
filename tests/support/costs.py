"""Measures processor time as a ratio, which depends little on the machine's speed and load."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STEP = 8  # ratio of the larger input to the smaller
LINEAR = 3 * STEP  # allowed ratio of costs; a quadratic cost gives 64
LEAST = 0.002  # seconds below which a measurement is noise
TRIES = 3


def spent(work: Callable[[], object], tries: int = TRIES) -> float:
    """Return the processor time of this thread for some work, the least of several runs."""
    took: list[float] = []
    with _without_collector():
        for _ in range(tries):
            started = time.thread_time()
            work()
            took.append(time.thread_time() - started)
    return max(min(took), LEAST)


def growth(work: Callable[[int], object], size: int) -> float:
    """Return how many times more an input of ``size`` costs than one of an eighth; compare with :data:`LINEAR`."""
    small = spent(lambda: work(size // STEP))
    return spent(lambda: work(size)) / small


@contextmanager
def _without_collector() -> Iterator[None]:
    """Disable the garbage collector while measuring, since it walks all objects of a long test run."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
