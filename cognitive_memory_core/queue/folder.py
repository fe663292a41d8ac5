"""The jobs of a queue: one file each, and an in-memory index by id, by scope and in order of arrival.

Each step is one rename, or one durable write followed by one unlink. A crash between write and unlink leaves a job in
two folders. :meth:`JobFolder.survey` then keeps the file with the newest instant, because it was revived; of files with
equal instants the buried one, because it holds the error; else the one with more attempts.

An unreadable job is buried by renaming it: its bytes are kept, whatever their size, and the reason is determined again
whenever buried jobs are listed.
"""

from __future__ import annotations

import bisect
import contextlib
import logging
import os
import threading
import time
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from operator import attrgetter
from pathlib import Path

from .. import sentences
from ..disk import TEMP, Cleaning, Disk, FoundFile, Vanished, is_withheld
from ..domain.scope import Scope, derived_id
from ..domain.turn import FailedJob, Job, Memo, QueueCounts
from ..errors import PermanentError, StorageRefused
from . import erasure
from . import format as codec
from .format import INSTANT_WIDTH, JOB_ID, LATEST, SUFFIX, JobName, microseconds, moment, parsed

log = logging.getLogger(__name__)
PENDING, PROCESSING, FAILED = "pending", "processing", "failed"
_TEMPORARY_SUFFIXES = (TEMP, ".lock")  # older versions left a .lock file beside each job
_SETTLED_AFTER = 1.0  # seconds without a write after which a file copied in by hand counts as complete
_ARRIVAL = attrgetter("instant", "job_id")


class JobState(Enum):
    """A job's state: being written, waiting, claimed, failed."""

    ARRIVING = auto()
    WAITING = auto()
    CLAIMED = auto()
    FAILED = auto()


OPEN = (JobState.ARRIVING, JobState.WAITING)
ON_DISK = (JobState.WAITING, JobState.CLAIMED, JobState.FAILED)
_STATES = {PENDING: JobState.WAITING, PROCESSING: JobState.CLAIMED, FAILED: JobState.FAILED}


@dataclass(eq=False, slots=True)
class JobEntry:
    """One job in the index: where its file is, and the fields that are needed without reading the file.

    ``scope`` is None if the file is unreadable.

    A crash suspect was being processed at each of the last crashes. It is processed alone, so that another crash
    affects no other job.
    """

    instant: int
    job_id: str
    attempts: int
    folder: str
    name: str
    state: JobState
    size: int = 0
    scope: Scope | None = None
    memo: Memo | None = None
    failed_at: datetime | None = None
    is_crash_suspect: bool = False

    @property
    def line(self) -> Scope | str:
        """The scope, whose jobs are claimed one at a time; an unreadable job waits for no other."""
        return self.job_id if self.scope is None else self.scope


