"""The durable queue: one JSON file per job, in pending, processing or failed; an in-memory index orders them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Collection, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from .. import sentences
from ..disk import TEMP, Cleaning, Disk, FoundFile, Vanished
from ..domain.note import Memo
from ..domain.scope import Scope, log_fields
from ..domain.turn import FailedJob, Job, QueueCounts
from ..errors import BadArgument, PermanentError, QueueFull, StorageRefused, UnavailableError
from ..ports.clock import Clock
from ..settings import QueueSettings
from ..tasks import KeyedLock, completed, in_thread, is_out_of_threads, seen
from . import erasure
from . import format as codec
from .folder import PENDING, JobFiles
from .format import INSTANT_WIDTH, JobName, is_job_id, microseconds, parsed
from .schedule_index import ON_DISK, JobEntry, JobState, ScheduleIndex

P = ParamSpec("P")
T = TypeVar("T")
Elapsed = Callable[[], float]
log = logging.getLogger(__name__)
CLEANED_TOGETHER = 50  # jobs per step of a withdrawal, which bounds how long a claim waits
WRITERS = 3  # threads that write arriving jobs, so that remember() waits for no step
MEGABYTE = 1024 * 1024
SUSPECT_AFTER = 2  # attempts; a job that was running at a single crash was probably not its cause
COMPLAINT_PAUSE = timedelta(minutes=1)


@dataclass(frozen=True)
class Claim:
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
        self, files: JobFiles, settings: QueueSettings, clock: Clock, elapsed: Elapsed, horizon: Callable[[], datetime]
    ) -> None:
        """Wrap job files that are not indexed yet; use :meth:`open`."""
        self._elapsed = elapsed
        self._files = files
        self._settings = settings
        self._clock = clock
        self._horizon = horizon
        self._order = ScheduleIndex()
        self._last_instant = 0  # of the names that exist: each further one is later, whatever the clock does
        self.steps = ThreadPoolExecutor(1, thread_name_prefix="memory-queue")
        self.writers = ThreadPoolExecutor(WRITERS, thread_name_prefix="memory-queue-writer")
        self._arriving: dict[str, asyncio.Task[None]] = {}
        self._arrival_locks = KeyedLock()  # one arrival at a time per scope, so that a flood in one leaves threads free
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
        elapsed: Elapsed = time.monotonic,
        horizon: Callable[[], datetime] | None = None,
    ) -> FileQueue:
        """Create and index the folders; raises StorageRefused if the disk refuses.

        Pauses are measured by ``elapsed``, in seconds of a monotonic clock. The age of buried jobs is measured up to
        ``horizon``: an instant that has certainly passed, even if the clock is wrong (default: the clock's now).
        """
        queue = cls(JobFiles(folder, disk or Disk()), settings, clock, elapsed, horizon or clock.now)
        try:
            await queue._index()
        except BaseException:
            await completed(queue.close())
            raise
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
        if not is_job_id(job.id):
            raise BadArgument(sentences.caller.BAD_ID.format(what="job id", value=job.id))
        self._check_bounds(job.scope, len(data))
        name = JobName(self._next_instant(), job.id, 0)
        entry = JobEntry(name.instant, job.id, 0, PENDING, str(name), len(data), JobState.ARRIVING)
        entry.scope, entry.memo = job.scope, codec.memo_of(job)
        self._order.move(entry, JobState.ARRIVING)
        self._arriving[job.id] = arriving = asyncio.ensure_future(self._arrive(entry, data))
        arriving.add_done_callback(seen)  # its caller may be gone
        await asyncio.shield(arriving)

    async def _arrive(self, entry: JobEntry, data: bytes) -> None:
        state = None
        try:
            async with self._arrival_locks.of(entry.scope):
                await self.run(self.writers, partial(self._files.arrive, entry, data))
            state = JobState.WAITING
        finally:
            self._order.move(entry, state)
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
                self.steps.submit(self._give_back, claims)  # runs after the claim, whose caller is gone
            raise
        return claims[0] if claims else None

    @step
    def _claim(self, claims: list[Claim]) -> None:
        while not claims and (entry := self._order.take(self._elapsed())) is not None:
            try:
                try:
                    claims.append(Claim(self._files.claim(entry), entry.attempts, entry.name))
                except PermanentError as unreadable:
                    told = log_fields("job", job_id=entry.job_id)
                    log.warning("HistorianWorker job=%s: %s", entry.job_id, unreadable, extra=told)
                    self._bury(entry, str(unreadable))
            except Vanished:
                self._order.move(entry, None)
            except (StorageRefused, OSError, MemoryError):
                self._order.move(entry, JobState.WAITING)
                raise
        self._claims += len(claims)
        every = self._settings.failed_cleanup_interval
        if claims and every and self._claims % every == 0:
            self._prune()

    def _give_back(self, claims: list[Claim]) -> None:
        for claim in claims:
            self._requeue(claim, delay=0, counted=False)

    @step
    def complete(self, claim: Claim) -> None:
        """Delete a job whose effects are stored; does nothing if the claim has already ended."""
        if (entry := self._entry_of_claim(claim)) is not None:
            self._files.forget(entry)
            self._order.move(entry, None)

    @step
    def requeue(self, claim: Claim, *, delay: float, counted: bool) -> None:
        """Put the job back in its place, and claim no job of its scope for ``delay`` seconds.

        Its attempt counts only if ``counted``.
        """
        self._requeue(claim, delay=delay, counted=counted)

    def _requeue(self, claim: Claim, *, delay: float, counted: bool) -> None:
        if (entry := self._entry_of_claim(claim)) is not None:
            entry.is_crash_suspect = False  # the process survived it
            attempts = entry.attempts if counted else entry.attempts - 1
            self._put_back(entry, attempts, self._elapsed() + delay if delay > 0 else None)

    @step
    def bury(self, claim: Claim, error: str) -> None:
        """Move the job to failed, with its error on one line and without secrets, and keep it for :meth:`revive`."""
        if (entry := self._entry_of_claim(claim)) is not None:
            self._bury(entry, error)

    @step
    def recover(self) -> int:
        """Requeue the jobs that an ended process had claimed; return how many. Call it once, before the first claim.

        A job that was being processed at too many crashes is buried.
        """
        back, retries = 0, self._settings.job_max_retries
        while self._orphaned:
            entry = self._orphaned[0]
            if entry.attempts > retries + 1:
                self._bury(entry, sentences.storage_errors.PROCESS_DIED.format(times=entry.attempts))
            else:
                self._put_back(entry, entry.attempts)
                entry.is_crash_suspect = entry.attempts >= min(SUSPECT_AFTER, retries + 1)
            back += entry.state is JobState.WAITING
            self._orphaned.remove(entry)
        return back

    @step
    def revive(self, job_id: str | None = None) -> int:
        """Move one failed job, or all, back to pending with zero attempts; return how many."""
        revived = 0
        for entry in self._order.all(JobState.FAILED):
            if job_id in (None, entry.job_id):
                try:
                    self._files.revive(entry, self._next_instant())
                except Vanished:
                    self._order.move(entry, None)
                    continue
                entry.failed_at = None
                self._order.move(entry, JobState.WAITING)
                revived += 1
        if job_id is None:
            self._order.end_pauses()
        return revived

    def knows(self, job_id: str) -> bool:
        """Return whether the job is pending, processing or failed."""
        entry = self._order.find(job_id)
        return entry is not None and entry.state is not JobState.ARRIVING

    @partial(step, after_arrivals=True)
    def holding(self, scope: Scope, message_ids: Collection[str]) -> frozenset[str]:
        """Return those of the messages of a scope that are input of a job, in any state.

        The input of a turn are its ``message_ids``, not its recent lines; that of a dialogue are its lines.
        """
        held = set[str]().union(*map(self._files.learned_from, self._order.of_scope(scope)))
        return frozenset(held.intersection(message_ids))

    def counts(self) -> QueueCounts:
        """Return the job counts by state, without I/O."""
        return replace(self._order.counts(), removed=self._removed)

    def waiting_memos(self, scope: Scope) -> list[Memo]:
        """Return the memos of pending and processing jobs of a scope, oldest first; a memo's id is its job's."""
        return self._order.memos(scope)

    @step
    def failed(self) -> list[FailedJob]:
        """Return the failed jobs, oldest first, including unreadable ones."""
        return sorted(self._files.reports(self._order.all(JobState.FAILED)), key=lambda failed: failed.failed_at)

    async def withdraw(self, scope: Scope, message_id: str) -> int:
        """Remove a withdrawn message from the jobs that contain it, in every state, and from disk.

        A dialogue loses the line, a turn its recent line. A turn all of whose ``message_ids`` are withdrawn, or a
        dialogue without remaining lines of people, is deleted with its memo; a claimed job is deleted when its claim
        ends in any way. Returns the number of changed jobs. Other steps may run after every few jobs.
        """
        await self.all_arrived()
        cleaning = partial(erasure.without_message, message_id=message_id)
        return await completed(self._cleaned(self._order.of_scope(scope), cleaning))

    async def _cleaned(self, entries: list[JobEntry], cleaning: Cleaning) -> int:
        changed = 0
        for first in range(0, len(entries), CLEANED_TOGETHER):
            changed += await self._clean_some(entries[first : first + CLEANED_TOGETHER], cleaning)
        if changed:
            await self._sync()
        return changed

    @step
    def _clean_some(self, entries: list[JobEntry], cleaning: Cleaning) -> int:
        return sum(self._is_cleaned(entry, cleaning) for entry in entries if self._order.find(entry.job_id) is entry)

    @step
    def _sync(self) -> None:
        self._files.sync()

    @partial(step, after_arrivals=True)
    def names_of(self, user_id: str) -> set[str]:
        """Return the names that a person has in jobs; the ledger may not have them yet."""
        return self._files.names_of(self._order.all(*ON_DISK), user_id)

    @partial(step, after_arrivals=True)
    def erase_person(self, user_id: str, hide: Callable[[str], str]) -> int:
        """Remove a person from all jobs, of every agent; return how many changed.

        Their own turns and jobs of their private chat are deleted. Other dialogues lose their lines and what the bot
        said to them, and are deleted if no person's line remains; other turns lose their recent lines. In all other
        texts and in errors ``hide`` removes the person. An unreadable job that mentions them is deleted.
        """
        return self._erase(partial(erasure.without_person, user_id=user_id, hide=hide), self._order.all(*ON_DISK))

    @partial(step, after_arrivals=True)
    def erase_place(self, scope: Scope) -> int:
        """Delete all jobs of a place, and unreadable ones that mention it; return how many."""
        meant = [entry for entry in self._order.all(*ON_DISK) if entry.scope in (None, scope)]
        return self._erase(partial(erasure.without_place, scope=scope), meant)

    @step
    def copy_to(self, folder: Path) -> None:
        """Write a durable, consistent copy of all jobs to a folder from which a queue can be opened."""
        self._files.copy_to(folder)

    @step
    def refresh(self) -> None:
        """Index files that something other than :meth:`enqueue` put into pending, such as an operator.

        The folder is listed only if it changed since the last call.
        """
        for found in self._files.unindexed(self._is_indexed):
            self._adopt(found)

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

    @step
    def _index(self) -> None:
        for entry in self._files.survey(self._clock.now()):
            self._admit(entry)
        self._orphaned = self._order.all(JobState.CLAIMED)

    def _admit(self, entry: JobEntry) -> None:
        self._last_instant = max(self._last_instant, entry.instant)
        self._order.move(entry, entry.state)

    def _next_instant(self) -> int:
        self._last_instant = max(microseconds(self._clock.now()), self._last_instant + 1)
        return self._last_instant

    def _check_bounds(self, scope: Scope, size: int) -> None:
        bounds = self._settings
        total, here, waiting = self._order.load(scope)
        if total >= bounds.max_pending:
            bound = sentences.caller.FULL_IN_TOTAL.format(limit=bounds.max_pending)
        elif here >= bounds.max_pending_per_group:
            bound = sentences.caller.FULL_HERE.format(limit=bounds.max_pending_per_group)
        elif waiting + size > bounds.max_pending_mb * MEGABYTE:
            bound = sentences.caller.FULL_IN_BYTES.format(megabytes=bounds.max_pending_mb)
        else:
            return
        message, now = sentences.caller.QUEUE_FULL.format(bound=bound), self._clock.now()
        if self._complained_at is None or abs(now - self._complained_at) >= COMPLAINT_PAUSE:
            self._complained_at = now
            log.warning("%s", message)
        raise QueueFull(message)

    def _entry_of_claim(self, claim: Claim) -> JobEntry | None:
        """Return the index entry of a claimed job; None if the claim has ended: completed, requeued or buried."""
        entry = self._order.find(claim.job.id)
        return entry if entry is not None and entry.state is JobState.CLAIMED and entry.name == claim.ticket else None

    def _put_back(self, entry: JobEntry, attempts: int, paused_until: float | None = None) -> None:
        try:
            self._files.put_back(entry, attempts=attempts)
            self._order.move(entry, JobState.WAITING)
            if paused_until is not None:
                self._order.pause(entry.line, paused_until)
        except Vanished:
            self._order.move(entry, None)

    def _bury(self, entry: JobEntry, error: str) -> None:
        now = self._clock.now()
        try:
            self._files.bury(entry, error, now)
            entry.failed_at, entry.is_crash_suspect = now, False
            self._order.move(entry, JobState.FAILED)
        except Vanished:
            self._order.move(entry, None)

    def _erase(self, cleaning: Cleaning, entries: list[JobEntry]) -> int:
        changed = sum(self._is_cleaned(entry, cleaning) for entry in entries)
        listed, known = (
            self._files.listed(),
            set[tuple[str, str]](),
        )  # listed first: an arriving job has its entry before
        for entry in self._order.all(*JobState):
            is_arriving = entry.state is JobState.ARRIVING
            known |= {(entry.folder, entry.name), (entry.folder, entry.name + TEMP * is_arriving)}
        changed += self._files.clean_files([file for file in listed if file not in known], cleaning)
        self._files.sync()
        return changed

    def _is_cleaned(self, entry: JobEntry, cleaning: Cleaning) -> bool:
        """Clean a job's file; return whether it changed. A claimed job stays in the index until its claim ends."""
        try:
            rest = self._files.clean(entry, cleaning)
        except Vanished:
            rest = None
            is_gone = True
        else:
            is_gone = rest == b""
        if is_gone and entry.state is JobState.CLAIMED:
            entry.memo = None
        elif is_gone:
            self._order.move(entry, None)
        elif rest:
            self._order.resize(entry, len(rest))
        return rest is not None

    def _prune(self) -> None:
        """Remove the buried jobs that exceed a limit; one that the disk refuses to delete is tried again next time."""
        bounds = self._settings
        gone: list[str] = []
        for entry in self._order.expired(self._horizon(), bounds.failed_max_age_days, bounds.failed_max_files):
            with contextlib.suppress(StorageRefused):
                self._files.forget(entry)
                self._order.move(entry, None)
                gone.append(entry.job_id)
        self._removed += len(gone)
        if gone:
            log.warning("%s", sentences.log.JOBS_REMOVED.format(jobs=" ".join(gone)))

    def _is_indexed(self, name: str) -> bool:
        """Return whether a file in pending is indexed; fast for fifty thousand names."""
        entry = self._order.find(name[INSTANT_WIDTH:].partition(".")[0])
        if entry is None or entry.state is JobState.FAILED:  # somebody may have moved it back by hand
            return False
        return entry.name == name or parsed(name) is not None

    def _adopt(self, found: FoundFile) -> None:
        name = parsed(found.name)
        twin = self._order.find(name.job_id) if name else None
        if twin is not None:
            if twin.state is not JobState.FAILED or self._files.is_there(twin):
                return
            self._order.move(twin, None)  # somebody moved it out of failed by hand
        with contextlib.suppress(Vanished):
            entry = self._files.adopt(
                PENDING, found, self._clock.now(), lambda job_id: self._order.find(job_id) is not None
            )
            self._admit(entry)
