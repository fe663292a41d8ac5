"""What work costs: processor time in proportion, which neither a slow nor a busy machine changes much."""

from __future__ import annotations

import gc
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

STEP = 8  # how much larger the larger input is
LINEAR = 3 * STEP  # what it may cost more; a cost that grows with the square is 64 times as high
LEAST = 0.002  # seconds under which a measure is noise
TRIES = 3


def spent(work: Callable[[], object], tries: int = TRIES) -> float:
    """Return the processor time that this thread needs for some work, the least of several tries."""
    took: list[float] = []
    with _without_collector():
        for _ in range(tries):
            started = time.thread_time()
            work()
            took.append(time.thread_time() - started)
    return max(min(took), LEAST)


async def spent_off_loop(work: Callable[[], Awaitable[object]], tries: int = TRIES) -> float:
    """Return the processor time that all threads of this process need for some work, the least of several tries."""
    took: list[float] = []
    with _without_collector():
        for _ in range(tries):
            started = time.process_time()
            await work()
            took.append(time.process_time() - started)
    return max(min(took), LEAST)


def growth(work: Callable[[int], object], size: int) -> float:
    """Tell how much more an input of a size costs than one of an eighth of it; compare with :data:`LINEAR`."""
    small = spent(lambda: work(size // STEP))
    return spent(lambda: work(size)) / small


@contextmanager
def _without_collector() -> Iterator[None]:
    """Keep the garbage collector, which walks all that a long run of tests holds, out of what is measured."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
