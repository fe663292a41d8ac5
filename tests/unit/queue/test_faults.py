"""Tests of every job operation while a disk operation fails, the process ends or power is lost."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from cognitive_memory_core.domain.job import Job
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import StorageRefused
from cognitive_memory_core.queue import codec
from cognitive_memory_core.queue.codec import JobName, microseconds, parsed
from cognitive_memory_core.queue.job_queue import Claim, FileQueue
from cognitive_memory_core.settings.schema import QueueSettings
from tests.support.builders import GROUP, OTHER_GROUP, a_job, a_message
from tests.support.clock import NOON, FrozenClock
from tests.support.disk import Fault, FaultyDisk, FragileDisk, Killed
from tests.support.sizes import sized

FOLDERS = ("pending", "processing", "failed")
SETTINGS = QueueSettings(failed_cleanup_interval=1, failed_max_files=0, failed_max_age_days=1)
FIRST = a_job("一", message_ids=["m0"], recent_messages=[a_message("说错了", id="m1")])
SECOND = a_job("二", message_ids=["m9"])
THIRD = a_job("三")
LINE = a_message("那句不算", OTHER_GROUP, id="m8")
BURIED = a_job("四", scene=OTHER_GROUP, message_ids=["m7"], recent_messages=[LINE])
FOREIGN = "dropped"  # a job file that somebody put into pending
CORRUPT = "0" * 32  # a job file that contains no job


@dataclass
class World:
    """A queue on a disk, its accepted jobs, and the claimed job."""

    root: Path
    disk: FaultyDisk
    queue: FileQueue
    clock: FrozenClock
    claim: Claim | None = None
    accepted: set[str] = field(default_factory=set)
    uncertain: set[str] = field(default_factory=set)  # to be removed, or never confirmed

    async def reopen(self) -> None:
        """Restart after a crash with the same files and a working disk."""
        self.disk = FaultyDisk()
        self.queue = await FileQueue(self.root, SETTINGS, self.clock, disk=self.disk).opened()
        self.claim = None
        await self.queue.recover()

    async def take(self) -> None:
        """Claim the next job."""
        self.claim = await self.queue.claim()


async def enqueue(world: World) -> None:
    """Add a new job."""
    world.uncertain.add(THIRD.id)
    await world.queue.enqueue(THIRD)
    world.uncertain.discard(THIRD.id)
    world.accepted.add(THIRD.id)


async def claim(world: World) -> None:
    """Claim a job; a file that contains no job is set aside."""
    await world.take()
    assert world.claim is not None
    assert world.claim.job.scope == GROUP.scope


async def complete(world: World) -> None:
    """Complete a job."""
    assert world.claim is not None
    world.uncertain.add(world.claim.job.id)
    await world.queue.complete(world.claim)


async def requeue(world: World, *, counted: bool = True) -> None:
    """Return a job, with or without counting the attempt."""
    assert world.claim is not None
    await world.queue.requeue(world.claim, delay=0, counted=counted)


async def bury(world: World) -> None:
    """Set a job aside."""
    assert world.claim is not None
    await world.queue.bury(world.claim, "坏了")


async def withdraw(world: World, scene: Scene, message_id: str, gone: Job | None = None) -> None:
    """Withdraw a message, which may be the only one of a job; a job in hand is then put down."""
    world.uncertain |= {gone.id} if gone else set()
    await world.queue.withdraw(scene.scope, message_id)
    if gone and world.claim:
        await bury(world)


async def prune(world: World) -> None:
    """Delete jobs that were set aside long ago."""
    world.uncertain.add(BURIED.id)
    world.clock.advance(days=2)
    await world.take()
    assert not world.queue.knows(BURIED.id) or world.disk.has_struck


async def restart(world: World) -> None:
    """Restart, clean up the folders and recover claimed jobs."""
    world.queue = await FileQueue(world.root, SETTINGS, world.clock, disk=world.disk).opened()
    world.claim = None
    await world.queue.recover()


Step = Callable[[World], Awaitable[object]]
revive: Step = lambda world: world.queue.revive()  # noqa: E731  # a word used twice
WAYS: dict[str, tuple[bool, Step]] = {  # whether a job is claimed before
    "enqueue": (False, enqueue),
    "claim": (False, claim),
    "claim_unreadable": (False, claim),
    "complete": (True, complete),
    "requeue": (True, requeue),
    "give_back": (True, partial(requeue, counted=False)),
    "bury": (True, bury),
    "revive": (False, revive),
    "withdraw_line": (False, partial(withdraw, scene=GROUP, message_id="m1")),
    "withdraw_job": (False, partial(withdraw, scene=GROUP, message_id="m9", gone=SECOND)),
    "withdraw_line_in_hand": (True, partial(withdraw, scene=GROUP, message_id="m1")),
    "withdraw_job_in_hand": (True, partial(withdraw, scene=GROUP, message_id="m0", gone=FIRST)),
    "withdraw_buried_line": (False, partial(withdraw, scene=OTHER_GROUP, message_id="m8")),
    "withdraw_buried_job": (False, partial(withdraw, scene=OTHER_GROUP, message_id="m7", gone=BURIED)),
    "prune": (False, prune),
    "adopt": (False, lambda world: world.queue.refresh()),
    "restart": (True, restart),
}
KINDS = {
    "full once": Fault(0, errno.ENOSPC),
    "broken once": Fault(0, errno.EIO),
    "broken once, too late": Fault(0, errno.EIO, late=True),
    "broken for good": Fault(0, errno.EIO, always=True),
    "forbidden for good": Fault(0, errno.EACCES, always=True),
    "killed before": Fault(0, None),
    "killed after": Fault(0, None, late=True),
}


async def a_world(root: Path, way: str) -> World:
    """Create the files before a step: two pending jobs, one set aside, possibly one claimed."""
    clock = FrozenClock()
    for number, job in enumerate((BURIED, FIRST, SECOND)):
        body = codec.encoded(job) if number else codec.buried(codec.body_of(codec.encoded(job)), "坏了", NOON)
        name = JobName(microseconds(NOON) + number, job.id, 0 if number else 1)
        lay(root / ("pending" if number else "failed") / str(name), body)
    if way == "claim_unreadable":
        lay(root / "pending" / str(JobName(0, CORRUPT, 0)), b'{"half')
    (root / "processing").mkdir()
    disk = FragileDisk(*(root / folder for folder in FOLDERS))
    world = World(root, disk, await FileQueue(root, SETTINGS, clock, disk=disk).opened(), clock)
    world.accepted = {FIRST.id, SECOND.id, BURIED.id}
    if WAYS[way][0]:
        await world.take()
    if way in ("adopt", "restart"):
        lay(root / "pending" / f"{FOREIGN}.json", codec.encoded(a_job("五", scene=OTHER_GROUP)))
    if way == "restart":
        lay(root / "pending" / "x.json.tmp", b"{")
        lay_a_twin(root)
    disk.trust(*(root / folder for folder in FOLDERS))
    return world


def lay_a_twin(root: Path) -> None:
    """Also put the claimed job into pending, as a crash during a rename may."""
    twin = next((root / "processing").iterdir())
    lay(root / "pending" / twin.name.replace(".1.json", ".0.json"), twin.read_bytes())


def lay(path: Path, data: bytes) -> None:
    """Write a file by hand, dated an hour ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    then = NOON.timestamp() - 3600
    os.utime(path, (then, then))


