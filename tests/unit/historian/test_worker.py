"""Tests of the worker that processes jobs."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeVar

from cognitive_memory_core.consent import Consent
from cognitive_memory_core.domain.event import Draft, Statement
from cognitive_memory_core.domain.job import JobContext
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.domain.turn import Dialogue, Turn
from cognitive_memory_core.errors import PermanentError, StorageRefused, TooSlow, TransientError
from cognitive_memory_core.historian.worker import HistorianWorker
from cognitive_memory_core.queue.job_queue import FileQueue
from cognitive_memory_core.settings.schema import HistorianSettings, Live, QueueSettings, Settings
from cognitive_memory_core.store.events import EventLedger
from cognitive_memory_core.tasks import latest
from tests.support.builders import GROUP, OTHER_GROUP, a_job
from tests.support.disk import Fault, FaultyDisk
from tests.support.ledgers import Ledger, a_ledger
from tests.support.pipelines import a_pipeline
from tests.support.ports import Wrapping
from tests.support.queues import a_queue
from tests.support.waiting import until

Queue = TypeVar("Queue", bound=FileQueue)


class ScriptedHistorian:
    """A historian that returns each observation, unless its text has a reaction."""

    def __init__(self, **reactions: Callable[[], object]) -> None:
        """Use these reactions."""
        self.reactions = reactions
        self.seen: list[str] = []

    async def statements(self, work: Turn | Dialogue, job_context: JobContext) -> list[Statement]:
        """Return each observation."""
        assert isinstance(work, Turn)
        for text in work.observations:
            self.seen.append(text)
            reaction = self.reactions.get(text, lambda: None)()
            if asyncio.iscoroutine(reaction):
                await reaction
        return [Statement(text, speaker=work.scene.user_id) for text in work.observations]


class CommittingLater(Wrapping):
    """Events whose commits wait for something first."""

    def __init__(self, events: EventLedger, ready: Callable[[], Awaitable[object]]) -> None:
        """Wait for ``ready`` before each commit to ``events``."""
        super().__init__(events)
        self._ready = ready

    async def commit(self, draft: Draft) -> None:
        """Wait, then commit."""
        await self._ready()
        await self.inner.commit(draft)


def raising(error: Exception, times: int = 10**9) -> Callable[[], None]:
    """Return a reaction that raises the first ``times`` times."""
    left = [times]

    def react() -> None:
        if left[0] > 0:
            left[0] -= 1
            raise error

    return react


@asynccontextmanager
async def at_work(
    historian: ScriptedHistorian,
    *,
    retries: int = 0,
    concurrency: int = 2,
    stale: float = 300.0,
    make: type[Queue] = FileQueue,
    committing: Callable[[], Awaitable[object]] | None = None,
) -> AsyncIterator[tuple[Queue, Ledger, HistorianWorker]]:
    """Run a worker."""
    settings = Settings(
        historian=HistorianSettings(
            poll_interval_seconds=0.05, concurrency=concurrency, shutdown_seconds=0.2, stale_job_timeout_seconds=stale
        ),
        queue=QueueSettings(job_max_retries=retries),
    )
    queue, ledger = await a_queue(make, settings.queue), a_ledger()
    consent = Consent(ledger)
    pipeline = a_pipeline(
        ledger,
        historian,
        consent=consent,
        events=CommittingLater(ledger.events, committing) if committing else ledger.events,
    )
    worker = HistorianWorker(queue, pipeline, Live(settings), on_stored=lambda: None)
    worker.loop.start()
    try:
        yield queue, ledger, worker
    finally:
        await worker.stop()
        await queue.close()


async def test_a_job_that_always_raises_is_buried_and_the_others_go_on() -> None:
    """A job that always fails is set aside with its error, and others are done."""
    historian = ScriptedHistorian(坏=raising(PermanentError("坏掉了")))
    async with at_work(historian) as (queue, _, worker):
        for text in ("甲", "坏", "乙"):
            await queue.enqueue(a_job(text))
        worker.nudge()
        await until(lambda: worker.is_idle)
        (failed,) = await queue.failed()
        assert failed.error == "坏掉了"
        assert historian.seen == ["甲", "坏", "乙"]


async def test_a_job_knows_its_last_try() -> None:
    """The historian is told the last attempt of a job; a late answer counts as an attempt."""

    class Told(ScriptedHistorian):
        """A historian that records which attempts were the last."""

        async def statements(self, work: Turn | Dialogue, job_context: JobContext) -> list[Statement]:
            """Record, and time out on all other attempts."""
            assert isinstance(work, Turn)
            self.seen.append(str(job_context.is_last_try))
            if not job_context.is_last_try:
                raise TooSlow
            return [Statement(text) for text in work.observations]

    historian = Told()
    async with at_work(historian, retries=1) as (queue, _, worker):
        await queue.enqueue(a_job("甲"))
        worker.nudge()
        await until(lambda: worker.is_idle)
        assert historian.seen == ["False", "True"]
        assert not await queue.failed()


async def test_a_store_that_is_away_burns_no_attempts() -> None:
    """A failing store uses no attempt: a job that fails once afterwards is tried again, and stored."""
    errors = iter([StorageRefused("满了"), StorageRefused("满了"), TransientError("一次")])
    historian = ScriptedHistorian(甲=lambda: raising(error)() if (error := next(errors, None)) else None)
    async with at_work(historian, retries=1) as (queue, ledger, worker):
        job = a_job("甲")
        await queue.enqueue(job)
        worker.nudge()
        await until(lambda: worker.is_idle)
        assert await ledger.events.done(job.id)


async def test_a_full_disk_does_not_spend_the_calls_of_the_day() -> None:
    """While results cannot be stored, jobs are not asked for again and again; afterwards all are done."""
    is_full = [True]

    async def commit() -> None:
        if is_full[0]:
            raise StorageRefused("满了")

    historian, jobs = ScriptedHistorian(), [a_job(f"第 {number} 件", scene=_place(number)) for number in range(5)]
    async with at_work(historian, committing=commit) as (queue, ledger, worker):
        for job in jobs:
            await queue.enqueue(job)
        worker.nudge()
        await asyncio.sleep(1.5)
        assert len(historian.seen) <= len(jobs) + 2
        is_full[0] = False
        await until(lambda: worker.is_idle)
        assert all([await ledger.events.done(job.id) for job in jobs])


async def test_a_slow_scene_does_not_hold_up_another() -> None:
    """While a model works for one group, jobs of other groups are done."""
    gate = asyncio.Event()
    historian = ScriptedHistorian(慢=gate.wait)
    async with at_work(historian) as (queue, ledger, worker):
        await queue.enqueue(a_job("慢", scene=GROUP))
        quick = a_job("快", scene=OTHER_GROUP)
        await queue.enqueue(quick)
        worker.nudge()
        await until(lambda: "快" in historian.seen)
        gate.set()
        await until(lambda: worker.is_idle)
        assert await ledger.events.done(quick.id)


async def test_a_job_that_is_being_stored_leaves_the_model_to_another() -> None:
    """``concurrency`` bounds the jobs that call models: while one job is stored, the model is asked for the next."""
    gate = asyncio.Event()
    historian = ScriptedHistorian()
    async with at_work(historian, concurrency=1, committing=gate.wait) as (queue, ledger, worker):
        jobs = [a_job(f"第 {number} 件", scene=_place(number)) for number in range(3)]
        for job in jobs:
            await queue.enqueue(job)
        worker.nudge()
        await until(lambda: len(historian.seen) == 3)
        assert queue.counts().processing == 3
        gate.set()
        await until(lambda: worker.is_idle)
        assert all([await ledger.events.done(job.id) for job in jobs])


def _place(number: int) -> Scene:
    return Scene.group(str(20001 + number), "2000001")


async def test_while_it_is_held_nothing_is_in_work() -> None:
    """Holding the worker returns running jobs uncounted, and they are done afterwards."""
    stuck = asyncio.Event()
    historian = ScriptedHistorian(慢=stuck.wait)
    async with at_work(historian) as (queue, ledger, worker):
        job = a_job("慢")
        await queue.enqueue(job)
        worker.nudge()
        await until(lambda: historian.seen == ["慢"])
        async with worker.suspended():
            assert queue.counts().processing == 0
            assert queue.counts().pending == 1
            worker.nudge()
            await asyncio.sleep(0.1)
            assert queue.counts().processing == 0
        stuck.set()
        await until(lambda: worker.is_idle)
        assert await ledger.events.done(job.id)
        assert not await queue.failed()


async def test_holding_it_while_a_job_is_put_down_leaves_no_job_behind() -> None:
    """Whenever the worker is held, the job is done in the end."""
    historian = ScriptedHistorian()
    async with at_work(historian) as (queue, _, worker):
        for moment in range(12):
            await queue.enqueue(a_job(f"第 {moment} 件"))
            worker.nudge()
            for _ in range(moment):
                await asyncio.sleep(0)
            async with worker.suspended():
                assert queue.counts().processing == 0
        await until(lambda: worker.is_idle)
        assert not await queue.failed()


async def test_a_job_that_the_disk_took_back_too_late_blocks_nobody() -> None:
    """If the disk refuses to move a job back during an erasure, it is done afterwards, and no attempt is counted."""
    stuck = asyncio.Event()
    historian = ScriptedHistorian(慢=stuck.wait)
    async with at_work(historian) as (queue, ledger, worker):
        job, disk = a_job("慢"), queue.files.disk
        assert isinstance(disk, FaultyDisk)
        await queue.enqueue(job)
        worker.nudge()
        await until(lambda: historian.seen == ["慢"])
        disk.arm(Fault(1, errno.EIO, always=True))
        async with worker.suspended():
            assert queue.counts() == replace(queue.counts(), pending=1, processing=0)
            assert disk.has_struck
        await until(lambda: "写不进" in latest(worker.error_states))
        stuck.set()
        disk.arm(None)
        await until(lambda: worker.is_idle)
        assert await ledger.events.done(job.id)
        await until(lambda: latest(worker.error_states) == "")


async def test_a_stored_job_that_the_disk_does_not_delete_is_not_asked_again() -> None:
    """If the disk refuses to delete a stored job, it is deleted later, without another call to the model."""
    gate = asyncio.Event()
    historian = ScriptedHistorian()
    async with at_work(historian, committing=gate.wait) as (queue, ledger, worker):
        job, disk = a_job("甲"), queue.files.disk
        assert isinstance(disk, FaultyDisk)
        await queue.enqueue(job)
        worker.nudge()
        await until(lambda: historian.seen == ["甲"])
        disk.arm(Fault(1, errno.EIO, always=True))
        gate.set()
        await until(lambda: disk.has_struck and "写不进" in latest(worker.error_states))
        assert await ledger.events.done(job.id)
        assert queue.knows(job.id)
        disk.arm(None)
        await until(lambda: worker.is_idle)
        assert historian.seen == ["甲"]
        assert not queue.knows(job.id)
