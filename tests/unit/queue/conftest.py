"""A queue in an empty folder, and a way to open it again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from cognitive_memory_core.queue.job_queue import FileQueue
from cognitive_memory_core.settings.schema import QueueSettings
from tests.support.clock import FrozenClock

Open = Callable[..., Awaitable[FileQueue]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return the path of the queue's folder, which does not exist yet."""
    return tmp_path / "data" / "queues"


@pytest.fixture
async def reopen(root: Path, clock: FrozenClock) -> AsyncIterator[Open]:
    """Return a function that opens the queue like another process after a crash; close all at the end."""
    opened: list[FileQueue] = []

    async def start(**bounds: float) -> FileQueue:
        opened.append(
            await FileQueue(root, QueueSettings.model_validate(bounds), clock, elapsed=clock.elapsed).opened()
        )
        return opened[-1]

    yield start
    for queue in opened:
        await queue.close()


@pytest.fixture
async def queue(reopen: Open) -> FileQueue:
    """Open the queue for the first time."""
    return await reopen()