def texts_in(*folders: Path) -> list[str]:
    """Read every file of some folders."""
    return [path.read_text("utf-8") for folder in folders for path in folder.iterdir()]


async def struck(root: Path, way: str, fault: Fault) -> World | None:
    """Run a step with a fault; return None if the step has fewer operations."""
    world = await a_world(root, way)
    world.disk.arm(fault)
    with contextlib.suppress(StorageRefused, Killed):
        await WAYS[way][1](world)
    return world if world.disk.has_struck else None


async def all_done(world: World) -> list[str]:
    """Complete all claimed and pending jobs; return their ids in order."""
    done: list[str] = []
    claim = world.claim or await world.queue.claim()
    while claim is not None:
        held = world.queue._entry_of(claim) is not None
        await world.queue.complete(claim)
        done += [claim.job.id] * held
        claim = await world.queue.claim()
    return done


def check_files(world: World) -> None:
    """Check that every job is complete and in exactly one folder, without other files."""
    names = [(folder, path) for folder in FOLDERS for path in (world.root / folder).iterdir()]
    found: Counter[str] = Counter()
    for _, path in names:
        name = parsed(path.name)
        assert name is not None, path
        found[name.job_id] += 1
        if name.job_id != CORRUPT:
            codec.job_of(json.loads(path.read_bytes()), name.job_id, NOON)
    assert set(found.values()) <= {1}, found
    wanted = world.accepted - world.uncertain
    assert wanted <= set(found)
    assert set(found) <= world.accepted | world.uncertain | {CORRUPT, FOREIGN}


def check_order(done: list[str], world: World) -> None:
    """Check that no job is done twice, and that jobs of a scope are done in order."""
    assert len(done) == len(set(done))
    ranks = [[FIRST.id, SECOND.id, THIRD.id].index(item) for item in done if item not in (BURIED.id, FOREIGN)]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
