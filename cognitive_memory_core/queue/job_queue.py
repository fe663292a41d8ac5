"""The durable queue: a job is a file, its state is the file's folder, its place in the order is the file's name.

Each step is one rename, or one durable write followed by one unlink. A crash between write and unlink leaves a job in
two folders: the next start keeps the file with the newest instant, because it was revived; of files with equal instants
the buried one, because it holds the error; else the one with more attempts.

An unreadable job is buried by renaming it: its bytes are kept, whatever their size, and the reason is determined again
whenever buried jobs are listed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial, wraps
from operator import attrgetter
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from .. import sentences
from ..disk import TEMP, Cleaning, Disk, FoundFile, Vanished, is_withheld
from ..domain.scope import Scope, derived_id, log_fields
from ..domain.turn import FailedJob, Job, Memo, QueueCounts
from ..errors import BadArgument, PermanentError, QueueFull, StorageRefused, UnavailableError
from ..ports import Clock, SystemClock
from ..settings.schema import QueueSettings
from ..tasks import completed, in_thread, is_out_of_threads, seen
from . import erasure
from . import format as codec
from .format import INSTANT_WIDTH, JOB_ID, LATEST, SUFFIX, JobName, microseconds, moment, parsed
from .order import ARRIVING, FAILED, FOLDERS, PENDING, PROCESSING, JobEntry, JobOrder

P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger(__name__)
WRITERS = 3  # threads that write arriving jobs, so that remember() waits for no step
MEGABYTE = 1024 * 1024
SUSPECT_AFTER = 2  # attempts; a job that was running at a single crash was probably not its cause
_CENTURY = 36_500  # days; larger settings mean the same
_TEMPORARY_SUFFIXES = (TEMP, ".lock")  # older versions left a .lock file beside each job
_SETTLED_AFTER = 1.0  # seconds without a write after which a file copied in by hand counts as complete


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
        folder: Path,
        settings: QueueSettings,
        clock: Clock,
        disk: Disk,
        elapsed: Callable[[], float],
        horizon: Callable[[], datetime],
    ) -> None:
        """Wrap job files that are not indexed yet; use :meth:`open`."""
        self._root = folder
        self._prefixes = {name: os.path.join(folder, name, "") for name in FOLDERS}  # noqa: PTH118  # a Path a file costs more than reading it
        self._settings = settings
        self._clock = clock
        self._disk = disk
        self._elapsed = elapsed
        self._horizon = horizon
        self.order = JobOrder()
        self.steps = ThreadPoolExecutor(1, thread_name_prefix="memory-queue")
        self.writers = ThreadPoolExecutor(WRITERS, thread_name_prefix="memory-queue-writer")
        self._arriving: dict[str, asyncio.Task[None]] = {}
        # one arrival at a time per scope, so that a flood in one leaves threads free
        self._arrival_locks = WeakValueDictionary[Scope | None, asyncio.Lock]()
        self._pending_seen = 0
        self._claims = 0
        self._removed = 0  # buried jobs deleted by the bounds since the start

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
        queue = cls(folder, settings, clock, disk or Disk(), elapsed, horizon or clock.now)
        try:
            await queue.run(queue.steps, queue._survey)
        except BaseException:
            await completed(queue.close())
            raise
        return queue

    @classmethod
    def peeked(cls, folder: Path) -> tuple[QueueCounts, list[FailedJob]]:
        """Return counts and failed jobs by the names of files, also while another process owns them; writes nothing."""
        clock = SystemClock()
        queue = cls(folder, QueueSettings(), clock, Disk(), time.monotonic, clock.now)
        for state, prefix in queue._prefixes.items():
            with contextlib.suppress(StorageRefused):
                for name in filter(None, map(parsed, queue._disk.names(prefix))):
                    entry = JobEntry(*name, state, state)
                    found = queue._disk.find(queue._path(entry)) if state == PENDING else None
                    entry.size = found.size if found else 0
                    queue.order.move(entry, state)
        return queue.counts(), queue._failures()

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
                await self.run(self.writers, partial(self._disk.create, self._path(entry), data))
            state = PENDING
        finally:
            self.order.move(entry, state)
            del self._arriving[entry.job_id]

    async def claim(self) -> Claim | None:
        """Claim the next job after durably counting the attempt; None if no job is claimable now.

        Jobs before it that cannot be read are buried.
        """
        claims: list[Claim] = []
        if not self.order.counts().pending:
            return None
        try:
            await self._claim(claims)
        except asyncio.CancelledError:
            with contextlib.suppress(RuntimeError):  # closed: the job is recovered at the next start
                # after the claim, which goes on
                self.steps.submit(lambda: [self._put_back(one, 0.0, counted=False) for one in claims])
            raise
        return claims[0] if claims else None

    @step
    def _claim(self, claims: list[Claim]) -> None:
        while not claims and (entry := self.order.next(self._elapsed())) is not None:
            try:
                with self._removed_if_gone(entry):
                    claims.append(Claim(self._taken(entry), entry.attempts, entry.name))
            except PermanentError as unreadable:
                told = log_fields("job", job_id=entry.job_id)
                log.warning("HistorianWorker job=%s: %s", entry.job_id, unreadable, extra=told)
                self._bury(entry, str(unreadable))
        self._claims += len(claims)
        every = self._settings.failed_cleanup_interval
        if claims and every and self._claims % every == 0:
            self._prune()

    def _taken(self, entry: JobEntry) -> Job:
        """Move a job to processing, count the attempt durably in its name, and read it.

        Raises PermanentError for an invalid job; StorageRefused if the attempt could not be made durable or a resource
        is exhausted, and then the attempt does not count and the job waits.
        """
        is_counted = entry.folder == PROCESSING  # by a try that was refused, and could not be taken back
        self._rename(entry, PROCESSING, attempts=entry.attempts + (not is_counted))
        self.order.move(entry, PROCESSING)
        try:
            self._disk.sync_folder(self._root / PROCESSING)
            return codec.job_of(self._body(entry), entry.job_id, moment(entry.instant))
        except (StorageRefused, MemoryError):
            with contextlib.suppress(StorageRefused, Vanished):
                self._rename(entry, PENDING, attempts=entry.attempts - 1)
            self.order.move(entry, PENDING)
            raise

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
                    self._remove(entry)
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
            self._remove(entry)

    def _put_back(self, claim: Claim, delay: float, *, counted: bool) -> None:
        if (entry := self._entry_of(claim)) is not None:
            entry.is_crash_suspect = False  # the process survived it
            self._move(entry, PENDING, attempts=entry.attempts if counted else entry.attempts - 1)
            if delay > 0 and entry.state == PENDING:
                self.order.paused[entry.line] = self._elapsed() + delay

    @step
    def requeue(self, claim: Claim, *, delay: float, counted: bool) -> None:
        """Put the job back in its place, and claim no job of its scope for ``delay`` seconds.

        Its attempt counts only if ``counted``.
        """
        self._put_back(claim, delay, counted=counted)

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
                self._bury(entry, sentences.storage_errors.PROCESS_DIED.format(times=entry.attempts))
            else:
                self._move(entry, PENDING, attempts=entry.attempts)
                entry.is_crash_suspect = entry.attempts >= min(SUSPECT_AFTER, retries + 1)
            back += entry.state == PENDING
        return back

    @step
    def revive(self, job_id: str | None = None) -> int:
        """Move one failed job, or all, back to pending as new arrivals with zero attempts; return how many."""
        revived = 0
        for entry in self.order.all(FAILED):
            if job_id in (None, entry.job_id):
                self._label(entry)
                self._move(entry, PENDING, attempts=0, instant=self.order.next_instant(self._clock.now()))
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

    def _failures(self) -> list[FailedJob]:
        """Return the failed jobs, oldest first, including unreadable ones; one whose file is gone is left out."""
        found: list[FailedJob] = []
        for entry in self.order.all(FAILED):
            at = entry.failed_at or moment(entry.instant)
            with contextlib.suppress(Vanished):
                try:
                    found.append(codec.failure_of(self._body(entry), entry.job_id, entry.attempts, at))
                except (PermanentError, StorageRefused) as unreadable:
                    found.append(FailedJob(entry.job_id, str(unreadable), entry.attempts, at))
        return sorted(found, key=attrgetter("failed_at"))

    failed = step(_failures)

    @partial(step, after_arrivals=True)
    def holding(self, scope: Scope, message_ids: Collection[str]) -> frozenset[str]:
        """Return those of the messages of a scope that are input of a job, in any state.

        The input of a turn are its ``message_ids``, not its recent lines; that of a dialogue are its lines. Raises
        StorageRefused if a file cannot be read at present.
        """
        held = set[str]()
        for entry in self.order.of_scope(scope, PROCESSING, FAILED):
            try:
                held |= codec.learned_from(self._body(entry))
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
        changed = sum(self._clean(entry, cleaning) for entry in self.order.of_scope(scope, PROCESSING, FAILED))
        if changed:
            self._sync()
        return changed

    @partial(step, after_arrivals=True)
    def names_of(self, user_id: str) -> set[str]:
        """Return the names that a person has in jobs; the ledger may not have them yet."""
        names: set[str] = set()
        for entry in self.order.all(*FOLDERS):
            with contextlib.suppress(PermanentError, Vanished):
                names |= erasure.names_of(self._disk.read(self._path(entry)), user_id)
        return names

    @partial(step, after_arrivals=True)
    def erase_person(self, user_id: str, hide: Callable[[str], str]) -> int:
        """Remove a person from all jobs, of every agent; return how many changed.

        Their own turns and jobs of their private chat are deleted. Other dialogues lose their lines and what the bot
        said to them, and are deleted if no person's line remains; other turns lose their recent lines. In all other
        texts and in errors ``hide`` removes the person. An unreadable job that mentions them is deleted.
        """
        cleaning = partial(erasure.without_person, user_id=user_id, hide=hide)
        return self._erase(self.order.all(*FOLDERS), cleaning)

    @partial(step, after_arrivals=True)
    def erase_place(self, scope: Scope) -> int:
        """Delete all jobs of a place, and unreadable ones that mention it; return how many."""
        meant = [entry for entry in self.order.all(*FOLDERS) if entry.scope in (None, scope)]
        return self._erase(meant, partial(erasure.without_place, scope=scope))

    def _erase(self, entries: Iterable[JobEntry], cleaning: Cleaning) -> int:
        """Apply ``cleaning`` durably to jobs and to all files without an entry, of which temporary ones are deleted.

        Return how many changed.
        """
        changed = sum(self._clean(entry, cleaning) for entry in entries)
        listed = self._files()  # before the index is read: an arriving job has its entry before its file
        known = {self._path(entry) for entry in self.order.all(ARRIVING, *FOLDERS)}
        known |= {self._path(entry) + TEMP for entry in self.order.all(ARRIVING)}
        for folder, name in listed:
            path = self._prefixes[folder] + name
            if path in known:
                continue
            if name.endswith(_TEMPORARY_SUFFIXES):
                self._disk.remove(path)
            elif _is_job_file(name) and self._disk.find(path) is not None:
                changed += self._disk.clean(path, cleaning) is not None
        self._sync()
        return changed

    def _clean(self, entry: JobEntry, cleaning: Cleaning) -> bool:
        """Rewrite or remove a job's file as ``cleaning`` decides (:mod:`.erasure`); return whether it changed.

        Durable after :meth:`_sync`. A claimed job stays in the index until its claim ends.
        """
        rest = self._disk.clean(self._path(entry), cleaning)
        if rest == b"":
            entry.memo = None
            if entry.state != PROCESSING:
                self.order.move(entry, None)
        elif rest:
            if entry.memo is not None:
                self._label(entry, rest)
            self.order.resize(entry, len(rest))
        return rest is not None

    @step
    def copy_to(self, folder: Path) -> None:
        """Write a durable, consistent copy of all jobs to a folder from which a queue can be opened.

        The folders are listed instead of the index, because a move that took effect and was reported as failed leaves a
        job where the index does not look for it.
        """
        for name in ("", *FOLDERS):
            self._disk.make_folder(folder / name)
        for state, name in self._files():
            if _is_job_file(name):
                with contextlib.suppress(Vanished):
                    self._disk.copy(self._root / state / name, folder / state / name)
        for state in FOLDERS:
            self._disk.sync_folder(folder / state)

    @step
    def refresh(self) -> None:
        """Index job files that something other than :meth:`enqueue` put into pending, such as an operator.

        Files written a moment ago are left for the next call. The folder is not listed again while it is unchanged.
        """
        folder, seconds = self._root / PENDING, time.time()
        changed_at = self._disk.changed_at(folder)
        if changed_at == self._pending_seen:
            return
        found: list[FoundFile] = []
        for text in filter(_is_job_file, self._disk.names(folder)):
            entry = self.order.find(text[INSTANT_WIDTH:].partition(".")[0])  # fast for fifty thousand names
            is_known = entry is not None and (entry.name == text or parsed(text) is not None)
            if entry is not None and entry.state == FAILED:  # somebody may have moved it back by hand
                is_known = False
            if not is_known and (row := self._disk.find(folder / text)) is not None:
                found.append(row)
        if not found and seconds - changed_at / 1e9 >= _SETTLED_AFTER:
            self._pending_seen = changed_at
        for row in found:
            name = parsed(row.name)
            twin = self.order.find(name.job_id) if name else None
            if abs(seconds - row.written_at) < _SETTLED_AFTER or (twin and twin.state != FAILED):
                continue
            if twin is not None:
                if self._disk.find(self._path(twin)) is not None:
                    continue
                self.order.move(twin, None)  # somebody moved it out of failed by hand
            with contextlib.suppress(Vanished):
                self._adopt(PENDING, row)

    def _survey(self) -> None:
        """Create the folders, remove duplicates and temporary files, and index every job in order of arrival."""
        self._disk.make_folder(self._root)
        for folder in FOLDERS:
            self._disk.make_folder(self._root / folder)
        kept: dict[str, JobEntry] = {}
        foreign: list[tuple[str, str]] = []
        numbers = Counter[str](dict.fromkeys(FOLDERS, 0))
        for folder, text in self._files():
            name = parsed(text)
            numbers[folder] += _is_job_file(text)
            if text.endswith(_TEMPORARY_SUFFIXES):
                self._disk.discard(self._prefixes[folder] + text)
            elif name is None and _is_job_file(text):
                foreign.append((folder, text))
            elif name is not None and (entry := self._loaded(folder, name)) is not None:
                twins = (entry, kept.get(name.job_id, entry))
                worse, best = sorted(twins, key=lambda one: (one.instant, one.folder == FAILED, one.attempts))
                kept[name.job_id] = best
                if worse is not best:
                    told = sentences.log.JOB_TWICE.format(worse=f"{worse.folder}/{worse.name}", best=best.folder)
                    log.warning("%s", told)
                    self._disk.discard(self._path(worse))
        for entry in sorted(kept.values(), key=attrgetter("instant", "job_id")):
            self.order.move(entry, entry.state)
        for folder, text in foreign:
            with contextlib.suppress(Vanished):
                if (found := self._disk.find(self._prefixes[folder] + text)) is not None:
                    self._adopt(folder, found)
        if any(numbers.values()):
            pending, processing, failed = (numbers[folder] for folder in FOLDERS)
            message = sentences.log.JOBS_FOUND.format(pending=pending, processing=processing, failed=failed)
            log.info("%s", message)

    def _adopt(self, folder: str, found: FoundFile) -> None:
        """Index a file, which is renamed if its name is not one of this queue's.

        Its instant is then its modification time; older versions used ``{job_id}.json``. Raises Vanished if the file is
        gone by now.
        """
        name = parsed(found.name)
        if name is None:
            instant = min(_last_written(found), microseconds(self._clock.now()))
            stem = found.name.removesuffix(SUFFIX)
            job_id = stem if JOB_ID.fullmatch(stem) else derived_id("file", stem)
            if self.order.find(job_id) is not None:
                job_id = derived_id("file", folder, found.name, instant)
            name = JobName(instant, job_id, 0)
            self._disk.move(self._prefixes[folder] + found.name, f"{self._prefixes[folder]}{name}")
            self._try_to_sync(folder)
        if (entry := self._loaded(folder, name)) is not None:
            self.order.move(entry, entry.state)

    def _loaded(self, folder: str, name: JobName) -> JobEntry | None:
        """Return the entry of a job's file; None if it is not a regular file.

        A readable job is not asked for its size: this halves the system calls of a start. A buried one needs its time.
        """
        entry = JobEntry(*name, folder, folder, size=-1)
        with contextlib.suppress(PermanentError, Vanished):
            data = self._disk.read(self._path(entry))
            entry.size = len(data)
            self._label(entry, data)
        if entry.size < 0 or folder == FAILED:
            found = self._disk.find(self._path(entry))
            if found is None:
                return None
            entry.size = found.size
            entry.failed_at = moment(_last_written(found)) if folder == FAILED else None
        return entry

    def _label(self, entry: JobEntry, data: bytes | None = None) -> None:
        """Read from a job's file the fields that the index keeps; leave them as they are if it is unreadable."""
        with contextlib.suppress(PermanentError, Vanished):
            body = self._body(entry) if data is None else codec.body_of(data)
            entry.scope, entry.memo = codec.label_of(body, entry.job_id, moment(entry.instant))

    @contextlib.contextmanager
    def _removed_if_gone(self, entry: JobEntry) -> Generator[None, None, None]:
        """Remove a job from the index if its file turns out to be gone."""
        try:
            yield
        except Vanished:
            self.order.move(entry, None)

    def _move(self, entry: JobEntry, state: str, *, attempts: int, instant: int | None = None) -> None:
        """Move a job's file and put the job into that state; remove the job if the file is gone.

        A power cut may undo the move: then the job is recovered from where it was.
        """
        with self._removed_if_gone(entry):
            self._rename(entry, state, attempts=attempts, instant=instant)
            self._try_to_sync(state)
            self.order.move(entry, state)

    def _bury(self, entry: JobEntry, error: str) -> None:
        """Move a job to failed with its error; without the error if the file can only be renamed."""
        at = self._clock.now()
        with self._removed_if_gone(entry):
            try:
                data = codec.buried(self._body(entry), error, at)
                self._disk.create(self._prefixes[FAILED] + entry.name, data)
            except (PermanentError, StorageRefused):
                self._rename(entry, FAILED, attempts=entry.attempts)
                self._disk.touch(self._path(entry))
                self._try_to_sync(FAILED)
            else:
                self._disk.remove(self._path(entry))
                entry.folder = FAILED
            entry.failed_at, entry.is_crash_suspect = at, False
            self.order.move(entry, FAILED)

    def _remove(self, entry: JobEntry) -> None:
        self._disk.remove(self._path(entry))
        self.order.move(entry, None)

    def _rename(self, entry: JobEntry, folder: str, *, attempts: int, instant: int | None = None) -> None:
        name = JobName(entry.instant if instant is None else instant, entry.job_id, attempts)
        self._disk.move(self._path(entry), f"{self._prefixes[folder]}{name}")
        entry.folder, entry.instant, entry.attempts = folder, name.instant, attempts

    def _sync(self) -> None:
        """Sync the folders, so that a power cut cannot undo a move and bring erased text back."""
        for folder in FOLDERS:
            self._disk.sync_folder(self._root / folder)

    def _try_to_sync(self, folder: str) -> None:
        """Sync a folder; errors are only logged, because a power cut would undo the move and lose no job."""
        try:
            self._disk.sync_folder(self._root / folder)
        except StorageRefused as refused:
            log.warning("%s", refused)

    def _files(self) -> list[tuple[str, str]]:
        """Return every file with its folder."""
        return [(folder, name) for folder in FOLDERS for name in self._disk.names(self._prefixes[folder])]

    def _body(self, entry: JobEntry) -> codec.Body:
        return codec.body_of(self._disk.read(self._path(entry)))

    def _path(self, entry: JobEntry) -> str:
        return self._prefixes[entry.folder] + entry.name


def _is_job_file(name: str) -> bool:
    return name.endswith(SUFFIX) and not name.startswith(".")


def _last_written(found: FoundFile) -> int:
    return min(max(int(found.written_at * 1e6), 0), LATEST)
