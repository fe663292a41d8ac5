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
from ..cancellation import completed, in_thread, is_out_of_threads, seen
from ..disk import TEMP, Cleaning, Disk, FoundFile, Vanished
from ..domain.job import FailedJob, Job, QueueCounts
from ..domain.log_fields import log_fields
from ..domain.note import Memo
from ..domain.scope import Scope
from ..errors import BadArgument, PermanentError, QueueFull, StorageRefused, UnavailableError
from ..locks import KeyedLock
from ..ports.clock import Clock
from ..settings import QueueSettings
from . import erasure as file_erasure
from . import format as codec
from .folder import PENDING, JobFiles
from .format import INSTANT_WIDTH, Instants, JobName, is_job_id, parsed
from .order import JobEntry, JobState, ScheduleIndex
from .write_priority import WritePriority

P = ParamSpec("P")
T = TypeVar("T")
Elapsed = Callable[[], float]
log = logging.getLogger(__name__)
THREADS = 4  # a pool of its own, so that searches and models do not delay remember()
MEGABYTE = 1024 * 1024
SUSPECT_AFTER = 2  # attempts; a job that was running at a single crash was probably not its cause
COMPLAINT_PAUSE = timedelta(minutes=1)


@dataclass(frozen=True)
class Claim:
    """A claimed job. ``attempts`` includes the present attempt; ``ticket`` is for the queue only."""

    job: Job
    attempts: int
    ticket: str


