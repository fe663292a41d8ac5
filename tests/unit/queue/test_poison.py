"""Tests of a job that ends its process."""

from __future__ import annotations

from pathlib import Path

import pytest

from cognitive_memory_core.domain.job import Job
from cognitive_memory_core.queue.job_queue import Claim, FileQueue
from cognitive_memory_core.settings.schema import QueueSettings
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE, a_job
from tests.support.clock import FrozenClock
from tests.support.disk import FaultyDisk

HANDS = 2  # number of jobs that a process claims at once


async def opened(root: Path, retries: int) -> FileQueue:
    """Open the queue as a new process does."""
    settings = QueueSettings(job_max_retries=retries)
    queue = await FileQueue(root, settings, FrozenClock(), disk=FaultyDisk()).opened()
    await queue.recover()
    return queue


async def in_hand(queue: FileQueue) -> list[Claim]:
    """Claim as many jobs as a process does."""
    claims = [await queue.claim() for _ in range(HANDS)]
    return [claim for claim in claims if claim is not None]


async def worked_off(root: Path, poison: Job, retries: int) -> int:
    """Run processes, which die with the bad job, until one ends normally; return the number of deaths."""
    for deaths in range(50):
        queue = await opened(root, retries)
        while claims := await in_hand(queue):
            if poison.id in {claim.job.id for claim in claims}:
                break
            for claim in claims:
                await queue.complete(claim)
        else:
            return deaths
    pytest.fail("the poison has no end")


@pytest.mark.parametrize("retries", [0, 1, 3])
@pytest.mark.parametrize("place", [0, 1, 2])
async def test_no_job_is_given_up_for_being_in_hand_beside_a_poison(tmp_path: Path, retries: int, place: int):
    """Only the bad job is set aside, and jobs that were claimed at the same time are done."""
    poison = a_job("毒", scene=GROUP)
    crowd = [a_job("好", scene=scene) for scene in (OTHER_GROUP, PRIVATE, OTHER_GROUP, GROUP)]
    crowd.insert(place, poison)
    queue = await opened(tmp_path, retries)
    for job in crowd:
        await queue.enqueue(job)
    await queue.close()
    deaths = await worked_off(tmp_path, poison, retries)
    queue = await opened(tmp_path, retries)
    assert [failed.id for failed in await queue.failed()] == [poison.id]
    assert (queue.counts().pending, queue.counts().processing) == (0, 0)
    assert deaths <= retries + 2
