"""Claims jobs, runs them, and requeues or buries those that fail."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from ..domain.scope import log_fields
from ..errors import CognitiveMemoryError, PermanentError, TooSlow, TransientError, UnavailableError
from ..queue.job_queue import Claim, FileQueue
from ..settings import Live, Settings
from ..tasks import BackgroundLoop, ErrorState, completed, isolated
from ..text.names import described
from .pipeline import Pipeline

log = logging.getLogger(__name__)
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0  # seconds
SHORTEST_POLL = 0.05
LONGEST_QUEUE_PAUSE = 30.0  # seconds between two tries while the queue is unavailable
NAME = "HistorianWorker"
MAX_STORING = 16  # tasks that store their results beside those that may call a model
T = TypeVar("T")


@dataclass(frozen=True)
class Requeue:
    """Try again after ``delay`` seconds; ``counted=False`` if the attempt does not count against the job."""

    delay: float
    counted: bool


def decision(error: Exception, attempts: int, *, retries: int, spread: float) -> Requeue | None:
    """Return how to repeat a job after try number ``attempts`` failed, None to bury it; ``spread`` in [0, 1] is jitter.

    An unavailable store or endpoint does not count as an attempt. Every other error does, including unexpected ones
    and an answer that timed out, which may be billed and may never arrive.
    """
    is_away = is_outage(error)
    if not is_away and (isinstance(error, PermanentError) or attempts > retries):
        return None
    requested_pause = error.retry_after if isinstance(error, CognitiveMemoryError) else None
    pause = FIRST_PAUSE * 2 ** min(attempts - 1, 10) * (0.75 + spread / 2)
    return Requeue(min(max(pause, requested_pause or 0.0), LONGEST_PAUSE), counted=not is_away)


def is_outage(error: Exception) -> bool:
    """Return whether an error is of a store or model that is unavailable to every job."""
    return isinstance(error, UnavailableError) and not isinstance(error, TooSlow)


class Slots(Generic[T]):
    """Runs up to ``historian.concurrency`` tasks, and up to :data:`MAX_STORING` more after their last model call."""

    def __init__(self, settings: Live[Settings], on_room: Callable[[], None]) -> None:
        """Start empty; ``on_room`` is called whenever another task may begin."""
        self._settings = settings
        self._on_room = on_room
        self._storing: set[asyncio.Task[None]] = set()
        self.running: dict[asyncio.Task[None], T] = {}
        self.turn = asyncio.Lock()  # held while work begins, and by whoever lets none begin

    @property
    def has_room(self) -> bool:
        """Whether another task may begin."""
        most, busy = self._settings.current.historian.concurrency, len(self.running)
        return busy - len(self._storing) < most and busy < most + MAX_STORING

    def begin(
        self, item: T, work: Callable[[T, Callable[[], None]], Coroutine[Any, Any, None]], name: str
    ) -> asyncio.Task[None]:
        """Begin work on an item; it gets a function to call after its last model call."""

        def note_last_call() -> None:
            self._storing.add(task)
            self._on_room()

        task = asyncio.create_task(work(item, note_last_call), name=name)
        self.running[task] = item
        task.add_done_callback(self._note_end)
        return task

    def _note_end(self, task: asyncio.Task[None]) -> None:
        del self.running[task]
        self._storing.discard(task)
        self._on_room()

    async def finish(self) -> None:
        """Wait up to ``shutdown_seconds`` for the running tasks."""
        if self.running:
            await asyncio.wait(self.running, timeout=self._settings.current.historian.shutdown_seconds)

    async def cancel(self) -> None:
        """Cancel the running tasks and wait until they have ended."""
        for task in self.running:
            task.cancel()
        if self.running:
            await asyncio.wait(self.running)


class HistorianWorker:
    """Processes the jobs of a queue in one background loop; those of several places share a transaction.

    An outage of a model or store logs one line when it begins and one when it ends, however many jobs it requeues. It
    ends when one of those jobs is done, or when no job waits.
    """

    def __init__(
        self, queue: FileQueue, pipeline: Pipeline, settings: Live[Settings], *, on_stored: Callable[[], None]
    ) -> None:
        """Prepare; ``on_stored`` is called after each job whose events were stored."""
        self._queue = queue
        self._pipeline = pipeline
        self._settings = settings
        self._on_stored = on_stored
        self.loop = BackgroundLoop(NAME, self._round, debounce=0.0, longest_pause=LONGEST_QUEUE_PAUSE)
        self._slots = Slots[Claim](settings, self.nudge)
        self._jobs, self._outage, self._refusals = ErrorState(NAME), ErrorState(NAME), ErrorState(NAME)
        self._turned_back: set[str] = set()  # ids of the jobs that an outage requeued
        self._unreturned: list[Claim] = []  # cancelled claims that the queue has not taken back yet
        self._is_nudged = True
        self.paused = False

    @property
    def error_states(self) -> list[ErrorState]:
        """The error states of jobs, models, queue and loop."""
        return [self._jobs, self._outage, self._refusals, self.loop.trouble]

    @property
    def is_idle(self) -> bool:
        """Whether no job is pending or running."""
        counts = self._queue.counts()
        return not (counts.pending or counts.processing or self._slots.running)

    def nudge(self) -> None:
        """Check the queue now instead of at the next poll."""
        self._is_nudged = True
        self.loop.nudge()

    async def stop(self) -> None:
        """Wait up to ``shutdown_seconds`` for running jobs; requeue the rest without counting an attempt."""
        await self.loop.stop()
        await self._slots.finish()
        await self._requeue_running()

    @asynccontextmanager
    async def suspended(self) -> AsyncGenerator[None, None]:
        """Run no job during the ``with`` block; running ones are cancelled and requeued without counting an attempt."""
        async with self._slots.turn:
            await completed(self._requeue_running())
            yield
        self.nudge()

    @property
    def _poll(self) -> float:
        return max(self._settings.current.historian.poll_interval_seconds, SHORTEST_POLL)

    async def _round(self) -> float:
        """Claim due jobs; first look for job files that other processes added, unless a nudge started this round."""
        is_nudged, self._is_nudged = self._is_nudged, False
        await self._return()
        if not is_nudged:
            await self._queue.refresh()
        while not self.paused and self._slots.has_room:
            async with self._slots.turn:
                claim = await self._queue.claim()
                if claim is None:
                    break
                task = self._slots.begin(claim, self._work, f"historian-{claim.job.id}")
                task.add_done_callback(partial(self._note_end, claim))
        if self.is_idle:
            self._end_outage()
        return self._poll

    def _note_end(self, claim: Claim, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            self._unreturned.append(claim)

    async def _requeue_running(self) -> None:
        """Cancel the running jobs and put their claims back; what the queue refuses is tried again."""
        await self._slots.cancel()
        try:
            await self._return()
        except UnavailableError as refused:
            self.loop.trouble.note(refused)
            self.nudge()

    async def _return(self) -> None:
        """Put cancelled claims back, which has no effect for completed jobs."""
        while self._unreturned:
            claim = self._unreturned[0]
            await self._queue.requeue(claim, delay=0.0, counted=False)
            if claim in self._unreturned:  # another call may have removed it meanwhile
                self._unreturned.remove(claim)

    async def _work(self, claim: Claim, on_last_call: Callable[[], None]) -> None:
        """Process a job; then complete, requeue or bury it, repeatedly until the disk accepts that."""
        settings, job = self._settings.current, claim.job
        retries, limit = settings.queue.job_max_retries, settings.historian.stale_job_timeout_seconds
        try:
            work = self._pipeline.process(job, is_last_try=claim.attempts > retries, on_last_call=on_last_call)
            await isolated(work, limit)
        except Exception as failure:  # noqa: BLE001  # the loop runner: every error of a job leads to a retry decision
            error = TransientError(f"{limit:g} s") if isinstance(failure, asyncio.TimeoutError) else failure
            if is_outage(error):  # only the first failure of an outage is logged
                self._turned_back.add(job.id)
                self._outage.note(error)
            else:
                said, fields = described(error), log_fields("job", job_id=job.id, place=job.scope)
                log.warning("HistorianWorker job=%s attempt=%d: %s", job.id, claim.attempts, said, extra=fields)
                self._jobs.tell(said, is_logged=True)
            again = decision(error, claim.attempts, retries=retries, spread=random.random())  # noqa: S311  # jitter
            if again:
                settle = partial(self._queue.requeue, claim, delay=again.delay, counted=again.counted)
            else:
                settle = partial(self._queue.bury, claim, described(error))
        else:
            self._jobs.end()
            if job.id in self._turned_back:
                self._end_outage()
            self._on_stored()
            settle = partial(self._queue.complete, claim)
        while True:
            try:
                await settle()
            except UnavailableError as refused:
                self._refusals.note(refused)
                await asyncio.sleep(self._poll)
            else:
                return self._refusals.end()

    def _end_outage(self) -> None:
        self._turned_back.clear()
        self._outage.end()
