"""A process that only sleeps, one millisecond at a time: its delays are those of the machine.

Compared with a gap of the memory's event loop, its delay shows how much of the gap any process would have had.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from .measure import TICK


class Bystander:
    """Reports its longest delay since the last call, in ms beyond the tick."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        """Wrap a process that runs :func:`main`."""
        self._process = process

    async def longest(self) -> float:
        """Return the longest delay and reset it."""
        return await asyncio.to_thread(self._ask)

    def _ask(self) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("?\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())


@asynccontextmanager
async def bystander() -> AsyncIterator[Bystander]:
    """Run a bystander process while a block runs."""
    command = [sys.executable, "-m", "benchmarks.bystander"]
    process = await asyncio.to_thread(
        subprocess.Popen[str], command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        standing = Bystander(process)
        await standing.longest()  # returns after the process has started
        yield standing
    finally:
        await asyncio.to_thread(process.communicate)


def main() -> None:
    """Sleep, and answer each input line with the longest delay; end with the input."""
    waits: list[float] = [0.0]
    threading.Thread(target=_sleep, args=(waits,), daemon=True).start()
    for _ in sys.stdin:
        print(waits[0], flush=True)
        waits[0] = 0.0


def _sleep(waits: list[float]) -> None:
    while True:
        before = time.perf_counter()
        time.sleep(TICK)
        waits[0] = max(waits[0], 1000 * (time.perf_counter() - before - TICK))


if __name__ == "__main__":
    main()
