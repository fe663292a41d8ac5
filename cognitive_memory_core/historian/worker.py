"""Claims jobs, runs them, and requeues or buries those that fail."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from ..domain.scope import log_fields
from ..errors import PermanentError, TooSlow, TransientError, UnavailableError
from ..queue.job_queue import Claim, FileQueue
from ..settings import HistorianSettings, Live, Settings
from ..tasks import BackgroundLoop, ErrorState, completed, isolated, latest
from ..text.names import described
from .pipeline import Pipeline

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 300.0


@dataclass(frozen=True)
class Requeue:
    """Try again after ``delay`` seconds; ``counted=False`` if the attempt does not count against the job."""

    delay: float
    counted: bool


@dataclass(frozen=True)
class Bury:
    """Give up, with the reason in one line."""

    error: str


def decision(error: Exception, attempts: int, *, retries: int, spread: float) -> Requeue | Bury:
    """Decide what to do after try number ``attempts`` failed; ``spread`` in [0, 1] is the jitter.

    An unavailable store or endpoint does not count as an attempt. Every other error does, including unexpected ones
    and an answer that timed out, which may be billed and may never arrive.
    """
    is_away = isinstance(error, UnavailableError) and not isinstance(error, TooSlow)
    if not is_away and (isinstance(error, PermanentError) or attempts > retries):
        return Bury(described(error))
    requested_pause = error.retry_after if isinstance(error, TransientError | UnavailableError) else None
    return Requeue(min(max(_pause(attempts, spread), requested_pause or 0.0), LONGEST_PAUSE), counted=not is_away)


def _pause(attempts: int, spread: float) -> float:
    return min(FIRST_PAUSE * 2 ** min(attempts - 1, 10) * (0.75 + spread / 2), LONGEST_PAUSE)


log = logging.getLogger(__name__)
SHORTEST_POLL = 0.05
MAX_STORING = 16  # jobs being stored beside those that call models
LONGEST_QUEUE_PAUSE = 30.0  # seconds between two tries while the queue is unavailable
NAME = "HistorianWorker"


class HistorianWorker:
    """Processes jobs in one background loop, with model calls for up to ``concurrency`` of them at a time.

    After its last model call a job no longer counts towards ``concurrency``; up to :data:`MAX_STORING` such jobs are
    stored at a time, and those of several places share a transaction.
    """

    def __init__(
        self,
        queue: FileQueue,
        pipeline: Pipeline,
        settings: Live[Settings],
        *,
        on_stored: Callable[[], None],
    ) -> None:
        """Process the jobs of a queue; ``on_stored`` is called after each job whose events were stored."""
        self._queue = queue
        self._pipeline = pipeline
        self._settings = settings
        self._on_stored = on_stored
        self.loop = BackgroundLoop(NAME, self._round, debounce=0.0, longest_pause=LONGEST_QUEUE_PAUSE)
        self.outages = _Outages()
        self._is_nudged = True
        self._unreturned: list[Claim] = []  # cancelled claims that the queue has not taken back yet
        self._hands: dict[asyncio.Task[None], Claim] = {}
        self._storing: set[str] = set()  # tickets of the claims whose model calls are over
        self._stopping = False
        self._claiming = asyncio.Lock()
        self.paused = False

    @property
    def last_error(self) -> str:
        """The latest error of jobs, models or queue that has not ended; "" if there is none."""
        return latest(self.error_states)

    @property
    def error_states(self) -> list[ErrorState]:
        """The error states of jobs, models, queue and loop."""
        return [self.outages.jobs, self.outages.away, self.outages.queue, self.loop.trouble]

    @property
    def is_idle(self) -> bool:
        """Whether no job is pending or running."""
        counts = self._queue.counts()
        return not (counts.pending or counts.processing or self._hands)

    def nudge(self) -> None:
        """Check the queue now instead of at the next poll."""
        self._is_nudged = True
        self.loop.nudge()

    def start(self) -> None:
        """Process jobs in the background."""
        self._stopping = False
        self.loop.start()

    async def stop(self) -> None:
        """Wait up to ``shutdown_seconds`` for running jobs; requeue the rest without counting an attempt."""
        self._stopping = True
        if self._hands:
            await asyncio.wait(self._hands, timeout=self._historian.shutdown_seconds)
            await self._requeue_running()
        await self.loop.stop()
        await self._try_to_return()

    @asynccontextmanager
    async def suspended(self) -> AsyncGenerator[None, None]:
        """Run no job during the ``with`` block; running ones are cancelled and requeued without counting an attempt."""
        async with self._claiming:
            await completed(self._requeue_running())
            yield
        self.nudge()

    @property
    def _historian(self) -> HistorianSettings:
        return self._settings.current.historian

    async def _round(self) -> float:
        """Claim due jobs; first look for job files that other processes added, unless a nudge started this round."""
        is_nudged, self._is_nudged = self._is_nudged, False
        await self._return()
        if not is_nudged:
            await self._queue.refresh()
        while not self.paused and not self._stopping and self._has_free_slot:
            async with self._claiming:
                claim = await self._queue.claim()
                if claim is None:
                    break
                if self._stopping:  # stop() was called during the claim
                    await self._queue.requeue(claim, delay=0.0, counted=False)
                    break
                task = asyncio.create_task(self._work(claim), name=f"historian-{claim.job.id}")
                self._hands[task] = claim
                task.add_done_callback(self._on_done)
        if self.is_idle:
            self.outages.end()
        return max(self._historian.poll_interval_seconds, SHORTEST_POLL)

    @property
    def _has_free_slot(self) -> bool:
        most, busy = self._historian.concurrency, len(self._hands)
        return busy - len(self._storing) < most and busy < most + MAX_STORING

    def _note_last_call(self, claim: Claim) -> None:
        """Record that a job has made its last model call, so that another job may start."""
        self._storing.add(claim.ticket)
        self.nudge()

    def _on_done(self, task: asyncio.Task[None]) -> None:
        claim = self._hands.pop(task)
        self._storing.discard(claim.ticket)
        if task.cancelled():
            self._unreturned.append(claim)
        self.nudge()

    async def _requeue_running(self) -> None:
        """Cancel the running jobs and put their claims back in the queue, which has no effect for completed jobs."""
        for task in self._hands:
            task.cancel()
        if self._hands:
            await asyncio.wait(self._hands)
        await self._try_to_return()

    async def _try_to_return(self) -> None:
        """Put cancelled claims back in the queue; if it refuses, the loop retries or the next start recovers them."""
        try:
            await self._return()
        except UnavailableError as refused:
            self.loop.trouble.note(refused)
            self.nudge()

    async def _return(self) -> None:
        while self._unreturned:
            claim = self._unreturned[0]
            await self._queue.requeue(claim, delay=0.0, counted=False)
            if claim in self._unreturned:  # another call may have removed it meanwhile
                self._unreturned.remove(claim)

    async def _work(self, claim: Claim) -> None:
        is_last_try = claim.attempts > self._settings.current.queue.job_max_retries
        on_last_call = partial(self._note_last_call, claim)
        limit = self._historian.stale_job_timeout_seconds
        try:
            work = self._pipeline.process(claim.job, is_last_try=is_last_try, on_last_call=on_last_call)
            await isolated(work, limit)
        except asyncio.TimeoutError:
            await self._retry_until_done(partial(self._settle, claim, TransientError(f"{limit:g} s")))
        except Exception as error:  # noqa: BLE001  # the loop runner: every error of a job leads to a retry decision
            await self._retry_until_done(partial(self._settle, claim, error))
        else:
            self.outages.clear(claim.job.id)
            self._on_stored()
            await self._retry_until_done(partial(self._queue.complete, claim))

    async def _settle(self, claim: Claim, error: Exception) -> None:
        retries = self._settings.current.queue.job_max_retries
        outcome = decision(error, claim.attempts, retries=retries, spread=random.random())  # noqa: S311  # jitter
        self.outages.note_job(claim, error)
        if isinstance(outcome, Requeue):
            await self._queue.requeue(claim, delay=outcome.delay, counted=outcome.counted)
        else:
            await self._queue.bury(claim, outcome.error)

    async def _retry_until_done(self, act: Callable[[], Awaitable[None]]) -> None:
        """Repeat a queue operation until the disk accepts it; give up on stop, as the next start recovers the job."""
        while True:
            try:
                await act()
            except UnavailableError as refused:
                self.outages.queue.note(refused)
                if self._stopping:
                    return None
                await asyncio.sleep(max(self._historian.poll_interval_seconds, SHORTEST_POLL))
            else:
                return self.outages.queue.end()


class _Outages:
    """Distinguishes failures of single jobs from outages of a model or store that affect all jobs.

    An outage logs one line when it begins and one when it ends, however many jobs it requeues. It ends when one of
    those jobs is done, or when no job waits.
    """

    def __init__(self) -> None:
        """Start without errors."""
        self.jobs, self.away, self.queue = ErrorState(NAME), ErrorState(NAME), ErrorState(NAME)
        self._turned_back: set[str] = set()

    def note_job(self, claim: Claim, error: Exception) -> None:
        """Record why a job failed; for an outage, log only the first failure."""
        said = described(error)
        if isinstance(error, UnavailableError) and not isinstance(error, TooSlow):
            self._turned_back.add(claim.job.id)
            if not self.away.error:
                self.away.tell(said)
            return
        log.warning(
            "HistorianWorker job=%s attempt=%d: %s",
            claim.job.id,
            claim.attempts,
            said,
            extra=log_fields("job", job_id=claim.job.id, place=claim.job.scope),
        )
        self.jobs.tell(said, is_logged=True)

    def clear(self, job_id: str) -> None:
        """Record that a job is done, which ends the error state of jobs.

        If an outage had requeued this job, the outage ends, too: the model or store answers again.
        """
        self.jobs.end()
        if job_id in self._turned_back:
            self._turned_back.clear()
            self.away.end()

    def end(self) -> None:
        """End an outage, because no job waits any more."""
        self._turned_back.clear()
        self.away.end()
