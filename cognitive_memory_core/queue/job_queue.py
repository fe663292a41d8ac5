"""The durable queue: jobs are enqueued, claimed, completed, requeued, buried and revived, and people leave their files.

How jobs lie on disk: :class:`~.folder.JobFolder`; in which order they are claimed: :class:`~.order.JobOrder`.
"""

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
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from .. import sentences
from ..disk import Disk, Vanished, is_withheld
from ..domain.job import FailedJob, Job, QueueCounts
from ..domain.notes import Memo
from ..domain.scope import Scope, log_fields
from ..errors import BadArgument, PermanentError, QueueFull, StorageRefused, UnavailableError
from ..ports import Clock, SystemClock
from ..settings.schema import QueueSettings
from ..tasks import completed, in_thread, is_out_of_threads, seen
from . import codec, erasure
from .codec import JOB_ID, moment
from .folder import JobFolder
from .order import ARRIVING, FAILED, FOLDERS, PENDING, PROCESSING, JobEntry

if TYPE_CHECKING:
    from typing_extensions import Self

P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger(__name__)
WRITERS = 3  # threads that write arriving jobs, so that remember() waits for no step
MEGABYTE = 1024 * 1024
SUSPECT_AFTER = 2  # attempts; a job that was running at a single crash was probably not its cause
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

    All changes of files run one after another in a thread (``steps``), except that new jobs are
    written in threads of their own (``writers``). A change that has begun is finished, even if its caller is cancelled,
    so that disk and index stay consistent.
    """

    def __init__(
        self,
        folder: Path,
        settings: QueueSettings,
        clock: Clock,
        *,
        disk: Disk | None = None,
        elapsed: Callable[[], float] = time.monotonic,
        horizon: Callable[[], datetime] | None = None,
    ) -> None:
        """Wrap job files that are not indexed yet: see :meth:`opened`.

        Pauses are measured by ``elapsed``, in seconds of a monotonic clock. The age of buried jobs is measured up to
        ``horizon``: an instant that has certainly passed, even if the clock is wrong (default: the clock's now).
        """
        self.files = JobFolder(folder, clock, disk or Disk())
        self.order = self.files.order
        self._settings = settings
        self._clock = clock
        self._elapsed = elapsed
        self._horizon = horizon or clock.now
        self.steps = ThreadPoolExecutor(1, thread_name_prefix="memory-queue")
        self.writers = ThreadPoolExecutor(WRITERS, thread_name_prefix="memory-queue-writer")
        self._arriving: dict[str, asyncio.Task[None]] = {}
        # one arrival at a time per scope, so that a flood in one leaves threads free
        self._arrival_locks = WeakValueDictionary[Scope | None, asyncio.Lock]()
        self._claims = 0
        self._removed = 0  # buried jobs deleted by the bounds since the start

    async def opened(self) -> Self:
        """Create and index the folders; raises StorageRefused if the disk refuses."""
        try:
            await self.run(self.steps, self.files.survey)
        except BaseException:
            await completed(self.close())
            raise
        return self

    @classmethod
    def peeked(cls, folder: Path) -> tuple[QueueCounts, list[FailedJob]]:
        """Return counts and failed jobs by the names of files, also while another process owns them; writes nothing."""
        files = JobFolder(folder, SystemClock(), Disk())
        files.peek()
        return files.order.counts(), files.failures()

    async def close(self) -> None:
        """Wait for running steps, then refuse later ones; the files stay."""
        await self.all_arrived()
        for threads in (self.writers, self.steps):
            await asyncio.to_thread(threads.shutdown)

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

    async def enqueue(self, job: Job) -> None:
        """Store the job durably before returning; raise QueueFull or StorageRefused with nothing written."""
        while (same := self._arriving.get(job.id)) is not None:
            await asyncio.wait([same])
        if self.knows(job.id):
            return
        data = codec.encoded(job)
        if not JOB_ID.fullmatch(job.id):
            raise BadArgument(sentences.caller.BAD_ID.format(what="job id", value=job.id))
        bounds, words = self._settings, sentences.caller
        total, here, waiting = self.order.load(job.scope)
        if total >= bounds.max_pending:
            raise QueueFull(words.QUEUE_FULL.format(bound=words.FULL_IN_TOTAL.format(limit=bounds.max_pending)))
        if here >= bounds.max_pending_per_group:
            raise QueueFull(words.QUEUE_FULL.format(bound=words.FULL_HERE.format(limit=bounds.max_pending_per_group)))
        if waiting + len(data) > bounds.max_pending_mb * MEGABYTE:
            full = words.FULL_IN_BYTES.format(megabytes=bounds.max_pending_mb)
            raise QueueFull(words.QUEUE_FULL.format(bound=full))
        instant = self.order.next_instant(self._clock.now())
        entry = JobEntry(instant, job.id, 0, PENDING, ARRIVING, len(data), job.scope, job.memo)
        self.order.move(entry, ARRIVING)
        self._arriving[job.id] = arriving = asyncio.ensure_future(self._arrive(entry, data))
        arriving.add_done_callback(seen)  # its caller may be gone
        await asyncio.shield(arriving)

    async def _arrive(self, entry: JobEntry, data: bytes) -> None:
        state = None
        try:
            async with self._arrival_locks.setdefault(entry.scope, asyncio.Lock()):
                await self.run(self.writers, partial(self.files.disk.create, self.files.path(entry), data))
            state = PENDING
        finally:
            self.order.move(entry, state)
            del self._arriving[entry.job_id]

    async def claim(self) -> Claim | None:
        """Claim the next job after durably counting the attempt; None if no job is claimable now.

        Jobs before it that cannot be read are buried.
        """
        while (entry := self.order.next(self._elapsed())) is not None:
            try:
                claim = await self._take(entry)
            except asyncio.CancelledError:
                with contextlib.suppress(RuntimeError):  # closed: the job is recovered at the next start
                    self.steps.submit(self._put_back, entry, 0.0, counted=False)  # after the claim, which goes on
                raise
            if claim is not None:
                return claim
        return None

    @step
    def _take(self, entry: JobEntry) -> Claim | None:
        """Move a job's file to processing, count the attempt durably in its name, and read it.

        None if the file is gone, or if it is no valid job, which is buried. Raises StorageRefused if the attempt could
        not be made durable or a resource is exhausted, and then the attempt does not count and the job waits.
        """
        before = entry.attempts - (entry.folder == PROCESSING)  # where it lies if it could not be put back
        try:
            with self.files.removed_if_gone(entry):
                self.files.rename(entry, PROCESSING, attempts=before + 1)
                self.files.disk.sync_folder(self.files.root / PROCESSING)
                job = codec.job_of(self.files.body(entry), entry.job_id, moment(entry.instant))
                self._claims += 1
                every = self._settings.failed_cleanup_interval
                if every and self._claims % every == 0:
                    self._prune()
                return Claim(job, entry.attempts, entry.name)
        except (StorageRefused, MemoryError):
            with contextlib.suppress(StorageRefused, Vanished):
                self.files.rename(entry, PENDING, attempts=before)
            self.order.move(entry, PENDING)
            raise
        except PermanentError as unreadable:
            told = log_fields("job", job_id=entry.job_id)
            log.warning("HistorianWorker job=%s: %s", entry.job_id, unreadable, extra=told)
            self._bury(entry, str(unreadable))
        return None

    def _prune(self) -> None:
        """Remove the buried jobs beyond an age or a number, the longest buried first.

        One that the disk refuses to delete is tried again next time.
        """
        bounds, horizon, gone = self._settings, self._horizon(), list[str]()
        failed = sorted(self.order.all(FAILED), key=lambda entry: entry.failed_at or horizon)
        excess = len(failed) - bounds.failed_max_files if bounds.failed_max_files else 0
        age = timedelta(days=min(bounds.failed_max_age_days, _CENTURY))
        for rank, entry in enumerate(failed):
            if rank < excess or (age and (entry.failed_at or horizon) < horizon - age):
                with contextlib.suppress(StorageRefused):
                    self.files.remove(entry)
                    gone.append(entry.job_id)
        self._removed += len(gone)
        if gone:
            log.warning("%s", sentences.log.JOBS_REMOVED.format(jobs=" ".join(gone)))

    def _entry_of(self, claim: Claim) -> JobEntry | None:
        """Return the entry of a claimed job; None if the claim has ended: completed, requeued or buried."""
        entry = self.order.find(claim.job.id)
        return entry if entry and entry.state == PROCESSING and entry.name == claim.ticket else None

    @step
    def complete(self, claim: Claim) -> None:
        """Delete a job whose effects are stored; does nothing if the claim has already ended."""
        if (entry := self._entry_of(claim)) is not None:
            self.files.remove(entry)

    def _put_back(self, entry: JobEntry | None, delay: float, *, counted: bool) -> None:
        """Requeue a claimed job; if its file cannot be moved, the next claim takes it from where it lies."""
        if entry is None or entry.state != PROCESSING:
            return
        entry.is_crash_suspect = False  # the process survived it
        try:
            self.files.move(entry, PENDING, attempts=entry.attempts if counted else entry.attempts - 1)
        except StorageRefused as refused:
            log.warning("%s", refused)
            self.order.move(entry, PENDING)
        if delay > 0:
            self.order.paused[entry.line] = self._elapsed() + delay

    @step
    def requeue(self, claim: Claim, *, delay: float, counted: bool) -> None:
        """Put the job back in its place, and claim no job of its scope for ``delay`` seconds.

        Its attempt counts only if ``counted``.
        """
        self._put_back(self._entry_of(claim), delay, counted=counted)

    def _bury(self, entry: JobEntry, error: str) -> None:
        """Bury a job; if its file cannot be moved, it is tried once more after the next start."""
        try:
            self.files.bury(entry, error)
        except StorageRefused as refused:
            log.warning("%s", refused)
            self.order.move(entry, FAILED)

    @step
    def bury(self, claim: Claim, error: str) -> None:
        """Move the job to failed, with its error on one line and without secrets, and keep it for :meth:`revive`."""
        if (entry := self._entry_of(claim)) is not None:
            self._bury(entry, error)

    @step
    def recover(self) -> int:
        """Requeue the jobs that an ended process had claimed; return how many. Call it once, before the first claim.

        A job that was being processed at too many crashes is buried.
        """
        back, retries = 0, self._settings.job_max_retries
        for entry in self.order.all(PROCESSING):
            if entry.attempts > retries + 1:
                self.files.bury(entry, sentences.storage_errors.PROCESS_DIED.format(times=entry.attempts))
            else:
                self.files.move(entry, PENDING, attempts=entry.attempts)
                entry.is_crash_suspect = entry.attempts >= min(SUSPECT_AFTER, retries + 1)
            back += entry.state == PENDING
        return back

    @step
    def revive(self, job_id: str | None = None) -> int:
        """Move one failed job, or all, back to pending as new arrivals with zero attempts; return how many."""
        revived = 0
        for entry in self.order.all(FAILED):
            if job_id in (None, entry.job_id):
                self.files.label(entry)
                self.files.move(entry, PENDING, attempts=0, instant=self.order.next_instant(self._clock.now()))
                entry.failed_at = None
                revived += entry.state == PENDING
        if job_id is None:
            self.order.paused.clear()
        return revived

    def knows(self, job_id: str) -> bool:
        """Return whether the job is pending, processing or failed."""
        entry = self.order.find(job_id)
        return entry is not None and entry.state != ARRIVING

    def counts(self) -> QueueCounts:
        """Return the job counts by state, without I/O."""
        return replace(self.order.counts(), removed=self._removed)

    def waiting_memos(self, scope: Scope) -> list[Memo]:
        """Return the memos of pending and processing jobs of a scope, oldest first; a memo's id is its job's."""
        return [entry.memo for entry in self.order.of_scope(scope, PROCESSING) if entry.memo is not None]

    @step
    def failed(self) -> list[FailedJob]:
        """Return the failed jobs, oldest first, including unreadable ones."""
        return self.files.failures()

    @partial(step, after_arrivals=True)
    def holding(self, scope: Scope, message_ids: Collection[str]) -> frozenset[str]:
        """Return those of the messages of a scope that are input of a job, in any state.

        The input of a turn are its ``message_ids``, not its recent lines; that of a dialogue are its lines. Raises
        StorageRefused if a file cannot be read at present.
        """
        held = set[str]()
        for entry in self.order.of_scope(scope, PROCESSING, FAILED):
            try:
                held |= codec.learned_from(self.files.body(entry))
            except PermanentError as unreadable:
                if is_withheld(unreadable):
                    raise StorageRefused(str(unreadable)) from unreadable
            except Vanished:
                pass
        return frozenset(held.intersection(message_ids))

    @partial(step, after_arrivals=True)
    def withdraw(self, scope: Scope, message_id: str) -> int:
        """Remove a withdrawn message from the jobs that contain it, in every state, and from disk.

        A dialogue loses the line, a turn its recent line. A turn all of whose ``message_ids`` are withdrawn, or a
        dialogue without remaining lines of people, is deleted with its memo; a claimed job is deleted when its claim
        ends in any way. Returns the number of changed jobs.
        """
        cleaning = partial(erasure.without_message, message_id=message_id)
        changed = sum(self.files.clean(entry, cleaning) for entry in self.order.of_scope(scope, PROCESSING, FAILED))
        if changed:
            self.files.sync()
        return changed

    @partial(step, after_arrivals=True)
    def names_of(self, user_id: str) -> set[str]:
        """Return the names that a person has in jobs; the ledger may not have them yet."""
        names: set[str] = set()
        for entry in self.order.all(*FOLDERS):
            with contextlib.suppress(PermanentError, Vanished):
                names |= erasure.names_of(self.files.disk.read(self.files.path(entry)), user_id)
        return names

    @partial(step, after_arrivals=True)
    def erase_person(self, user_id: str, hide: Callable[[str], str]) -> int:
        """Remove a person from all jobs, of every agent; return how many changed.

        Their own turns and jobs of their private chat are deleted. Other dialogues lose their lines and what the bot
        said to them, and are deleted if no person's line remains; other turns lose their recent lines. In all other
        texts and in errors ``hide`` removes the person. An unreadable job that mentions them is deleted.
        """
        cleaning = partial(erasure.without_person, user_id=user_id, hide=hide)
        return self.files.erase(self.order.all(*FOLDERS), cleaning)

    @partial(step, after_arrivals=True)
    def erase_place(self, scope: Scope) -> int:
        """Delete all jobs of a place, and unreadable ones that mention it; return how many."""
        meant = [entry for entry in self.order.all(*FOLDERS) if entry.scope in (None, scope)]
        return self.files.erase(meant, partial(erasure.without_place, scope=scope))

    @step
    def copy_to(self, folder: Path) -> None:
        """Write a durable, consistent copy of all jobs to a folder from which a queue can be opened."""
        self.files.copy_to(folder)

    @step
    def refresh(self) -> None:
        """Index job files that something other than :meth:`enqueue` put into pending, such as an operator."""
        self.files.refresh()
