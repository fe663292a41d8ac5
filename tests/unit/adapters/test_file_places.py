"""Tests that operations of one place do not block other places."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from cognitive_memory_core.domain.job import Job
from cognitive_memory_core.queue import format as codec
from cognitive_memory_core.queue.job_queue import THREADS, Claim, FileQueue
from cognitive_memory_core.settings import QueueSettings
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE, a_job, a_message
from tests.support.clock import NOON, FrozenClock
from tests.support.disk import FaultyDisk

MANY = 40
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

    def reads(self) -> list[str]:
        """Return the names of the job files that were opened, in order."""
        return [Path(path).name for what, path in self.performed if what == "open" and path.endswith(".json")]


async def opened(root: Path, disk: FaultyDisk) -> FileQueue:
    """Open a queue on a disk."""
    clock = FrozenClock()
    return await FileQueue.open(root, QueueSettings(), clock, disk=disk, elapsed=clock.elapsed)


async def taken(queue: FileQueue) -> Claim:
    """Claim a job, which must exist."""
    claim = await queue.claim()
    assert claim is not None
    return claim


async def in_time(step: Awaitable[Any]) -> Any:
    """Wait with a time limit."""
    return await asyncio.wait_for(asyncio.shield(asyncio.ensure_future(step)), PATIENCE)


async def reached(disk: StuckDisk) -> None:
    """Wait until an operation is blocked."""
    assert await asyncio.to_thread(disk.waiting.wait, PATIENCE)


def lines(number: int) -> list[Any]:
    """Return two recent lines, one of which the next turn shares."""
    return [a_message("说过", id=f"m{number}"), a_message("又说", id=f"m{number + 1}")]


def on_disk(root: Path) -> str:
    """Read all jobs."""
    return "".join(path.read_text("utf-8") for path in root.rglob("*.json"))


async def fill(queue: FileQueue) -> list[Job]:
    """Add many jobs of one place, of which the first is set aside and the second claimed."""
    jobs = [a_job(recent_messages=lines(number), message_ids=[f"s{number}"]) for number in range(MANY)]
    for job in jobs:
        await queue.enqueue(job)
    await queue.bury(await taken(queue), "坏了")
    await taken(queue)
    return jobs


@pytest.mark.parametrize(("message_id", "holders"), [("m7", (6, 7)), ("s9", (9,)), ("m0", (0,)), ("m1", (0, 1))])
@pytest.mark.parametrize("is_reopened", [False, True])
async def test_a_withdrawal_reads_only_the_jobs_that_hold_the_message(
    tmp_path: Path, message_id: str, holders: tuple[int, ...], *, is_reopened: bool
):
    """Withdrawing a message opens only the jobs that contain it, whatever their state."""
    disk = StuckDisk()
    queue = await opened(tmp_path, disk)
    jobs = await fill(queue)
    if is_reopened:
        await queue.close()
        queue = await opened(tmp_path, disk)
    disk.performed.clear()
    assert await queue.withdraw(GROUP.scope, message_id) == len(holders)
    assert {name[17:].partition(".")[0] for name in disk.reads()} == {jobs[number].id for number in holders}
    assert f'"{message_id}"' not in on_disk(tmp_path)
    await queue.close()


async def test_a_message_nobody_holds_opens_no_file(tmp_path: Path):
    """Withdrawing a message that no job contains opens no file."""
    disk = StuckDisk()
    queue = await opened(tmp_path, disk)
    await fill(queue)
    disk.performed.clear()
    assert await queue.withdraw(GROUP.scope, "unknown") == 0
    assert disk.performed == []
    await queue.close()


async def test_a_message_in_a_foreign_file_is_found(tmp_path: Path):
    """Messages in a job file added by hand are found, even with numeric ids."""
    queue = await opened(tmp_path, FaultyDisk())
    body = json.loads(codec.encoded(a_job(message_ids=["m1", "m2"]))) | {"message_ids": [1, "m2"]}
    path = tmp_path / "pending" / "by-hand.json"
    path.write_bytes(json.dumps(body).encode())
    os.utime(path, (NOON.timestamp() - 60, NOON.timestamp() - 60))
    await queue.refresh()
    assert await queue.withdraw(GROUP.scope, "1") == 1
    assert await queue.withdraw(GROUP.scope, "m2") == 1
    assert queue.counts().pending == 0
    await queue.close()


async def test_other_places_go_on_while_a_message_is_withdrawn(tmp_path: Path):
    """A blocked withdrawal does not block claims, new jobs and completions of other places."""
    disk = StuckDisk()
    queue = await opened(tmp_path, disk)
    here, there, third = a_job(message_ids=["m1", "m2"]), a_job(scene=OTHER_GROUP), a_job(scene=PRIVATE)
    for job in (third, here):
        await queue.enqueue(job)
    in_hand = await taken(queue)
    disk.stuck = here.id
    keys_to_update = asyncio.create_task(queue.withdraw(GROUP.scope, "m1"))
    await reached(disk)
    await in_time(queue.enqueue(there))
    await in_time(queue.complete(in_hand))
    claim = await in_time(queue.claim())
    assert claim is not None
    assert claim.job == there
    assert await in_time(queue.claim()) is None  # the job that is being changed is not returned
    disk.freed.set()
    assert await keys_to_update == 1
    assert (await taken(queue)).job.work.message_ids == ("m2",)
    await queue.close()


async def test_a_job_put_down_does_not_wait_for_another_places_disk(tmp_path: Path):
    """While one place's job is blocked, jobs of other places are completed, returned and set aside."""
    disk = StuckDisk()
    queue = await opened(tmp_path, disk)
    jobs = [a_job(), a_job(scene=OTHER_GROUP), a_job(scene=PRIVATE)]
    for job in jobs:
        await queue.enqueue(job)
    claims = [await taken(queue) for _ in jobs]
    disk.stuck = jobs[0].id
    hanging = asyncio.create_task(queue.requeue(claims[0], delay=0, counted=True))
    await reached(disk)
    await in_time(queue.bury(claims[1], "坏了"))
    await in_time(queue.complete(claims[2]))
    disk.freed.set()
    await hanging
    assert (queue.counts().pending, queue.counts().failed) == (1, 1)
    await queue.close()