def to_the_end(
    step: Callable[Concatenate[FileQueue, P], Coroutine[object, object, T]],
) -> Callable[Concatenate[FileQueue, P], Coroutine[Any, Any, T]]:
    """Finish a step of the queue that has started, even if its caller is cancelled."""

    @wraps(step)
    async def carried_out(self: FileQueue, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.finished(step(self, *args, **kwargs))

    return carried_out


class FileQueue:
    """The durable job queue: files in a folder that one process owns; used by one event loop only.

    Three durable states: pending, processing, failed. A job is in exactly one of them until it is complete. Jobs of one
    scope are claimed in the order of their arrival and one at a time; scopes take turns. Erasures are durable on return
    and idempotent; erased content is removed from every file of the queue, including files that are no jobs.

    Made by :meth:`open`. A step that has started is always finished, even if its caller is cancelled, so that disk and
    index stay consistent.
    """

    def __init__(
        self, files: JobFiles, settings: QueueSettings, clock: Clock, elapsed: Elapsed = time.monotonic
    ) -> None:
        """Wrap job files that are not indexed yet; use :meth:`open`."""
        self._elapsed = elapsed
        self._files = files
        self._settings = settings
        self._clock = clock
        self._horizon = clock.now
        self._schedule = ScheduleIndex()
        self._instants = Instants()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="memory-queue")
        self._arriving: dict[str, asyncio.Event] = {}
        self._priority = WritePriority()
        self._queue_lock = asyncio.Lock()  # one claim, or one step on many jobs, at a time; taken before a job's lock
        self._job_locks = KeyedLock()  # one step at a time on a job's file; different jobs are independent
        self._arrival_locks = KeyedLock()  # one arrival at a time per scope, so that a flood in one leaves threads free
        self._running: set[asyncio.Task[object]] = set()
        self._orphaned: list[JobEntry] = []
        self._claims = 0
        self._removed = 0  # buried jobs deleted by the bounds since the start
        self._complained_at: datetime | None = None
        self._is_closed = False

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
        queue = cls(JobFiles(folder, disk or Disk()), settings, clock, elapsed)
        queue._horizon = horizon or clock.now
        try:
            await queue.finished(queue._index())
        except BaseException:
            await completed(queue.close())
            raise
        return queue

    async def close(self) -> None:
        """Wait for running steps, then refuse later ones; the files stay."""
        try:
            while self._running:
                await asyncio.wait(self._running)
        finally:
            self._is_closed = True
            self._pool.shutdown(wait=False)

    @to_the_end
    async def enqueue(self, job: Job) -> None:
        """Store the job durably before returning; raise QueueFull or StorageRefused with nothing written."""
        while (same := self._arriving.get(job.id)) is not None:
            await same.wait()
        if self.knows(job.id):
            return
        data = codec.encoded(job)
        entry = self._arrival(job, len(data))
        self._check_bounds(job.scope, len(data))
        self._arriving[job.id] = arrived = asyncio.Event()
        self._schedule.admit(entry)
        is_durable = False
        try:
            with self._priority.interactive():
                async with self._arrival_locks.of(job.scope):
                    await self._run(self._files.arrive, entry, data)
            is_durable = True
        finally:
            (self._schedule.settle if is_durable else self._schedule.drop)(entry)
            del self._arriving[job.id]
            arrived.set()

    async def claim(self) -> Claim | None:
        """Claim the next job after durably counting the attempt; None if no job is claimable now.

        Jobs before it that cannot be read are buried.
        """
        task = self._begun(self._claim())
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(self._give_back)  # its caller is gone and cannot complete the claim
            raise

    @to_the_end
    async def complete(self, claim: Claim) -> None:
        """Delete a job whose effects are stored; does nothing if the claim has already ended."""
        async with self._job_locks.of(claim.job.id):
            if (entry := self._entry_of_claim(claim)) is not None:
                await self._run(self._files.forget, entry)
                self._schedule.drop(entry)

    async def requeue(self, claim: Claim, *, delay: float, counted: bool) -> None:
        """Put the job back in its place, and claim no job of its scope for ``delay`` seconds.

        Its attempt counts only if ``counted``.
        """
        await self.finished(self._requeue(claim, delay=delay, counted=counted))

    @to_the_end
    async def bury(self, claim: Claim, error: str) -> None:
        """Move the job to failed, with its error on one line and without secrets, and keep it for :meth:`revive`."""
        async with self._job_locks.of(claim.job.id):
            if (entry := self._entry_of_claim(claim)) is not None:
                await self._bury(entry, error)

    @to_the_end
    async def recover(self) -> int:
        """Requeue the jobs that an ended process had claimed; return how many. Call it once, before the first claim.

        A job that was being processed at too many crashes is buried.
        """
        back = 0
        async with self._queue_lock:
            while self._orphaned:
                entry = self._orphaned[0]
                async with self._job_locks.of(entry.job_id):
                    await self._recover_one(entry)
                back += entry.state is JobState.WAITING
                self._orphaned.remove(entry)
        return back

    @to_the_end
    async def revive(self, job_id: str | None = None) -> int:
        """Move one failed job, or all, back to pending with zero attempts; return how many."""
        revived = 0
        async with self._queue_lock:
            for entry in self._schedule.failed():
                if job_id in (None, entry.job_id):
                    async with self._job_locks.of(entry.job_id):
                        revived += await self._has_revived(entry)
            if job_id is None:
                self._schedule.end_pauses()
        return revived

    def knows(self, job_id: str) -> bool:
        """Return whether the job is pending, processing or failed."""
        entry = self._schedule.find(job_id)
        return entry is not None and entry.state is not JobState.ARRIVING

    @to_the_end
    async def holding(self, scope: Scope, message_ids: Collection[str]) -> frozenset[str]:
        """Return those of the messages of a scope that are input of a job, in any state.

        The input of a turn are its ``message_ids``, not its recent lines; that of a dialogue are its lines.
        """
        wanted = frozenset(message_ids)
        found: set[str] = set()
        await self._all_arrived(scope)
        entries = [entry for message_id in wanted for entry in self._schedule.with_message(scope, message_id)]
        for entry in {entry.job_id: entry for entry in entries}.values():
            async with self._job_locks.of(entry.job_id):
                found |= await self._run(self._files.learned_from, entry)
        return wanted & found

    def counts(self) -> QueueCounts:
        """Return the job counts by state, without I/O."""
        return replace(self._schedule.counts(), removed=self._removed)

    def waiting_memos(self, scope: Scope) -> list[Memo]:
        """Return the memos of pending and processing jobs of a scope, oldest first; a memo's id is its job's."""
        return self._schedule.memos(scope)

    async def failed(self) -> list[FailedJob]:
        """Return the failed jobs, oldest first, including unreadable ones."""
        found = await self.finished(self._run(self._files.reports, self._schedule.failed()))
        return sorted(found, key=lambda failed: failed.failed_at)

    @to_the_end
    async def withdraw(self, scope: Scope, message_id: str) -> int:
        """Remove a withdrawn message from the jobs that contain it, in every state, and from disk.

        A dialogue loses the line, a turn its recent line. A turn all of whose ``message_ids`` are withdrawn, or a
        dialogue without remaining lines of people, is deleted with its memo; a claimed job is deleted when its claim
        ends in any way. Returns the number of changed jobs.
        """
        changed = 0
        await self._all_arrived(scope)
        for entry in self._schedule.with_message(scope, message_id):
            async with self._job_locks.of(entry.job_id):
                with self._schedule.locked(entry):
                    changed += await self._has_changed(entry, partial(self._files.withdraw, message_id=message_id))
        return changed

    @to_the_end
    async def names_of(self, user_id: str) -> set[str]:
        """Return the names that a person has in jobs; the ledger may not have them yet."""
        await self._all_arrived()
        async with self._queue_lock, self._job_locks.all():
            return await self._run(self._files.names_of, self._entries_on_disk(), user_id)

    async def erase_person(self, user_id: str, hide: Callable[[str], str]) -> int:
        """Remove a person from all jobs, of every agent; return how many changed.

        Their own turns and jobs of their private chat are deleted. Other dialogues lose their lines and what the bot
        said to them, and are deleted if no person's line remains; other turns lose their recent lines. In all other
        texts and in errors ``hide`` removes the person. An unreadable job that mentions them is deleted.
        """
        cleaning = partial(file_erasure.without_person, user_id=user_id, hide=hide)
        return await self.finished(self._erase(cleaning, lambda _: True))

    async def erase_place(self, scope: Scope) -> int:
        """Delete all jobs of a place, and unreadable ones that mention it; return how many."""
        cleaning = partial(file_erasure.without_place, scope=scope)
        return await self.finished(self._erase(cleaning, lambda entry: entry.scope in (None, scope)))

    @to_the_end
    async def copy_to(self, folder: Path) -> None:
        """Write a durable, consistent copy of all jobs to a folder from which a queue can be opened."""
        async with self._queue_lock, self._job_locks.all():
            await self._run(self._files.copy_to, folder)

    @to_the_end
    async def refresh(self) -> None:
        """Index files that something other than :meth:`enqueue` put into pending, such as an operator.

        The folder is listed only if it changed since the last call.
        """
        async with self._queue_lock:
            for found in await self._run(self._files.unindexed, self._is_indexed):
                await self._adopt(found)

    def _arrival(self, job: Job, size: int) -> JobEntry:
        if not is_job_id(job.id):
            raise BadArgument(sentences.caller.bad_id("job id", job.id))
        name = JobName(self._instants.issued(self._clock.now()), job.id, 0)
        entry = JobEntry(name.instant, job.id, 0, PENDING, str(name), size, JobState.ARRIVING)
        entry.scope, entry.memo, entry.message_ids = job.scope, codec.memo_of(job), codec.message_ids_of(job.work)
        return entry

    def _check_bounds(self, scope: Scope, size: int) -> None:
        bounds = self._settings
        total, here, waiting = self._schedule.load(scope)
        if total >= bounds.max_pending:
            raise self._queue_full(sentences.caller.FULL_IN_TOTAL.format(limit=bounds.max_pending))
        if here >= bounds.max_pending_per_group:
            raise self._queue_full(sentences.caller.FULL_HERE.format(limit=bounds.max_pending_per_group))
        if waiting + size > bounds.max_pending_mb * MEGABYTE:
            raise self._queue_full(sentences.caller.FULL_IN_BYTES.format(megabytes=bounds.max_pending_mb))

    def _queue_full(self, bound: str) -> QueueFull:
        message, now, last = sentences.caller.QUEUE_FULL.format(bound=bound), self._clock.now(), self._complained_at
        if last is None or abs(now - last) >= COMPLAINT_PAUSE:
            self._complained_at = now
            log.warning("%s", message)
        return QueueFull(message)

    async def _claim(self) -> Claim | None:
        async with self._queue_lock:
            await self._priority.background_turn()
            while (entry := self._schedule.take(self._elapsed())) is not None:
                claim = await self._claimed(entry)
                if claim is not None:
                    await self._count_claim()
                    return claim
        return None

    async def _claimed(self, entry: JobEntry) -> Claim | None:
        async with self._job_locks.of(entry.job_id):
            return await self._claimed_file(entry)

    async def _claimed_file(self, entry: JobEntry) -> Claim | None:
        try:
            job = await self._run(self._files.claim, entry)
            return Claim(job, entry.attempts, entry.name)
        except Vanished:
            self._schedule.drop(entry)
        except PermanentError as unreadable:
            await self._bury_unreadable(entry, str(unreadable))
        except (StorageRefused, OSError, MemoryError):
            self._schedule.put_back(entry)
            raise
        return None

    async def _bury_unreadable(self, entry: JobEntry, reason: str) -> None:
        log.warning("HistorianWorker job=%s: %s", entry.job_id, reason, extra=log_fields("job", job_id=entry.job_id))
        try:
            await self._bury(entry, reason)
        except StorageRefused:
            self._schedule.put_back(entry)
            raise

    def _entry_of_claim(self, claim: Claim) -> JobEntry | None:
        """Return the index entry of a claimed job; None if the claim has ended: completed, requeued or buried."""
        entry = self._schedule.find(claim.job.id)
        return entry if entry is not None and entry.state is JobState.CLAIMED and entry.name == claim.ticket else None

    async def _requeue(self, claim: Claim, *, delay: float, counted: bool) -> None:
        async with self._job_locks.of(claim.job.id):
            if (entry := self._entry_of_claim(claim)) is not None:
                attempts = entry.attempts if counted else entry.attempts - 1
                paused_until = self._elapsed() + delay if delay > 0 else None
                entry.is_crash_suspect = False  # the process survived it
                await self._put_back(entry, attempts, paused_until)

    async def _put_back(self, entry: JobEntry, attempts: int, paused_until: float | None = None) -> None:
        try:
            await self._run(self._files.put_back, entry, attempts=attempts)
            self._schedule.put_back(entry, paused_until)
        except Vanished:
            self._schedule.drop(entry)

    async def _bury(self, entry: JobEntry, error: str) -> None:
        now = self._clock.now()
        try:
            await self._run(self._files.bury, entry, error, now)
            self._schedule.fail(entry, now)
        except Vanished:
            self._schedule.drop(entry)

    def _give_back(self, task: asyncio.Task[Claim | None]) -> None:
        claim = None if task.cancelled() or task.exception() else task.result()
        if claim is not None:
            self._begun(self._requeue(claim, delay=0, counted=False))

    async def _index(self) -> None:
        self._schedule = await self._run(self._surveyed)
        self._orphaned = self._schedule.claimed()

    def _surveyed(self) -> ScheduleIndex:
        backlog = ScheduleIndex()
        for entry in self._files.survey(self._clock.now()):
            backlog.admit(entry)
            self._instants.note(entry.instant)
        return backlog

    async def _recover_one(self, entry: JobEntry) -> None:
        if entry.attempts > self._settings.job_max_retries + 1:
            await self._bury(entry, sentences.storage_errors.PROCESS_DIED.format(times=entry.attempts))
        else:
            await self._put_back(entry, entry.attempts)
            entry.is_crash_suspect = entry.attempts >= min(SUSPECT_AFTER, self._settings.job_max_retries + 1)

    async def _has_revived(self, entry: JobEntry) -> bool:
        instant = self._instants.issued(self._clock.now())
        try:
            await self._run(self._files.revive, entry, instant)
        except Vanished:
            self._schedule.drop(entry)
            return False
        self._schedule.drop(entry)
        entry.state, entry.failed_at = JobState.WAITING, None
        self._schedule.admit(entry)
        return True

    async def _erase(self, cleaning: Cleaning, is_meant: Callable[[JobEntry], bool]) -> int:
        changed = 0
        await self._all_arrived()
        async with self._queue_lock:
            for entry in filter(is_meant, self._entries_on_disk()):
                async with self._job_locks.of(entry.job_id):
                    changed += await self._has_changed(entry, partial(self._files.clean, cleaning=cleaning))
            async with self._job_locks.all():
                changed += await self._run(self._files.clean_files, await self._unindexed_files(), cleaning)
                await self._run(self._files.sync)
        return changed

    async def _unindexed_files(self) -> list[tuple[str, str]]:
        """Return the files (folder, name) without an index entry.

        A job that is being written has its entry before its file can be listed, so that its file is not returned.
        """
        listed = await self._run(self._files.listed)
        known = {(entry.folder, entry.name) for entry in self._schedule.all()}
        arriving = {entry.name + TEMP for entry in self._schedule.all() if entry.state is JobState.ARRIVING}
        return [file for file in listed if file not in known and file[1] not in arriving]

    def _entries_on_disk(self) -> list[JobEntry]:
        """Return the index entries of all jobs but those whose file is still being written."""
        return [entry for entry in self._schedule.all() if entry.state is not JobState.ARRIVING]

    async def _all_arrived(self, scope: Scope | None = None) -> None:
        """Wait until the jobs that are being written now, of one scope or of all, are on disk."""
        for job_id, arrived in list(self._arriving.items()):
            entry = self._schedule.find(job_id)
            if scope is None or (entry is not None and entry.scope == scope):
                await arrived.wait()

    async def _has_changed(self, entry: JobEntry, step: Callable[[JobEntry], bytes | None]) -> bool:
        """Apply ``step`` to a job's file; return whether the file changed, and drop the job if it is empty now."""
        try:
            rest = await self._run(step, entry)
        except Vanished:
            self._drop_missing(entry)
            return False
        if rest:
            self._schedule.resize(entry, len(rest))
        elif rest is not None:
            self._drop_missing(entry)
        return rest is not None

    def _drop_missing(self, entry: JobEntry) -> None:
        """Drop a job whose file is gone; a claimed job stays in the index until its claim ends."""
        if entry.state is JobState.CLAIMED:
            entry.memo = None
        else:
            self._schedule.drop(entry)

    async def _count_claim(self) -> None:
        self._claims += 1
        every = self._settings.failed_cleanup_interval
        if every and self._claims % every == 0:
            await self._prune()

    async def _prune(self) -> None:
        """Remove the buried jobs that exceed a limit; one that the disk refuses to delete is tried again next time."""
        bounds = self._settings
        gone: list[str] = []
        for entry in self._schedule.expired(self._horizon(), bounds.failed_max_age_days, bounds.failed_max_files):
            with contextlib.suppress(StorageRefused):
                async with self._job_locks.of(entry.job_id):
                    await self._run(self._files.forget, entry)
                self._schedule.drop(entry)
                gone.append(entry.job_id)
        self._removed += len(gone)
        if gone:
            log.warning("%s", sentences.log.JOBS_REMOVED.format(jobs=" ".join(gone)))

    def _is_indexed(self, name: str) -> bool:
        """Return whether a file in pending is indexed; fast for fifty thousand names, called in a thread."""
        entry = self._schedule.find(name[INSTANT_WIDTH:].partition(".")[0])
        if entry is None or entry.state is JobState.FAILED:  # somebody may have moved it back by hand
            return False
        return entry.name == name or parsed(name) is not None

    async def _adopt(self, found: FoundFile) -> None:
        name = parsed(found.name)
        twin = self._schedule.find(name.job_id) if name else None
        if twin is not None:
            if twin.state is not JobState.FAILED or await self._run(self._files.is_there, twin):
                return
            self._schedule.drop(twin)  # somebody moved it out of failed by hand
        with contextlib.suppress(Vanished):
            entry = await self._run(self._files.adopt, found, self._clock.now(), self._is_taken)
            self._instants.note(entry.instant)
            self._schedule.admit(entry)

    def _is_taken(self, job_id: str) -> bool:
        return self._schedule.find(job_id) is not None

    async def _run(self, step: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a step in a thread; raises StorageRefused if no thread can be started, but the step may run later."""
        try:
            return await in_thread(self._pool, partial(step, *args, **kwargs))
        except RuntimeError as failure:
            if not is_out_of_threads(failure):
                raise
            refusal = sentences.storage_errors.STORAGE_REFUSED.format(path=PENDING, reason=failure)
            raise StorageRefused(refusal) from failure

    async def finished(self, steps: Coroutine[object, object, T]) -> T:
        """Run steps to their end, even if the caller is cancelled."""
        return await asyncio.shield(self._begun(steps))

    def _begun(self, steps: Coroutine[object, object, T]) -> asyncio.Task[T]:
        if self._is_closed:
            steps.close()
            raise UnavailableError(sentences.caller.NOT_RUNNING)
        task = asyncio.get_running_loop().create_task(steps)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[T]) -> None:
        self._running.discard(task)
        seen(task)  # its caller may be gone
