"""Job queues for tests."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import TypeVar

from cognitive_memory_core.domain.job import Job
from cognitive_memory_core.queue import codec
from cognitive_memory_core.queue.job_queue import Claim, FileQueue
from cognitive_memory_core.queue.order import ARRIVING, FOLDERS
from cognitive_memory_core.settings.schema import QueueSettings

from .clock import FrozenClock
from .disk import FaultyDisk

Queue = TypeVar("Queue", bound=FileQueue)
_folder = TemporaryDirectory(prefix="queues")  # one for each process of a test run


async def a_queue(kind: type[Queue], settings: QueueSettings | None = None, clock: FrozenClock | None = None) -> Queue:
    """Open an empty queue of a kind in a folder of its own, without syncs; the caller closes it."""
    folder, elapsed = Path(mkdtemp(dir=_folder.name)), clock.elapsed if clock else time.monotonic
    settings, clock = settings or QueueSettings(), clock or FrozenClock()
    queue = await kind(folder, settings, clock, disk=FaultyDisk(), elapsed=elapsed).opened()
    assert isinstance(queue, kind)
    return queue


def jobs_of(queue: FileQueue) -> list[Job]:
    """Return the jobs of a queue in every state, as they stand in their files."""
    entries = queue.order.all(ARRIVING, *FOLDERS)
    return [codec.job_of(queue.files.body(entry), entry.job_id, queue._clock.now()) for entry in entries]


async def taken(queue: FileQueue) -> Claim:
    """Claim a job, which must exist."""
    claim = await queue.claim()
    assert claim is not None
    return claim
