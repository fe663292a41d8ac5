"""Cancels a coroutine at a chosen await, and inspects what a memory leaves behind."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator
from pathlib import Path
from typing import Any

import psutil

from .waiting import until
from .warm import warm_process_id

OWN_THREADS = ("ledger-", "memory-queue", "cognitive-memory-")  # asyncio keeps its own threads for the life of the loop


class CancelledAt(Coroutine[Any, Any, Any]):
    """A coroutine whose task is cancelled at its ``at``-th await, and at the ``more`` awaits after that."""

    def __init__(self, inner: Coroutine[Any, Any, Any], at: int, more: int = 0) -> None:
        """Wrap a coroutine; the first await is number 1."""
        self._inner = inner
        self._cancelled = range(at, at + 1 + more)
        self.awaits = 0

    def send(self, value: Any) -> Any:
        """Run to the next await, and cancel the task there if its number is reached."""
        waited = self._inner.send(value)
        return self._suspended(waited)

    def throw(self, *raised: Any) -> Any:
        """Throw an exception into the coroutine, as a cancellation does."""
        return self._suspended(self._inner.throw(*raised))

    def close(self) -> None:
        """Close the coroutine."""
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        raise NotImplementedError

    def _suspended(self, waited: Any) -> Any:
        self.awaits += 1
        task = asyncio.current_task()
        if self.awaits in self._cancelled and task is not None:
            task.cancel()
        return waited


async def cancelled_at(work: Callable[[], Coroutine[Any, Any, object]], at: int, more: int = 0) -> bool:
    """Run work that is cancelled at its ``at``-th await; return whether it got that far."""
    running = CancelledAt(work(), at, more)
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.get_running_loop().create_task(running)
    return running.awaits >= at


async def cancelled_after(work: Awaitable[None], seconds: float) -> None:
    """Run work that is cancelled after ``seconds`` unless it has ended."""
    task = asyncio.ensure_future(work)
    await asyncio.wait({task}, timeout=seconds)
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        task.result()


def left_over(data_dir: Path) -> list[str]:
    """Return the child processes, threads and open files that a memory has not released."""
    gc.collect()
    process = psutil.Process()
    own = [child for child in process.children() if child.pid != warm_process_id()]
    children = [f"child {child.pid}" for child in own]
    threads = [one.name for one in threading.enumerate() if one.name.startswith(OWN_THREADS)]
    files = [file.path for file in process.open_files() if Path(file.path).is_relative_to(data_dir)]
    return children + threads + files


async def until_nothing_is_left(data_dir: Path) -> None:
    """Wait until everything is released; the test's timeout ends the wait otherwise."""
    await until(lambda: not left_over(data_dir))