class JobFolder:
    """Job files in the folders pending, processing and failed, with their index.

    Every file operation blocks, and an entry may be passed to one of them at a time. One that finds the file gone
    removes the job from the index; if a call raises, the entry still states where its file is. The event loop reads the
    index and adds to it while the queue's thread changes it; the time to find the next job grows with the number of
    scopes, not of jobs.
    """

    def __init__(self, root: Path, disk: Disk) -> None:
        """Use a folder as root; :meth:`survey` creates what is missing."""
        self._root = root
        self._prefixes = {folder: os.path.join(root, folder, "") for folder in _STATES}  # noqa: PTH118  # a Path a file costs more than reading it
        self._disk = disk
        self._pending_seen = 0
        self._entries: dict[str, JobEntry] = {}
        self._of: dict[JobState, dict[str, JobEntry]] = {state: {} for state in JobState}
        self._lines: dict[Scope | str, list[JobEntry]] = {}  # of open jobs; the scope claimed last is the last
        self.paused: dict[Scope | str, float] = {}  # until when, in seconds of a monotonic clock
        self._bytes = 0
        self._last_instant = 0  # of the names that exist: each further one is later, whatever the clock does
        self._mutex = threading.RLock()

    def survey(self, now: datetime) -> None:
        """Create the folders, remove duplicates and temporary files, and index every job in order of arrival."""
        self._disk.make_folder(self._root)
        kept: dict[str, JobEntry] = {}
        foreign: list[tuple[str, str]] = []
        numbers: list[int] = []
        for folder, prefix in self._prefixes.items():
            self._disk.make_folder(self._root / folder)
            names = self._disk.names(prefix)
            numbers.append(sum(map(_is_job_file, names)))
            for text in names:
                name = parsed(text)
                if text.endswith(_TEMPORARY_SUFFIXES):
                    self._disk.discard(prefix + text)
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
        for entry in sorted(kept.values(), key=attrgetter("name")):  # string names compare fastest
            self.move(entry, entry.state)
        for folder, text in foreign:
            with contextlib.suppress(Vanished):
                if (found := self._disk.find(self._prefixes[folder] + text)) is not None:
                    self._adopt(folder, found, now)
        if any(numbers):
            pending, processing, failed = numbers
            message = sentences.log.JOBS_FOUND.format(pending=pending, processing=processing, failed=failed)
            log.info("%s", message)

    @classmethod
    def peeked(cls, root: Path) -> JobFolder:
        """Index jobs by the names of their files alone, also while another process owns them; writes nothing."""
        jobs = cls(root, Disk())
        for folder, prefix in jobs._prefixes.items():
            with contextlib.suppress(StorageRefused):
                for name in filter(None, map(parsed, jobs._disk.names(prefix))):
                    entry = JobEntry(*name, folder, str(name), _STATES[folder])
                    found = jobs._disk.find(jobs._path(entry)) if folder == PENDING else None
                    entry.size = found.size if found else 0
                    jobs.move(entry, entry.state)
        return jobs

    def refresh(self, now: datetime) -> None:
        """Index job files in pending that somebody put there by hand.

        Files written a moment ago are left for the next call. The folder is not listed again while it is unchanged.
        """
        folder, seconds = self._root / PENDING, time.time()
        changed_at = self._disk.changed_at(folder)
        if changed_at == self._pending_seen:
            return
        found: list[FoundFile] = []
        for text in filter(_is_job_file, self._disk.names(folder)):
            entry = self.find(text[INSTANT_WIDTH:].partition(".")[0])  # fast for fifty thousand names
            is_known = entry is not None and (entry.name == text or parsed(text) is not None)
            if entry is not None and entry.state is JobState.FAILED:  # somebody may have moved it back by hand
                is_known = False
            if not is_known and (row := self._disk.find(folder / text)) is not None:
                found.append(row)
        if not found and seconds - changed_at / 1e9 >= _SETTLED_AFTER:
            self._pending_seen = changed_at
        for row in found:
            name = parsed(row.name)
            twin = self.find(name.job_id) if name else None
            if abs(seconds - row.written_at) < _SETTLED_AFTER or (twin and twin.state is not JobState.FAILED):
                continue
            if twin is not None:
                if self._disk.find(self._path(twin)) is not None:
                    continue
                self.move(twin, None)  # somebody moved it out of failed by hand
            with contextlib.suppress(Vanished):
                self._adopt(PENDING, row, now)

    def next_instant(self, now: datetime) -> int:
        """Return the instant of arrival of a new job: now, or one that is later than all before."""
        self._last_instant = max(microseconds(now), self._last_instant + 1)
        return self._last_instant

    def find(self, job_id: str) -> JobEntry | None:
        """Return the job of an id in any state, or None."""
        return self._entries.get(job_id)

    def all(self, *states: JobState) -> list[JobEntry]:
        """Return the jobs in these states, in order of arrival."""
        with self._mutex:
            found = [entry for state in states for entry in self._of[state].values()]
        return sorted(found, key=_ARRIVAL)

    def of_scope(self, scope: Scope, *states: JobState) -> list[JobEntry]:
        """Return the jobs of a scope in these states; those that wait are the last, in order of arrival."""
        with self._mutex:
            others = (entry for state in states if state not in OPEN for entry in self._of[state].values())
            waiting = (entry for entry in self._lines.get(scope, ()) if entry.state in states)
            return [*(entry for entry in others if entry.scope == scope), *waiting]

    def counts(self) -> QueueCounts:
        """Return the number of jobs by state, and the bytes of those that wait or are being written."""
        waiting, claimed, failed = (len(self._of[state]) for state in ON_DISK)
        return QueueCounts(waiting, claimed, failed, self._bytes)

    def load(self, scope: Scope) -> tuple[int, int, int]:
        """Return how many jobs wait or are being written, in all and in the scope, and the bytes of all of them."""
        return sum(len(self._of[state]) for state in OPEN), len(self._lines.get(scope, ())), self._bytes

    def move(self, entry: JobEntry, state: JobState | None) -> None:
        """Put a job into a state, or for None remove it, which a second call does not do again.

        The file of an arriving job is still being written: the job already has its place in the order and counts as
        open, but cannot be claimed until it waits.
        """
        with self._mutex:
            is_known = self._entries.get(entry.job_id) is entry
            was_open, is_open = is_known and entry.state in OPEN, state in OPEN
            if is_known:
                del self._of[entry.state][entry.job_id]
            if was_open and not is_open:
                self._bytes -= entry.size
                self._lines[entry.line].remove(entry)
                if not self._lines[entry.line]:
                    del self._lines[entry.line]
            if state is None:
                if is_known:
                    del self._entries[entry.job_id]
                return
            entry.state = state
            self._last_instant = max(self._last_instant, entry.instant)
            self._entries[entry.job_id] = self._of[state][entry.job_id] = entry
            if is_open and not was_open:
                self._bytes += entry.size
                bisect.insort(self._lines.setdefault(entry.line, []), entry, key=_ARRIVAL)

    def take(self, elapsed: float) -> JobEntry | None:
        """Mark the next job as claimed, rotating through the scopes; None if no job may be claimed now.

        A crash suspect waits until no other job is running, and other jobs wait until the suspect is done.
        """
        with self._mutex:
            running = self._of[JobState.CLAIMED].values()
            busy = {entry.line for entry in running}
            if any(entry.is_crash_suspect for entry in running):
                return None
            for line, waiting in self._lines.items():
                first = waiting[0]
                is_ready = first.state is JobState.WAITING and self.paused.get(line, elapsed) <= elapsed
                if is_ready and line not in busy:
                    if first.is_crash_suspect and running:
                        return None
                    self.paused.pop(line, None)
                    self.move(first, JobState.CLAIMED)
                    if line in self._lines:
                        self._lines[line] = self._lines.pop(line)  # the other scopes come first
                    return first
            return None

    def arrive(self, entry: JobEntry, data: bytes) -> None:
        """Write a new job durably, or not at all."""
        self._disk.create(self._path(entry), data)

    def claim(self, entry: JobEntry) -> Job | None:
        """Move a job to processing, count the attempt durably in its name, and read it; None if its file is gone.

        Raises PermanentError for an invalid job; StorageRefused if the attempt could not be made durable or a resource
        is exhausted, and then the attempt does not count and the job waits.
        """
        with self._removed_if_gone(entry):
            try:
                self._rename(entry, PROCESSING, attempts=entry.attempts + 1)
                try:
                    self._disk.sync_folder(self._root / PROCESSING)
                    return codec.job_of(self._body(entry), entry.job_id, moment(entry.instant))
                except (StorageRefused, MemoryError):
                    entry.attempts -= 1
                    with contextlib.suppress(StorageRefused, Vanished):
                        self._rename(entry, PENDING, attempts=entry.attempts)
                    raise
            except (StorageRefused, OSError, MemoryError):
                self.move(entry, JobState.WAITING)
                raise
        return None

    def put_back(self, entry: JobEntry, *, attempts: int) -> None:
        """Move a job back to pending; a power cut may undo this, and the job is then recovered from processing."""
        with self._removed_if_gone(entry):
            self._rename(entry, PENDING, attempts=attempts)
            self._try_to_sync(PENDING)
            self.move(entry, JobState.WAITING)

    def remove(self, entry: JobEntry) -> None:
        """Remove a job and its file."""
        self._disk.remove(self._path(entry))
        self.move(entry, None)

    def bury(self, entry: JobEntry, error: str, at: datetime) -> None:
        """Move a job to failed with its error; without the error if the file can only be renamed."""
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
            self.move(entry, JobState.FAILED)

    def revive(self, entry: JobEntry, now: datetime) -> bool:
        """Move a buried job to pending as a new arrival with no attempts; return False if its file is gone."""
        with self._removed_if_gone(entry):
            self._label(entry)
            self._rename(entry, PENDING, attempts=0, instant=self.next_instant(now))
            for folder in (PENDING, FAILED):
                self._try_to_sync(folder)
            entry.failed_at = None
            self.move(entry, JobState.WAITING)
            return True
        return False

    def clean(self, entry: JobEntry, cleaning: Cleaning) -> bool:
        """Rewrite or remove a job's file as ``cleaning`` decides (:mod:`.erasure`); return whether it changed.

        Durable after :meth:`sync`. A claimed job stays in the index until its claim ends.
        """
        rest = self._disk.clean(self._path(entry), cleaning)
        if rest == b"":
            entry.memo = None
            if entry.state is not JobState.CLAIMED:
                self.move(entry, None)
        elif rest:
            if entry.memo is not None:
                self._label(entry, rest)
            with self._mutex:
                self._bytes += (len(rest) - entry.size) * (entry.state in OPEN)
                entry.size = len(rest)
        return rest is not None

    def erase(self, entries: Iterable[JobEntry], cleaning: Cleaning) -> int:
        """Apply ``cleaning`` durably to jobs and to all files without an entry, of which temporary ones are deleted.

        Return how many changed.
        """
        changed = sum(self.clean(entry, cleaning) for entry in entries)
        listed = self._listed()  # before the index is read: an arriving job has its entry before its file
        known = set[str]()
        for entry in self.all(*JobState):
            is_arriving = entry.state is JobState.ARRIVING
            known |= {self._path(entry), self._path(entry) + TEMP * is_arriving}
        for folder, name in listed:
            path = self._prefixes[folder] + name
            if path in known:
                continue
            if name.endswith(_TEMPORARY_SUFFIXES):
                self._disk.remove(path)
            elif _is_job_file(name) and self._disk.find(path) is not None:
                changed += self._disk.clean(path, cleaning) is not None
        self.sync()
        return changed

    def sync(self) -> None:
        """Sync the folders, so that a power cut cannot undo a move and bring erased text back."""
        for folder in _STATES:
            self._disk.sync_folder(self._root / folder)

    def names_of(self, user_id: str) -> set[str]:
        """Return the names that a person has in jobs."""
        names: set[str] = set()
        for entry in self.all(*ON_DISK):
            with contextlib.suppress(PermanentError, Vanished):
                names |= erasure.names_of(self._disk.read(self._path(entry)), user_id)
        return names

    def learned_from(self, entry: JobEntry) -> set[str]:
        """Return the ids of the messages that a job learns from, none if the job is invalid or gone.

        Raises StorageRefused if the file cannot be read at present.
        """
        try:
            return codec.learned_from(self._body(entry))
        except PermanentError as unreadable:
            if is_withheld(unreadable):
                raise StorageRefused(str(unreadable)) from unreadable
        except Vanished:
            pass
        return set()

    def copy_to(self, target: Path) -> None:
        """Copy the files of all jobs as they are on the disk, into folders of the same names.

        The folders are listed instead of the index, because a move that took effect and was reported as failed leaves a
        job where the index does not look for it.
        """
        for folder in ("", *_STATES):
            self._disk.make_folder(target / folder)
        for folder, name in self._listed():
            if _is_job_file(name):
                with contextlib.suppress(Vanished):
                    self._disk.copy(self._root / folder / name, target / folder / name)
        for folder in _STATES:
            self._disk.sync_folder(target / folder)

    def failures(self) -> list[FailedJob]:
        """Return reports of buried jobs, oldest first; for an unreadable file the reason, for a missing one nothing."""
        found: list[FailedJob] = []
        for entry in self.all(JobState.FAILED):
            at = entry.failed_at or moment(entry.instant)
            with contextlib.suppress(Vanished):
                try:
                    found.append(codec.failure_of(self._body(entry), entry.job_id, entry.attempts, at))
                except (PermanentError, StorageRefused) as unreadable:
                    found.append(FailedJob(entry.job_id, str(unreadable), entry.attempts, at))
        return sorted(found, key=attrgetter("failed_at"))

    def _listed(self) -> list[tuple[str, str]]:
        """Return every file with its folder."""
        return [(folder, name) for folder in _STATES for name in self._disk.names(self._prefixes[folder])]

    def _adopt(self, folder: str, found: FoundFile, now: datetime) -> None:
        """Index a file, which is renamed if its name is not one of this queue's.

        Its instant is then its modification time; older versions used ``{job_id}.json``. Raises Vanished if the file is
        gone by now.
        """
        name = parsed(found.name)
        if name is None:
            instant, stem = min(_last_written(found), microseconds(now)), found.name.removesuffix(SUFFIX)
            job_id = stem if JOB_ID.fullmatch(stem) else derived_id("file", stem)
            if self.find(job_id) is not None:
                job_id = derived_id("file", folder, found.name, instant)
            name = JobName(instant, job_id, 0)
            self._disk.move(self._prefixes[folder] + found.name, f"{self._prefixes[folder]}{name}")
            self._try_to_sync(folder)
        if (entry := self._loaded(folder, name)) is not None:
            self.move(entry, entry.state)

    def _loaded(self, folder: str, name: JobName) -> JobEntry | None:
        """Return the entry of a job's file; None if it is not a regular file.

        A readable job is not asked for its size: this halves the system calls of a start. A buried one needs its time.
        """
        entry = JobEntry(*name, folder, str(name), _STATES[folder], size=-1)
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
            body = codec.body_of(self._disk.read(self._path(entry)) if data is None else data)
            entry.scope, entry.memo = codec.label_of(body, entry.job_id, moment(entry.instant))

    @contextlib.contextmanager
    def _removed_if_gone(self, entry: JobEntry) -> Generator[None, None, None]:
        """Remove a job from the index if its file turns out to be gone."""
        try:
            yield
        except Vanished:
            self.move(entry, None)

    def _body(self, entry: JobEntry) -> codec.Body:
        return codec.body_of(self._disk.read(self._path(entry)))

    def _rename(self, entry: JobEntry, folder: str, *, attempts: int, instant: int | None = None) -> None:
        name = JobName(entry.instant if instant is None else instant, entry.job_id, attempts)
        text = str(name)
        self._disk.move(self._path(entry), self._prefixes[folder] + text)
        entry.folder, entry.name, entry.instant, entry.attempts = folder, text, name.instant, attempts

    def _try_to_sync(self, folder: str) -> None:
        """Sync a folder; errors are only logged, because a power cut would undo the move and lose no job."""
        try:
            self._disk.sync_folder(self._root / folder)
        except StorageRefused as refused:
            log.warning("%s", refused)

    def _path(self, entry: JobEntry) -> str:
        return self._prefixes[entry.folder] + entry.name


def _is_job_file(name: str) -> bool:
    return name.endswith(SUFFIX) and not name.startswith(".")


def _last_written(found: FoundFile) -> int:
    return min(max(int(found.written_at * 1e6), 0), LATEST)
