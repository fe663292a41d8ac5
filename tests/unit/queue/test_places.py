"""Tests that operations of one place do not block other places."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from cognitive_memory_core.queue.job_queue import WRITERS, FileQueue
from cognitive_memory_core.settings.schema import QueueSettings
from tests.support.builders import GROUP, OTHER_GROUP, a_job
from tests.support.clock import FrozenClock
from tests.support.disk import FaultyDisk
from tests.support.queues import taken

PATIENCE = 30  # seconds, far more than any test here needs


class StuckDisk(FaultyDisk):
    """A disk that blocks operations on paths that contain ``stuck`` until ``freed`` is set."""

    def __init__(self) -> None:
        """Block nothing."""
        super().__init__()
        self.stuck = ""
        self.waiting = threading.Event()
        self.freed = threading.Event()

    def act(self, operation: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Wait if the path is blocked."""
        if self.stuck and operation in ("replace", "unlink", "fsync") and self.stuck in " ".join(map(str, args)):
            self.waiting.set()
            self.freed.wait(2 * PATIENCE)
        return super().act(operation, call, *args, **kwargs)


async def opened(root: Path, disk: FaultyDisk) -> FileQueue:
    """Open a queue on a disk."""
    clock = FrozenClock()
    return await FileQueue(root, QueueSettings(), clock, disk=disk, elapsed=clock.elapsed).opened()


async def in_time(step: Awaitable[Any]) -> Any:
    """Wait with a time limit."""
    return await asyncio.wait_for(asyncio.shield(asyncio.ensure_future(step)), PATIENCE)


async def reached(disk: StuckDisk) -> None:
    """Wait until an operation is blocked."""
    assert await asyncio.to_thread(disk.waiting.wait, PATIENCE)


async def test_a_flood_of_one_place_leaves_the_disk_to_others(tmp_path: Path):
    """Blocked new jobs of one place do not delay a new job of another place."""
    disk = StuckDisk()
    queue = await opened(tmp_path, disk)
    jobs = [a_job() for _ in range(3 * WRITERS)]
    disk.stuck = ".0.json"
    arriving = [asyncio.create_task(queue.enqueue(job)) for job in jobs]
    await reached(disk)
    disk.stuck = jobs[0].id
    other = a_job(scene=OTHER_GROUP)
    await in_time(queue.enqueue(other))
    assert queue.knows(other.id)
    assert not any(task.done() for task in arriving)
    disk.freed.set()
    await asyncio.gather(*arriving)
    assert await claimed_in_order(queue, len(jobs) + 1) == [job.id for job in jobs]
    await queue.close()


async def claimed_in_order(queue: FileQueue, number: int) -> list[str]:
    """Complete all jobs; return the ids of the place with many."""
    found: list[str] = []
    for _ in range(number):
        claim = await taken(queue)
        found += [claim.job.id] if claim.job.scope == GROUP.scope else []
        await queue.complete(claim)
    return found