async def test_no_fault_loses_or_tears_a_job(tmp_path: Path, way: str, kind: str):
    """Whatever operation fails in any step, the next process finds every accepted job once and complete."""
    fault, step = KINDS[kind], sized(3, 1)
    for at in range(1 + [*KINDS].index(kind) % step, 100, step):
        world = await struck(tmp_path / str(at), way, Fault(at, fault.code, fault.always, fault.late))
        if world is None:
            return
        await world.reopen()
        check_files(world)
        buried = {failed.id for failed in await world.queue.failed()}
        done = await all_done(world)
        check_order(done, world)
        assert world.accepted - world.uncertain <= buried | set(done)
    pytest.fail("the way has no end")


@pytest.mark.parametrize("way", WAYS)
async def test_a_fault_that_passes_is_survived_in_place(tmp_path: Path, way: str):
    """After one failed operation the same process does all accepted jobs once and in order."""
    for at in range(1, 100):
        world = await struck(tmp_path / str(at), way, Fault(at, errno.EIO))
        if world is None:
            return
        if way == "restart":
            await restart(world)  # a failed start is retried
        done = await all_done(world)
        check_order(done, world)
        buried = {failed.id for failed in await world.queue.failed()}
        assert world.accepted - world.uncertain <= buried | set(done)
        await world.reopen()
        check_files(World(world.root, world.disk, world.queue, world.clock, None, buried, set(done)))
    pytest.fail("the way has no end")


@pytest.mark.parametrize("way", WAYS)
async def test_power_may_fail_at_any_moment(tmp_path: Path, way: str):
    """After power is lost, accepted jobs are there, although only fsynced data is kept."""
    for at in range(1, 100):
        world = await struck(tmp_path / str(at), way, Fault(at, None))
        if world is None:
            break
        assert isinstance(world.disk, FragileDisk)
        world.disk.cut_power()
        await world.reopen()
        check_files(world)
    world = await a_world(tmp_path / "whole", way)
    await WAYS[way][1](world)
    assert isinstance(world.disk, FragileDisk)
    world.disk.cut_power()
    await world.reopen()
    check_files(world)


@pytest.mark.parametrize("moves", [(), (partial(requeue, counted=False),), (requeue,), (bury,), (bury, revive)])
@pytest.mark.parametrize("message_id", ["m0", "m1"])
async def test_no_earlier_move_brings_withdrawn_words_back(tmp_path: Path, moves: tuple[Step, ...], message_id: str):
    """After a withdrawal no older copy of the job returns after power is lost."""
    world = await a_world(tmp_path, "requeue")
    for move in moves:
        await move(world)
    assert await world.queue.withdraw(GROUP.scope, message_id) == 1
    assert isinstance(world.disk, FragileDisk)
    world.disk.cut_power()
    await world.reopen()
    assert not any("说错了" in text for text in texts_in(*(tmp_path / one for one in FOLDERS)))


@pytest.mark.parametrize("message_id", ["m0", "m1"])
async def test_no_half_done_bury_brings_withdrawn_words_back(tmp_path: Path, message_id: str):
    """Whatever operation fails while a job is set aside, what is withdrawn afterwards does not come back."""
    for at in range(1, 100):
        world = await struck(root := tmp_path / str(at), "bury", Fault(at, errno.EIO))
        if world is None:
            return
        assert await world.queue.withdraw(GROUP.scope, message_id) == 1
        await world.reopen()
        assert not any("说错了" in text for text in texts_in(*(root / one for one in FOLDERS)))
    pytest.fail("the way has no end")


async def test_a_failed_fsync_is_never_repeated(tmp_path: Path):
    """A failed fsync of a new job is not repeated, and its file is removed."""
    world = await a_world(tmp_path, "enqueue")
    before = len(world.disk.performed)
    fsync_at = 3  # open, write, fsync
    world.disk.arm(Fault(fsync_at, errno.EIO))
    with pytest.raises(StorageRefused, match="写不进"):
        await world.queue.enqueue(THIRD)
    performed = [operation for operation, _ in world.disk.performed[before:]]
    assert performed == ["open", "write", "fsync", "close", "unlink"]


async def test_attempts_that_could_not_be_counted_do_not_count(tmp_path: Path):
    """An attempt whose fsync failed does not count."""
    world = await a_world(tmp_path, "claim")
    for _ in range(10):
        world.disk.arm(Fault(2, errno.EIO, always=True))
        with pytest.raises(StorageRefused):
            await world.queue.claim()
    await world.reopen()
    await world.take()
    assert world.claim is not None
    assert world.claim.job.id == FIRST.id
    assert world.claim.attempts <= 3


async def test_attempts_are_durable_before_work_starts(tmp_path: Path):
    """The folder is fsynced before a claim is returned."""
    world = await a_world(tmp_path, "claim")
    await world.take()
    assert ("fsync", str(tmp_path / "processing")) in world.disk.performed
    [path] = (tmp_path / "processing").iterdir()
    assert path.name.endswith(".1.json")