async def test_a_flood_of_one_place_leaves_the_disk_to_others(tmp_path: Path):
    """Blocked new jobs of one place do not delay a new job of another place."""
    disk = StuckDisk()
    queue = await opened(tmp_path, disk)
    jobs = [a_job() for _ in range(3 * THREADS)]
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


async def test_opening_looks_at_each_waiting_file_once(tmp_path: Path):
    """Opening the queue opens and reads each pending file once."""
    disk = StuckDisk()
    queue = await opened(tmp_path, disk)
    for _ in range(MANY):
        await queue.enqueue(a_job(memo="聊了茶"))
    await queue.close()
    disk.performed.clear()
    queue = await opened(tmp_path, disk)
    assert len(queue.waiting_memos(GROUP.scope)) == MANY
    asked = [what for what, _ in disk.performed if what in ("open", "read", "stat")]
    assert asked.count("open") <= MANY + 1  # one more for the folder's fsync
    assert (asked.count("read"), asked.count("stat")) == (MANY, 0)
    await queue.close()


async def test_opening_says_how_many_jobs_wait(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """Before a long queue is read its length is logged."""
    caplog.set_level("INFO")
    queue = await opened(tmp_path, FaultyDisk())
    assert caplog.messages == []
    for _ in range(3):
        await queue.enqueue(a_job())
    await taken(queue)
    await queue.close()
    await (await opened(tmp_path, FaultyDisk())).close()
    assert caplog.messages == ["2 个任务等着，1 个做到一半重新做，0 个失败的留着"]
