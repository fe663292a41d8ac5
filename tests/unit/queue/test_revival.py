"""Tests of interrupting the revival of all failed jobs."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from cognitive_memory_core.queue.job_queue import FileQueue
from cognitive_memory_core.settings.schema import QueueSettings
from tests.support.builders import GROUP, OTHER_GROUP, a_job
from tests.support.clock import FrozenClock
from tests.support.disk import Fault, FaultyDisk, Killed

JOBS = [a_job(str(number), scene=OTHER_GROUP if number % 2 else GROUP) for number in range(6)]
FOLDERS = ("pending", "processing", "failed")


async def all_buried(root: Path) -> None:
    """Create six failed jobs of two places."""
    queue = await FileQueue.open(root, QueueSettings(), FrozenClock(), disk=FaultyDisk())
    for job in JOBS:
        await queue.enqueue(job)
    while (claim := await queue.claim()) is not None:
        await queue.bury(claim, "坏了")
    await queue.close()


@pytest.mark.parametrize("late", [False, True])
async def test_a_crash_while_all_are_revived_loses_none(tmp_path: Path, late: bool):
    """After a crash during a revival each job is pending or failed, once; repeating revives the rest."""
    for at in range(1, 200):
        root, disk = tmp_path / str(at), FaultyDisk()
        await all_buried(root)
        queue = await FileQueue.open(root, QueueSettings(), FrozenClock(), disk=disk)
        disk.arm(Fault(at, None, late=late))
        with contextlib.suppress(Killed):
            await queue.revive()
        if not disk.has_struck:
            assert at > len(JOBS)
            return
        queue = await FileQueue.open(root, QueueSettings(), FrozenClock(), disk=FaultyDisk())
        assert len([path for folder in FOLDERS for path in (root / folder).iterdir()]) == len(JOBS)
        buried = {failed.id for failed in await queue.failed() if failed.job is not None}
        assert await queue.revive() == len(buried)
        done: set[str] = set()
        while (claim := await queue.claim()) is not None:
            done.add(claim.job.id)
            await queue.complete(claim)
        assert done == {job.id for job in JOBS}
        await queue.close()
    pytest.fail("reviving has no end")
