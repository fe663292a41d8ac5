"""The historian at work: claims jobs, runs them, and decides what becomes of those that go wrong."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

from ..errors import TransientError, UnavailableError
from ..ports.queue import Claim, JobQueue, QueueView
from ..settings import HistorianSettings, Live, Settings
from .pipeline import Pipeline
from .retry import Requeue, decision, described
from .signals import signalled

log = logging.getLogger(__name__)
SHORTEST_POLL = 0.05


class HistorianWorker:
    """One loop that keeps up to ``concurrency`` scenes in work."""

    def __init__(
        self,
        queue: JobQueue,
        view: QueueView,
        pipeline: Pipeline,
        settings: Live[Settings],
        *,
        on_stored: Callable[[], None],
    ) -> None:
        """Work a queue off; ``on_stored`` is told after every job whose events are stored."""
        self._queue = queue
        self._view = view
        self._pipeline = pipeline
        self._settings = settings
        self._on_stored = on_stored
        self._wake = asyncio.Event()
        self._hands: dict[asyncio.Task[None], Claim] = {}
        self._stopping = False
        self._claiming = asyncio.Lock()
        self.paused = False
        self.last_error = ""

    @property
    def is_idle(self) -> bool:
        """Whether no job waits or is in work."""
        counts = self._view.counts()
        return not (counts.pending or counts.processing or self._hands)

    def nudge(self) -> None:
        """Look at the queue now instead of at the next poll."""
        self._wake.set()

    async def run(self) -> None:
        """Work until cancelled; only cancellation escapes."""
        self._stopping = False
        while True:
            try:
                await self._fill_hands()
            except Exception as error:  # noqa: BLE001  # the loop runner: one bad moment must not end the historian
                self._note(error)
            await self._rest()

    async def stop(self) -> None:
        """Let jobs in hand end within ``shutdown_seconds``; the rest goes back to the queue, unharmed."""
        self._stopping = True
        if self._hands:
            await asyncio.wait(self._hands, timeout=self._historian.shutdown_seconds)
            await self._let_go()

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None, None]:
        """Let nothing be in work until the block is left: jobs in hand go back to the queue, unharmed and uncounted."""
        async with self._claiming:
            await self._let_go()
            yield
        self.nudge()

    @property
    def _historian(self) -> HistorianSettings:
        return self._settings.current.historian

    async def _rest(self) -> None:
        if not await signalled(self._wake, max(self._historian.poll_interval_seconds, SHORTEST_POLL)):
            await self._look_for_foreign_files()

    async def _look_for_foreign_files(self) -> None:
        try:
            await self._view.refresh()
        except UnavailableError as error:
            self._note(error)

    async def _fill_hands(self) -> None:
        while not self.paused and not self._stopping and len(self._hands) < self._historian.concurrency:
            async with self._claiming:
                if not await self._has_taken_one():
                    return

    async def _has_taken_one(self) -> bool:
        claim = await self._queue.claim()
        if claim is None:
            return False
        if self._stopping:  # asked to stop while the claim was under way
            await self._queue.requeue(claim, delay=0.0, counted=False)
            return False
        task = asyncio.create_task(self._work(claim), name=f"historian-{claim.job.id}")
        self._hands[task] = claim
        task.add_done_callback(self._put_down)
        return True

    def _put_down(self, task: asyncio.Task[None]) -> None:
        self._hands.pop(task, None)
        self.nudge()

    async def _let_go(self) -> None:
        """Put everything in hand back; what is complete by now is held no longer, and stays so."""
        in_hand = dict(self._hands)
        for task in in_hand:
            task.cancel()
        try:
            await asyncio.gather(*in_hand, return_exceptions=True)
        finally:  # whoever asked may have gone meanwhile; the jobs must not stay in nobody's hands
            await asyncio.shield(self._put_back(list(in_hand.values())))

    async def _put_back(self, claims: Sequence[Claim]) -> None:
        for claim in claims:
            with contextlib.suppress(UnavailableError):  # what stays in processing is recovered at the next start
                await self._queue.requeue(claim, delay=0.0, counted=False)

    async def _work(self, claim: Claim) -> None:
        try:
            await self._process(claim)
        except Exception as error:  # noqa: BLE001  # the loop runner: whatever a job raises is decided on, not passed on
            await self._insist(partial(self._settle, claim, error))
        else:
            self._on_stored()
            await self._insist(partial(self._queue.complete, claim))

    async def _process(self, claim: Claim) -> None:
        limit = self._historian.stale_job_timeout_seconds
        is_last_try = claim.attempts > self._settings.current.queue.job_max_retries
        try:
            await asyncio.wait_for(self._pipeline.process(claim.job, is_last_try=is_last_try), limit)
        except asyncio.TimeoutError as late:
            message = f"{limit:g} s"
            raise TransientError(message) from late

    async def _settle(self, claim: Claim, error: Exception) -> None:
        retries = self._settings.current.queue.job_max_retries
        outcome = decision(error, claim.attempts, retries=retries, spread=random.random())  # noqa: S311  # jitter
        self._note(error, claim)
        if isinstance(outcome, Requeue):
            await self._queue.requeue(claim, delay=outcome.delay, counted=outcome.counted)
        else:
            await self._queue.bury(claim, outcome.error)

    async def _insist(self, act: Callable[[], Awaitable[None]]) -> None:
        """Repeat what only the disk can refuse; a process that ends meanwhile leaves the job to recovery."""
        while True:
            try:
                return await act()
            except UnavailableError as refused:
                self._note(refused)
                if self._stopping:
                    return None
                await asyncio.sleep(max(self._historian.poll_interval_seconds, SHORTEST_POLL))

    def _note(self, error: Exception, claim: Claim | None = None) -> None:
        said = described(error)
        if claim is not None:
            log.warning("HistorianWorker job=%s attempt=%d: %s", claim.job.id, claim.attempts, said)
        elif said != self.last_error:
            log.warning("HistorianWorker: %s", said)
        self.last_error = said
