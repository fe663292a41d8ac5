"""The durable queue: one JSON file per job, in pending, processing or failed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Collection, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial, wraps
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from .. import sentences
from ..disk import Cleaning, Disk
from ..domain.scope import Scope, log_fields
from ..domain.turn import FailedJob, Job, Memo, QueueCounts
from ..errors import BadArgument, PermanentError, QueueFull, StorageRefused, UnavailableError
from ..ports import Clock
from ..settings import QueueSettings
from ..tasks import completed, in_thread, is_out_of_threads, seen
from . import erasure
from . import format as codec
from .folder import ON_DISK, PENDING, JobEntry, JobFolder, JobState
from .format import JOB_ID, JobName

P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger(__name__)
CLEANED_TOGETHER = 50  # jobs per step of a withdrawal, which bounds how long a claim waits
WRITERS = 3  # threads that write arriving jobs, so that remember() waits for no step
MEGABYTE = 1024 * 1024
SUSPECT_AFTER = 2  # attempts; a job that was running at a single crash was probably not its cause
COMPLAINT_PAUSE = timedelta(minutes=1)
_CENTURY = 36_500  # days; larger settings mean the same


class Claim(NamedTuple):
    """A claimed job. ``attempts`` includes the present attempt; ``ticket`` is for the queue only."""

    job: Job
    attempts: int
    ticket: str


def step(
    blocking: Callable[Concatenate[FileQueue, P], T], *, after_arrivals: bool = False
) -> Callable[Concatenate[FileQueue, P], Coroutine[Any, Any, T]]:
    """Make a step awaitable. Steps run in one thread, in turn, each to its end even if its caller is cancelled.

    ``after_arrivals``: it begins when the jobs that are being written now are on disk.
    """

    @wraps(blocking)
    async def awaited(self: FileQueue, *args: P.args, **kwargs: P.kwargs) -> T:
        if after_arrivals:
            await self.all_arrived()
        return await self.run(self.steps, partial(blocking, self, *args, **kwargs))

    return awaited


class FileQueue:
    """The durable job queue: files in a folder that one process owns; used by one event loop only.

    Three durable states: pending, processing, failed. A job is in exactly one of them until it is complete. Jobs of one
    scope are claimed in the order of their arrival and one at a time; scopes take turns. Erasures are durable on return
    and idempotent; erased content is removed from every file of the queue, including files that are no jobs.

    Made by :meth:`open`. All changes of files run one after another in a thread (``steps``), except that new jobs are
    written in threads of their own (``writers``). A change that has begun is finished, even if its caller is cancelled,
    so that disk and index stay consistent.
    """

    def __init__(
        self,
        jobs: JobFolder,
        settings: QueueSettings,
        clock: Clock,
        elapsed: Callable[[], float],
        horizon: Callable[[], datetime],
    ) -> None:
        """Wrap job files that are not indexed yet; use :meth:`open`."""
        self._elapsed = elapsed
        self._jobs = jobs
        self._settings = settings
        self._clock = clock
        self._horizon = horizon
        self.steps = ThreadPoolExecutor(1, thread_name_prefix="memory-queue")
        self.writers = ThreadPoolExecutor(WRITERS, thread_name_prefix="memory-queue-writer")
        self._arriving: dict[str, asyncio.Task[None]] = {}
        # one arrival at a time per scope, so that a flood in one leaves threads free
        self._arrival_locks = WeakValueDictionary[Scope | None, asyncio.Lock]()
        self._orphaned: list[JobEntry] = []
        self._claims = 0
        self._removed = 0  # buried jobs deleted by the bounds since the start
        self._complained_at: datetime | None = None

    @classmethod
    async def open(
        cls,
        folder: Path,
        settings: QueueSettings,
        clock: Clock,
        *,
        disk: Disk | None = None,
        elapsed: Callable[[], float] = time.monotonic,
        horizon: Callable[[], datetime] | None = None,
    ) -> FileQueue:
        """Create and index the folders; raises StorageRefused if the disk refuses.

        Pauses are measured by ``elapsed``, in seconds of a monotonic clock. The age of buried jobs is measured up to
        ``horizon``: an instant that has certainly passed, even if the clock is wrong (default: the clock's now).
        """
        jobs = JobFolder(folder, disk or Disk())
        queue = cls(jobs, settings, clock, elapsed, horizon or clock.now)
        try:
            await queue.run(queue.steps, lambda: jobs.survey(clock.now()))
        except BaseException:
            await completed(queue.close())
            raise
        queue._orphaned = jobs.all(JobState.CLAIMED)
        return queue

    async def close(self) -> None:
        """Wait for running steps, then refuse later ones; the files stay."""
        await self.all_arrived()
        for threads in (self.writers, self.steps):
            await asyncio.to_thread(threads.shutdown)

    async def enqueue(self, job: Job) -> None:
        """Store the job durably before returning; raise QueueFull or StorageRefused with nothing written."""
        while (same := self._arriving.get(job.id)) is not None:
            await asyncio.wait([same])
        if self.knows(job.id):
            return
        data = codec.encoded(job)
        if not JOB_ID.fullmatch(job.id):
            raise BadArgument(sentences.caller.BAD_ID.format(what="job id", value=job.id))
        if bound := self._exceeded(job.scope, len(data)):
            message, now = sentences.caller.QUEUE_FULL.format(bound=bound), self._clock.now()
            if self._complained_at is None or abs(now - self._complained_at) >= COMPLAINT_PAUSE:
                self._complained_at = now
                log.warning("%s", message)
            raise QueueFull(message)
        name = JobName(self._jobs.next_instant(self._clock.now()), job.id, 0)
        entry = JobEntry(*name, PENDING, str(name), JobState.ARRIVING, len(data), job.scope, codec.memo_of(job))
        self._jobs.move(entry, JobState.ARRIVING)
        self._arriving[job.id] = arriving = asyncio.ensure_future(self._arrive(entry, data))
        arriving.add_done_callback(seen)  # its caller may be gone
        await asyncio.shield(arriving)

    def _exceeded(self, scope: Scope, size: int) -> str:
        """Return which bound a job of this size would exceed; "" if none."""
        bounds, words = self._settings, sentences.caller
        total, here, waiting = self._jobs.load(scope)
        if total >= bounds.max_pending:
            return words.FULL_IN_TOTAL.format(limit=bounds.max_pending)
        if here >= bounds.max_pending_per_group:
            return words.FULL_HERE.format(limit=bounds.max_pending_per_group)
        is_full = waiting + size > bounds.max_pending_mb * MEGABYTE
        return words.FULL_IN_BYTES.format(megabytes=bounds.max_pending_mb) if is_full else ""

    async def _arrive(self, entry: JobEntry, data: bytes) -> None:
        state = None
        try:
            async with self._arrival_locks.setdefault(entry.scope, asyncio.Lock()):
                await self.run(self.writers, partial(self._jobs.arrive, entry, data))
            state = JobState.WAITING
        finally:
            self._jobs.move(entry, state)
            del self._arriving[entry.job_id]

    async def claim(self) -> Claim | None:
        """Claim the next job after durably counting the attempt; None if no job is claimable now.

        Jobs before it that cannot be read are buried.
        """
        claims: list[Claim] = []
        if not self.counts().pending:
            return None
        try:
            await self._claim(claims)
        except asyncio.CancelledError:
            with contextlib.suppress(RuntimeError):  # closed: the job is recovered at the next start
                self.steps.submit(lambda: [self._requeue(one, counted=False) for one in claims])  # after the claim
            raise
        return claims[0] if claims else None

    @step
    def _claim(self, claims: list[Claim]) -> None:
        while not claims and (entry := self._jobs.take(self._elapsed())) is not None:
            try:
                if (job := self._jobs.claim(entry)) is not None:
                    claims.append(Claim(job, entry.attempts, entry.name))
            except PermanentError as unreadable:
                told = log_fields("job", job_id=entry.job_id)
                log.warning("HistorianWorker job=%s: %s", entry.job_id, unreadable, extra=told)
                self._jobs.bury(entry, str(unreadable), self._clock.now())
        self._claims += len(claims)
        every = self._settings.failed_cleanup_interval
        if claims and every and self._claims % every == 0:
            self._prune()

    def _prune(self) -> None:
        """Remove the buried jobs beyond an age or a number, the longest buried first.

        One that the disk refuses to delete is tried again next time.
        """
        bounds, horizon, gone = self._settings, self._horizon(), list[str]()
        failed = sorted(self._jobs.all(JobState.FAILED), key=lambda entry: entry.failed_at or horizon)
        excess = len(failed) - bounds.failed_max_files if bounds.failed_max_files else 0
        age = timedelta(days=min(bounds.failed_max_age_days, _CENTURY))
        for rank, entry in enumerate(failed):
            if rank < excess or (age and (entry.failed_at or horizon) < horizon - age):
                with contextlib.suppress(StorageRefused):
                    self._jobs.remove(entry)
                    gone.append(entry.job_id)
        self._removed += len(gone)
        if gone:
            log.warning("%s", sentences.log.JOBS_REMOVED.format(jobs=" ".join(gone)))

    def _entry_of(self, claim: Claim) -> JobEntry | None:
        """Return the entry of a claimed job; None if the claim has ended: completed, requeued or buried."""
        entry = self._jobs.find(claim.job.id)
        return entry if entry is not None and entry.state is JobState.CLAIMED and entry.name == claim.ticket else None

    @step
    def complete(self, claim: Claim) -> None:
        """Delete a job whose effects are stored; does nothing if the claim has already ended."""
        if (entry := self._entry_of(claim)) is not None:
            self._jobs.remove(entry)

    @step
    def requeue(self, claim: Claim, *, delay: float, counted: bool) -> None:
        """Put the job back in its place, and claim no job of its scope for ``delay`` seconds.

        Its attempt counts only if ``counted``.
        """
        self._requeue(claim, delay=delay, counted=counted)

    def _requeue(self, claim: Claim, *, delay: float = 0.0, counted: bool) -> None:
        if (entry := self._entry_of(claim)) is not None:
            entry.is_crash_suspect = False  # the process survived it
            self._jobs.put_back(entry, attempts=entry.attempts if counted else entry.attempts - 1)
            if delay > 0 and entry.state is JobState.WAITING:
                self._jobs.paused[entry.line] = self._elapsed() + delay

    @step
    def bury(self, claim: Claim, error: str) -> None:
        """Move the job to failed, with its error on one line and without secrets, and keep it for :meth:`revive`."""
        if (entry := self._entry_of(claim)) is not None:
            self._jobs.bury(entry, error, self._clock.now())

    @step
    def recover(self) -> int:
        """Requeue the jobs that an ended process had claimed; return how many. Call it once, before the first claim.

        A job that was being processed at too many crashes is buried.
        """
        back, retries = 0, self._settings.job_max_retries
        while self._orphaned:
            entry = self._orphaned[0]
            if entry.attempts > retries + 1:
                error = sentences.storage_errors.PROCESS_DIED.format(times=entry.attempts)
                self._jobs.bury(entry, error, self._clock.now())
            else:
                self._jobs.put_back(entry, attempts=entry.attempts)
                entry.is_crash_suspect = entry.attempts >= min(SUSPECT_AFTER, retries + 1)
            back += entry.state is JobState.WAITING
            self._orphaned.remove(entry)
        return back

    @step
    def revive(self, job_id: str | None = None) -> int:
        """Move one failed job, or all, back to pending with zero attempts; return how many."""
        chosen = [entry for entry in self._jobs.all(JobState.FAILED) if job_id in (None, entry.job_id)]
        revived = sum(self._jobs.revive(entry, self._clock.now()) for entry in chosen)
        if job_id is None:
            self._jobs.paused.clear()
        return revived

    def knows(self, job_id: str) -> bool:
        """Return whether the job is pending, processing or failed."""
        entry = self._jobs.find(job_id)
        return entry is not None and entry.state is not JobState.ARRIVING

    @partial(step, after_arrivals=True)
    def holding(self, scope: Scope, message_ids: Collection[str]) -> frozenset[str]:
        """Return those of the messages of a scope that are input of a job, in any state.

        The input of a turn are its ``message_ids``, not its recent lines; that of a dialogue are its lines.
        """
        held = set[str]().union(*map(self._jobs.learned_from, self._jobs.of_scope(scope, *ON_DISK)))
        return frozenset(held.intersection(message_ids))

    def counts(self) -> QueueCounts:
        """Return the job counts by state, without I/O."""
        return replace(self._jobs.counts(), removed=self._removed)

    def waiting_memos(self, scope: Scope) -> list[Memo]:
        """Return the memos of pending and processing jobs of a scope, oldest first; a memo's id is its job's."""
        here = self._jobs.of_scope(scope, JobState.CLAIMED, JobState.WAITING)
        return [entry.memo for entry in here if entry.memo is not None]

    @step
    def failed(self) -> list[FailedJob]:
        """Return the failed jobs, oldest first, including unreadable ones."""
        return self._jobs.failures()

    async def withdraw(self, scope: Scope, message_id: str) -> int:
        """Remove a withdrawn message from the jobs that contain it, in every state, and from disk.

        A dialogue loses the line, a turn its recent line. A turn all of whose ``message_ids`` are withdrawn, or a
        dialogue without remaining lines of people, is deleted with its memo; a claimed job is deleted when its claim
        ends in any way. Returns the number of changed jobs. Other steps may run after every few jobs.
        """
        await self.all_arrived()
        cleaning = partial(erasure.without_message, message_id=message_id)
        return await completed(self._withdraw(self._jobs.of_scope(scope, *ON_DISK), cleaning))

    async def _withdraw(self, entries: list[JobEntry], cleaning: Cleaning) -> int:
        def clean(some: list[JobEntry]) -> int:
            return sum(self._jobs.clean(entry, cleaning) for entry in some if self._jobs.find(entry.job_id) is entry)

        changed = 0
        for first in range(0, len(entries), CLEANED_TOGETHER):
            changed += await self.run(self.steps, partial(clean, entries[first : first + CLEANED_TOGETHER]))
        if changed:
            await self.run(self.steps, self._jobs.sync)
        return changed

    @partial(step, after_arrivals=True)
    def names_of(self, user_id: str) -> set[str]:
        """Return the names that a person has in jobs; the ledger may not have them yet."""
        return self._jobs.names_of(user_id)

    @partial(step, after_arrivals=True)
    def erase_person(self, user_id: str, hide: Callable[[str], str]) -> int:
        """Remove a person from all jobs, of every agent; return how many changed.

        Their own turns and jobs of their private chat are deleted. Other dialogues lose their lines and what the bot
        said to them, and are deleted if no person's line remains; other turns lose their recent lines. In all other
        texts and in errors ``hide`` removes the person. An unreadable job that mentions them is deleted.
        """
        cleaning = partial(erasure.without_person, user_id=user_id, hide=hide)
        return self._jobs.erase(self._jobs.all(*ON_DISK), cleaning)

    @partial(step, after_arrivals=True)
    def erase_place(self, scope: Scope) -> int:
        """Delete all jobs of a place, and unreadable ones that mention it; return how many."""
        meant = [entry for entry in self._jobs.all(*ON_DISK) if entry.scope in (None, scope)]
        return self._jobs.erase(meant, partial(erasure.without_place, scope=scope))

    @step
    def copy_to(self, folder: Path) -> None:
        """Write a durable, consistent copy of all jobs to a folder from which a queue can be opened."""
        self._jobs.copy_to(folder)

    @step
    def refresh(self) -> None:
        """Index files that something other than :meth:`enqueue` put into pending, such as an operator.

        The folder is listed only if it changed since the last call.
        """
        self._jobs.refresh(self._clock.now())

    async def all_arrived(self) -> None:
        """Wait until the jobs that are being written now are on disk."""
        if self._arriving:
            await asyncio.wait(list(self._arriving.values()))

    async def run(self, threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        """Run work in a thread; raises StorageRefused if no thread can be started, but the work may run later."""
        try:
            return await in_thread(threads, work)
        except RuntimeError as failure:
            if is_out_of_threads(failure):
                refusal = sentences.storage_errors.STORAGE_REFUSED.format(path=PENDING, reason=failure)
                raise StorageRefused(refusal) from failure
            if "after shutdown" in str(failure):
                raise UnavailableError(sentences.caller.NOT_RUNNING) from None
            raise
