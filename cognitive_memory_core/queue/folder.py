"""The files of jobs in three folders, and their index in memory, which every change of a file also changes.

A job is a file, its state is the file's folder, its place in the order is the file's name. Each change is one rename; a
job that is buried then gets its error. A power cut, or an earlier version that was killed, may leave a job in two
folders: the next start keeps the file with the newest instant, because it was revived; of files with equal instants the
buried one, because it holds the error; else the one with more attempts.

An unreadable job is buried by renaming it: its bytes are kept, whatever their size, and the reason is determined again
whenever buried jobs are listed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Generator, Iterable
from operator import attrgetter
from pathlib import Path

from .. import sentences
from ..disk import TEMP, Cleaning, Disk, FoundFile, Vanished
from ..domain.ids import derived_id
from ..domain.job import FailedJob, QueueCounts
from ..errors import PermanentError, StorageRefused
from ..ports import Clock
from . import codec
from .codec import INSTANT_WIDTH, JOB_ID, LATEST, SUFFIX, JobName, microseconds, moment, parsed
from .order import ARRIVING, FAILED, FOLDERS, PENDING, PROCESSING, JobEntry, JobOrder

log = logging.getLogger(__name__)
_TEMPORARY_SUFFIXES = (TEMP, ".lock")  # older versions left a .lock file beside each job
_SETTLED_AFTER = 1.0  # seconds without a write after which a file copied in by hand counts as complete


class JobFolder:
    """The job files of one directory, and their index (``order``). Blocking; one thread at a time changes files."""

    def __init__(self, root: Path, clock: Clock, disk: Disk) -> None:
        """Wrap files that are not indexed yet: see :meth:`survey`, which is for their owner, and :meth:`peek`."""
        self.root = root
        self._prefixes = {name: os.path.join(root, name, "") for name in FOLDERS}  # noqa: PTH118  # a Path a file costs more than reading it
        self._clock = clock
        self.disk = disk
        self.order = JobOrder()
        self._pending_seen = 0

    def path(self, entry: JobEntry) -> str:
        """Return the path of a job's file."""
        return self._prefixes[entry.folder] + entry.name

    def body(self, entry: JobEntry) -> codec.Body:
        """Read a job's object; raises PermanentError, Vanished, StorageRefused."""
        return codec.body_of(self.disk.read(self.path(entry)))

    def survey(self) -> None:
        """Create the folders, remove duplicates and temporary files, and index every job in order of arrival."""
        self.disk.make_folder(self.root)
        for folder in FOLDERS:
            self.disk.make_folder(self.root / folder)
        files = [(parsed(text), folder, text) for folder, text in self._files()]
        for name, folder, text in sorted(files, key=lambda file: (file[0] is None, file[2])):  # others' names last
            path = self._prefixes[folder] + text
            if text.endswith(_TEMPORARY_SUFFIXES):
                self.disk.discard(path)
            elif name is None and _is_job_file(text) and (found := self.disk.find(path)) is not None:
                with contextlib.suppress(Vanished):
                    self._adopt(folder, found)
            elif name is not None and (entry := self._loaded(folder, name)) is not None:
                self._keep_best(entry)
        if (found := self.order.counts()) != QueueCounts():
            told = sentences.log.JOBS_FOUND
            log.info("%s", told.format(pending=found.pending, processing=found.processing, failed=found.failed))

    def _keep_best(self, entry: JobEntry) -> None:
        """Index a job; if its file lies in another folder, too, remove the one that a crash left behind."""
        twin = self.order.find(entry.job_id)
        if twin is not None:
            worse, best = sorted((entry, twin), key=lambda one: (one.instant, one.folder == FAILED, one.attempts))
            told = sentences.log.JOB_TWICE.format(worse=f"{worse.folder}/{worse.name}", best=best.folder)
            log.warning("%s", told)
            self.disk.discard(self.path(worse))
            if best is twin:
                return
            self.order.move(twin, None)
        self.order.move(entry, entry.state)

    def peek(self) -> None:
        """Index the files by their names alone, also while another process owns them; writes nothing."""
        for state, prefix in self._prefixes.items():
            with contextlib.suppress(StorageRefused):
                for name in filter(None, map(parsed, self.disk.names(prefix))):
                    entry = JobEntry(*name, state, state)
                    found = self.disk.find(self.path(entry)) if state == PENDING else None
                    entry.size = found.size if found else 0
                    self.order.move(entry, state)

    def refresh(self) -> None:
        """Index job files that something other than the queue put into pending, such as an operator.

        Files written a moment ago are left for the next call. The folder is not listed again while it is unchanged.
        """
        folder, seconds = self.root / PENDING, time.time()
        changed_at = self.disk.changed_at(folder)
        if changed_at == self._pending_seen:
            return
        is_settled = seconds - changed_at / 1e9 >= _SETTLED_AFTER
        for text in filter(_is_job_file, self.disk.names(folder)):
            known = self.order.find(text[INSTANT_WIDTH:].partition(".")[0])  # fast for fifty thousand names
            twin = known if known and parsed(text) else None
            if (twin and twin.state != FAILED) or (found := self.disk.find(folder / text)) is None:
                continue
            is_settled = False
            if abs(seconds - found.written_at) < _SETTLED_AFTER:
                continue
            if twin:  # perhaps somebody moved it out of failed by hand
                if self.disk.find(self.path(twin)) is not None:
                    continue
                self.order.move(twin, None)
            with contextlib.suppress(Vanished):
                self._adopt(PENDING, found)
        if is_settled:
            self._pending_seen = changed_at

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
            self.disk.move(self._prefixes[folder] + found.name, f"{self._prefixes[folder]}{name}")
            self._try_to_sync(folder)
        if (entry := self._loaded(folder, name)) is not None:
            self.order.move(entry, entry.state)

    def _loaded(self, folder: str, name: JobName) -> JobEntry | None:
        """Return the entry of a job's file; None if it is not a regular file.

        A readable job is not asked for its size: this halves the system calls of a start. A buried one needs its time.
        """
        entry = JobEntry(*name, folder, folder, size=-1)
        with contextlib.suppress(PermanentError, Vanished):
            data = self.disk.read(self.path(entry))
            entry.size = len(data)
            self.label(entry, data)
        if entry.size < 0 or folder == FAILED:
            found = self.disk.find(self.path(entry))
            if found is None:
                return None
            entry.size = found.size
            entry.failed_at = moment(_last_written(found)) if folder == FAILED else None
        return entry

    def label(self, entry: JobEntry, data: bytes | None = None) -> None:
        """Read from a job's file the fields that the index keeps; leave them as they are if it is unreadable."""
        with contextlib.suppress(PermanentError, Vanished):
            body = self.body(entry) if data is None else codec.body_of(data)
            entry.scope, entry.memo = codec.label_of(body, entry.job_id, moment(entry.instant))

    @contextlib.contextmanager
    def removed_if_gone(self, entry: JobEntry) -> Generator[None, None, None]:
        """Remove a job from the index if its file turns out to be gone."""
        try:
            yield
        except Vanished:
            self.order.move(entry, None)

    def move(self, entry: JobEntry, state: str, *, attempts: int, instant: int | None = None) -> None:
        """Move a job's file and put the job into that state; remove the job if the file is gone.

        A power cut may undo the move: then the job is recovered from where it was.
        """
        with self.removed_if_gone(entry):
            self.rename(entry, state, attempts=attempts, instant=instant)
            self._try_to_sync(state)
            self.order.move(entry, state)

    def bury(self, entry: JobEntry, error: str) -> None:
        """Move a job to failed, then write its error into it; without the error if the file can only be renamed."""
        at = self._clock.now()
        self.move(entry, FAILED, attempts=entry.attempts)
        if entry.state == FAILED:  # else its file was gone
            entry.failed_at, entry.is_crash_suspect = at, False
            self.disk.touch(self.path(entry))
            with self.removed_if_gone(entry), contextlib.suppress(PermanentError, StorageRefused):
                self.disk.rewrite(self.path(entry), codec.buried(self.body(entry), error, at))

    def remove(self, entry: JobEntry) -> None:
        """Delete a job's file, and the job from the index."""
        self.disk.remove(self.path(entry))
        self.order.move(entry, None)

    def rename(self, entry: JobEntry, folder: str, *, attempts: int, instant: int | None = None) -> None:
        """Move a job's file, durably once the folder is synced; its state stays. Raises Vanished if it is gone."""
        name = JobName(entry.instant if instant is None else instant, entry.job_id, attempts)
        self.disk.move(self.path(entry), f"{self._prefixes[folder]}{name}")
        entry.folder, entry.instant, entry.attempts = folder, name.instant, attempts

    def clean(self, entry: JobEntry, cleaning: Cleaning) -> bool:
        """Rewrite or remove a job's file as ``cleaning`` decides (:mod:`.erasure`); return whether it changed.

        Durable after :meth:`sync`. A claimed job stays in the index until its claim ends.
        """
        rest = self.disk.clean(self.path(entry), cleaning)
        if rest == b"":
            entry.memo = None
            if entry.state != PROCESSING:
                self.order.move(entry, None)
        elif rest and entry.memo is not None:
            self.label(entry, rest)
        return rest is not None

    def erase(self, entries: Iterable[JobEntry], cleaning: Cleaning) -> int:
        """Apply ``cleaning`` durably to jobs and to all files without an entry, of which temporary ones are deleted.

        Return how many changed.
        """
        changed = sum(self.clean(entry, cleaning) for entry in entries)
        listed = self._files()  # before the index is read: an arriving job has its entry before its file
        known = {self.path(entry) for entry in self.order.all(ARRIVING, *FOLDERS)}
        known |= {self.path(entry) + TEMP for entry in self.order.all(ARRIVING)}
        for folder, name in listed:
            path = self._prefixes[folder] + name
            if path in known:
                continue
            if name.endswith(_TEMPORARY_SUFFIXES):
                self.disk.remove(path)
            elif _is_job_file(name) and self.disk.find(path) is not None:
                changed += self.disk.clean(path, cleaning) is not None
        self.sync()
        return changed

    def failures(self) -> list[FailedJob]:
        """Return the failed jobs, oldest first, including unreadable ones; one whose file is gone is left out."""
        found: list[FailedJob] = []
        for entry in self.order.all(FAILED):
            at = entry.failed_at or moment(entry.instant)
            with contextlib.suppress(Vanished):
                try:
                    found.append(codec.failure_of(self.body(entry), entry.job_id, entry.attempts, at))
                except (PermanentError, StorageRefused) as unreadable:
                    found.append(FailedJob(entry.job_id, str(unreadable), entry.attempts, at))
        return sorted(found, key=attrgetter("failed_at"))

    def copy_to(self, folder: Path) -> None:
        """Write a durable, consistent copy of all jobs to a folder from which a queue can be opened.

        The folders are listed instead of the index, because a move that took effect and was reported as failed leaves a
        job where the index does not look for it.
        """
        for name in ("", *FOLDERS):
            self.disk.make_folder(folder / name)
        for state, name in self._files():
            if _is_job_file(name):
                with contextlib.suppress(Vanished):
                    self.disk.copy(self.root / state / name, folder / state / name)
        for state in FOLDERS:
            self.disk.sync_folder(folder / state)

    def sync(self) -> None:
        """Sync the folders, so that a power cut cannot undo a move and bring erased text back."""
        for folder in FOLDERS:
            self.disk.sync_folder(self.root / folder)

    def _try_to_sync(self, folder: str) -> None:
        """Sync a folder; errors are only logged, because a power cut would undo the move and lose no job."""
        try:
            self.disk.sync_folder(self.root / folder)
        except StorageRefused as refused:
            log.warning("%s", refused)

    def _files(self) -> list[tuple[str, str]]:
        """Return every file with its folder."""
        return [(folder, name) for folder in FOLDERS for name in self.disk.names(self._prefixes[folder])]


def _is_job_file(name: str) -> bool:
    return name.endswith(SUFFIX) and not name.startswith(".")


def _last_written(found: FoundFile) -> int:
    return min(max(int(found.written_at * 1e6), 0), LATEST)
