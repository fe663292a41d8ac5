"""Claims jobs, runs them, and requeues or buries those that fail."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from ..domain.scope import log_fields
from ..errors import CognitiveMemoryError, PermanentError, StorageRefused, TooSlow, TransientError, UnavailableError
from ..queue.job_queue import Claim, FileQueue
from ..settings.schema import Live, Settings
from ..tasks import FIRST_PAUSE, LONGEST_PAUSE, BackgroundLoop, ErrorState, ended, isolated
from ..text.cleaning import described
from .pipeline import Pipeline

log = logging.getLogger(__name__)
SHORTEST_POLL = 0.05
LONGEST_QUEUE_PAUSE = 30.0  # seconds between two tries while the queue or the disk is unavailable
NAME = "HistorianWorker"
MAX_STORING = 16  # jobs that store their results beside the ``historian.concurrency`` ones that may call a model


def decision(error: Exception, attempts: int, *, retries: int, spread: float) -> float | None:
    """Return after how many seconds to repeat a job whose try number ``attempts`` failed, None to bury it.

    ``spread`` in [0, 1] is jitter. During an outage a job is always repeated.
    """
    if not is_outage(error) and (isinstance(error, PermanentError) or attempts > retries):
        return None
    requested_pause = error.retry_after if isinstance(error, CognitiveMemoryError) else None
    pause = FIRST_PAUSE * 2 ** min(attempts - 1, 10) * (0.75 + spread / 2)
    return min(max(pause, requested_pause or 0.0), LONGEST_PAUSE)


def is_outage(error: Exception) -> bool:
    """Return whether an error is of a store or model that is unavailable to every job: the attempt does not count.

    Every other error does, including unexpected ones and an answer that timed out, which may be billed and may never
    arrive.
    """
    return isinstance(error, UnavailableError) and not isinstance(error, TooSlow)


class HistorianWorker:
    """Processes the jobs of a queue in one background loop, those of several places at a time.

    An outage of a model or store logs one line when it begins and one when it ends, however many jobs it requeues. It
    ends when one of those jobs is done, or when no job waits. While the disk refuses results, one job at a time tries
    it, after growing pauses, because each try costs the calls of the job again.
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
        self._running = set[asyncio.Task[None]]()
        self._calling = set[asyncio.Task[None] | None]()  # those of them that may still call a model
        self._jobs, self._outage = ErrorState(NAME), ErrorState(NAME)
        self._turned_back: set[str] = set()  # ids of the jobs that an outage requeued
        self._refusals, self._rests_until = 0, 0.0  # by the disk, in a row; no job is claimed before this instant
        self._is_nudged = True
        self._claiming = asyncio.Lock()  # so that a suspension begins when a claim under way has a task
        self._suspensions = 0
        self.paused = False

    @property
    def error_states(self) -> list[ErrorState]:
        """The error states of jobs, of models and queue, and of the loop."""
        return [self._jobs, self._outage, self.loop.trouble]

    @property
    def is_idle(self) -> bool:
        """Whether no job is pending or running."""
        counts = self._queue.counts()
        return not (counts.pending or counts.processing or self._running)

    def nudge(self) -> None:
        """Check the queue now instead of at the next poll."""
        self._is_nudged = True
        self.loop.nudge()

    async def stop(self) -> None:
        """Wait up to ``shutdown_seconds`` for running jobs; requeue the rest without counting an attempt."""
        await self.loop.stop()
        if self._running:
            await asyncio.wait(self._running, timeout=self._settings.current.historian.shutdown_seconds)
        await ended(self._running)

    @asynccontextmanager
    async def suspended(self) -> AsyncGenerator[None, None]:
        """Run no job during the ``with`` block; running ones are cancelled and requeued without counting an attempt."""
        self._suspensions += 1
        try:
            async with self._claiming:
                await ended(self._running)
            yield
        finally:
            self._suspensions -= 1
            self.nudge()

    async def _round(self) -> float:
        """Claim due jobs; first look for job files that other processes added, unless a nudge started this round."""
        is_nudged, self._is_nudged = self._is_nudged, False
        if not is_nudged:
            await self._queue.refresh()
        while not self.paused:
            async with self._claiming:
                if not self._has_room() or (claim := await self._queue.claim()) is None:
                    break
                task = asyncio.create_task(self._work(claim), name=f"historian-{claim.job.id}")
                self._running.add(task)
                self._calling.add(task)
                task.add_done_callback(self._note_end)
                await asyncio.sleep(0)  # it begins: whoever cancels it now has it put its claim back
        if self.is_idle:
            self._end_outage()
        return max(self._settings.current.historian.poll_interval_seconds, SHORTEST_POLL)

    def _has_room(self) -> bool:
        """Return whether another job may be claimed now."""
        most = self._settings.current.historian.concurrency
        is_full = len(self._calling) >= most or len(self._running) >= most + MAX_STORING
        is_resting = self._refusals and (self._running or time.monotonic() < self._rests_until)
        return not (self._suspensions or is_full or is_resting)

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._calling.discard(task)
        self.nudge()

    async def _work(self, claim: Claim) -> None:
        """Process a job; then complete, requeue or bury it. One that is cancelled is requeued uncounted.

        A job that is stored and cannot be deleted is requeued, too: it will be found done.
        """
        settings, job, task = self._settings.current, claim.job, asyncio.current_task()
        retries, limit = settings.queue.job_max_retries, settings.historian.stale_job_timeout_seconds

        def on_last_call() -> None:
            self._calling.discard(task)
            self.nudge()

        try:
            work = self._pipeline.process(job, is_last_try=claim.attempts > retries, on_last_call=on_last_call)
            await isolated(work, limit)
            self._on_stored()
            await self._queue.complete(claim)
        except asyncio.CancelledError:
            await self._queue.requeue(claim, delay=0.0, counted=False)
            raise
        except Exception as failure:  # noqa: BLE001  # the loop runner: every error of a job leads to a retry decision
            error = TransientError(f"{limit:g} s") if isinstance(failure, asyncio.TimeoutError) else failure
            self._note(error, claim)
            pause = decision(error, claim.attempts, retries=retries, spread=random.random())  # noqa: S311  # jitter
            if pause is None:
                await self._queue.bury(claim, described(error))
            else:
                await self._queue.requeue(claim, delay=pause, counted=not is_outage(error))
        else:
            self._jobs.end()
            self._refusals, self._rests_until = 0, 0.0
            if job.id in self._turned_back:
                self._end_outage()

    def _note(self, error: Exception, claim: Claim) -> None:
        """Log the failure of a job; of an outage only the first. The more the disk refuses, the longer is the rest."""
        if is_outage(error):
            self._turned_back.add(claim.job.id)
            self._outage.note(error)
            if isinstance(error, StorageRefused) and time.monotonic() >= self._rests_until:
                self._rests_until = time.monotonic() + min(FIRST_PAUSE * 2**self._refusals, LONGEST_QUEUE_PAUSE)
                self._refusals = min(self._refusals + 1, 10)
        else:
            said, fields = described(error), log_fields("job", job_id=claim.job.id, place=claim.job.scope)
            log.warning("HistorianWorker job=%s attempt=%d: %s", claim.job.id, claim.attempts, said, extra=fields)
            self._jobs.tell(said, is_logged=True)

    def _end_outage(self) -> None:
        self._turned_back.clear()
        self._outage.end()
