"""File operations of the queue: each step is one rename, or one durable write followed by one unlink.

A crash between write and unlink leaves a job in two folders. :meth:`JobFiles.survey` then keeps the file with the
newest instant, because it was revived; of files with equal instants the buried one, because it holds the error; else
the one with more attempts.

An unreadable job is buried by renaming it: its bytes are kept, whatever their size, and the reason is determined again
whenever buried jobs are listed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from operator import attrgetter
from pathlib import Path

from .. import sentences
from ..disk import TEMP, Cleaning, Disk, FoundFile, Vanished, is_withheld
from ..domain.ids import derived_id
from ..domain.turn import FailedJob, Job, QueueCounts
from ..errors import PermanentError, StorageRefused
from . import erasure
from . import format as codec
from .format import LATEST, SUFFIX, JobName, is_job_id, microseconds, moment, parsed
from .schedule_index import JobEntry, JobState

log = logging.getLogger(__name__)
PENDING, PROCESSING, FAILED = "pending", "processing", "failed"
_STATES = {PENDING: JobState.WAITING, PROCESSING: JobState.CLAIMED, FAILED: JobState.FAILED}
_TEMPORARY_SUFFIXES = (TEMP, ".lock")  # older versions left a .lock file beside each job
_SETTLED_AFTER = 1.0  # seconds without a write after which a file copied in by hand counts as complete


class JobFiles:
    """Moves job files between the folders pending, processing and failed. Blocking.

    An index entry may be passed to one call at a time. If a call raises, the entry still states where its file is.
    """

    def __init__(self, root: Path, disk: Disk) -> None:
        """Use a folder as root; :meth:`survey` creates what is missing."""
        self._root = root
        self._folders = {folder: root / folder for folder in _STATES}
        self._prefixes = {folder: os.path.join(path, "") for folder, path in self._folders.items()}  # noqa: PTH118  # a Path a file costs more than reading it
        self._disk = disk
        self._pending_seen = 0

    def survey(self, now: datetime) -> list[JobEntry]:
        """Create the folders, remove duplicates, and return an index entry for every job in order of arrival."""
        self._disk.make_folder(self._root)
        names = {folder: self._names_in(folder) for folder in _STATES}
        if any(names.values()):
            pending, processing, failed = map(len, names.values())
            message = sentences.log.JOBS_FOUND.format(pending=pending, processing=processing, failed=failed)
            log.info("%s", message)
        kept: dict[str, JobEntry] = {}
        unindexed: list[tuple[str, str]] = []
        for folder, listed in names.items():
            for text in listed:
                name = parsed(text)
                if name is None:
                    unindexed.append((folder, text))
                elif (entry := self._indexed(folder, name, text)) is not None:
                    twin = kept.get(name.job_id)
                    kept[name.job_id] = entry if twin is None else self._better(entry, twin)
        for folder, text in unindexed:
            with contextlib.suppress(Vanished):
                if (found := self._disk.find(self._folders[folder] / text)) is not None:
                    entry = self.adopt(folder, found, now, kept.__contains__)
                    kept[entry.job_id] = entry
        return sorted(kept.values(), key=attrgetter("name"))  # string names compare fastest

    def arrive(self, entry: JobEntry, data: bytes) -> None:
        """Write a new job durably, or not at all."""
        self._disk.create(self._path(entry), data)

    def claim(self, entry: JobEntry) -> Job:
        """Move a job to processing, count the attempt durably in its name, and read it.

        Raises PermanentError for an invalid job, Vanished if its file is gone; StorageRefused if the attempt could not
        be made durable or a resource is exhausted, and then the attempt does not count.
        """
        self._move(entry, PROCESSING, attempts=entry.attempts + 1)
        try:
            self._disk.sync_folder(self._folders[PROCESSING])
            return codec.job_of(self._body(entry), entry.job_id, moment(entry.instant))
        except (StorageRefused, MemoryError):
            entry.attempts -= 1
            with contextlib.suppress(StorageRefused, Vanished):
                self._move(entry, PENDING, attempts=entry.attempts)
            raise

    def put_back(self, entry: JobEntry, *, attempts: int) -> None:
        """Move a job back to pending; a power cut may undo this, and the job is then recovered from processing."""
        self._move(entry, PENDING, attempts=attempts)
        self._try_to_sync(PENDING)

    def forget(self, entry: JobEntry) -> None:
        """Remove a job's file."""
        self._disk.remove(self._path(entry))

    def bury(self, entry: JobEntry, error: str, at: datetime) -> None:
        """Move a job to failed with its error; without the error if the file can only be renamed."""
        try:
            data = codec.buried(self._body(entry), error, at)
            self._disk.create(self._prefixes[FAILED] + entry.name, data)
        except (PermanentError, StorageRefused):
            self._move(entry, FAILED, attempts=entry.attempts)
            self._disk.touch(self._path(entry))
            self._try_to_sync(FAILED)
        else:
            self._disk.remove(self._path(entry))
            entry.folder = FAILED

    def revive(self, entry: JobEntry, instant: int) -> None:
        """Move a buried job to pending as a new arrival with no attempts."""
        self._label(entry)
        self._move(entry, PENDING, attempts=0, instant=instant)
        self._try_to_sync(PENDING)
        self._try_to_sync(FAILED)

    def clean(self, entry: JobEntry, cleaning: Cleaning) -> bytes | None:
        """Rewrite or remove a job's file as ``cleaning`` decides (:mod:`.erasure`); durable after :meth:`sync`."""
        rest = self._disk.clean(self._path(entry), cleaning)
        if rest and entry.memo is not None:
            self._note_label(entry, rest)
        return rest

    def listed(self) -> list[tuple[str, str]]:
        """Return every file with its folder."""
        return [(folder, name) for folder in _STATES for name in self._disk.names(self._root / folder)]

    def clean_files(self, files: Iterable[tuple[str, str]], cleaning: Cleaning) -> int:
        """Apply ``cleaning`` to job files (folder, name) that have no index entry; return how many it changed.

        Temporary files among them are deleted.
        """
        changed = 0
        for folder, name in files:
            path = self._root / folder / name
            if name.endswith(_TEMPORARY_SUFFIXES):
                self._disk.remove(path)
            elif _is_job_file(name) and self._disk.find(path) is not None:
                with contextlib.suppress(Vanished):
                    changed += self._disk.clean(path, cleaning) is not None
        return changed

    def sync(self) -> None:
        """Sync the folders, so that a power cut cannot undo a move and bring erased text back."""
        for folder in _STATES:
            self._disk.sync_folder(self._folders[folder])

    def names_of(self, entries: Iterable[JobEntry], user_id: str) -> set[str]:
        """Return the names that a person has in jobs."""
        names: set[str] = set()
        for entry in entries:
            with contextlib.suppress(PermanentError, Vanished):
                names |= erasure.names_of(self._disk.read(self._path(entry)), user_id)
        return names

    def learned_from(self, entry: JobEntry) -> set[str]:
        """Return the ids of the messages that a job learns from, none if the job is invalid.

        Raises StorageRefused if the file cannot be read at present.
        """
        try:
            return set(codec.learned_from(self._body(entry)))
        except Vanished:
            return set()
        except PermanentError as unreadable:
            if is_withheld(unreadable):
                raise StorageRefused(str(unreadable)) from unreadable
            return set()

    def copy_to(self, target: Path) -> None:
        """Copy the files of all jobs as they are on the disk, into folders of the same names.

        The folders are listed instead of the index, because a move that took effect and was reported as failed leaves a
        job where the index does not look for it.
        """
        self._disk.make_folder(target)
        for folder in _STATES:
            self._disk.make_folder(target / folder)
        for folder, name in self.listed():
            if _is_job_file(name):
                with contextlib.suppress(Vanished):
                    self._disk.copy(self._root / folder / name, target / folder / name)
        for folder in _STATES:
            self._disk.sync_folder(target / folder)

    def reports(self, entries: Iterable[JobEntry]) -> list[FailedJob]:
        """Return reports of buried jobs; for an unreadable file the reason, for a missing file nothing."""
        found: list[FailedJob] = []
        for entry in entries:
            at = entry.failed_at or moment(entry.instant)
            try:
                found.append(codec.failure_of(self._body(entry), entry.job_id, entry.attempts, at))
            except (PermanentError, StorageRefused) as unreadable:
                found.append(FailedJob(entry.job_id, str(unreadable), entry.attempts, at))
            except Vanished:
                continue
        return found

    def unindexed(self, is_known: Callable[[str], bool]) -> list[FoundFile]:
        """Return job files in the pending folder whose names ``is_known`` rejects: somebody put them there by hand.

        Files written a moment ago are left for the next call. The folder is not listed again while it is unchanged.
        """
        folder = self._root / PENDING
        changed_at = self._disk.changed_at(folder)
        if changed_at == self._pending_seen:
            return []
        now = time.time()
        names = [name for name in self._disk.names(folder) if _is_job_file(name) and not is_known(name)]
        found = [row for row in (self._disk.find(folder / name) for name in names) if row is not None]
        if not found and now - changed_at / 1e9 >= _SETTLED_AFTER:
            self._pending_seen = changed_at
        return [row for row in found if abs(now - row.written_at) >= _SETTLED_AFTER]

    def adopt(self, folder: str, found: FoundFile, now: datetime, is_taken: Callable[[str], bool]) -> JobEntry:
        """Return the index entry of a file, which is renamed if its name is not one of this queue's.

        Its instant is then its modification time; older versions used ``{job_id}.json``. Raises Vanished if the file is
        gone by now.
        """
        name = parsed(found.name)
        if name is None:
            instant, stem = min(_last_written(found), microseconds(now)), found.name.removesuffix(SUFFIX)
            job_id = stem if is_job_id(stem) else derived_id("file", stem)
            if is_taken(job_id):
                job_id = derived_id("file", folder, found.name, instant)
            name = JobName(instant, job_id, 0)
            self._disk.move(self._root / folder / found.name, self._root / folder / str(name))
            self._try_to_sync(folder)
        return self._labelled(folder, name, found)

    def is_there(self, entry: JobEntry) -> bool:
        """Return whether a job's file is still where the entry says."""
        return self._disk.find(self._path(entry)) is not None

    def _names_in(self, folder: str) -> list[str]:
        """Return the names of a folder's job files; remove temporary files of older versions or crashes."""
        path = self._folders[folder]
        self._disk.make_folder(path)
        names = self._disk.names(path)
        for name in names:
            if name.endswith(_TEMPORARY_SUFFIXES):
                self._disk.discard(path / name)
        return [name for name in names if _is_job_file(name)]

    def _indexed(self, folder: str, name: JobName, text: str) -> JobEntry | None:
        """Return the index entry of the file ``text`` in a folder; None if it is not a regular file.

        A waiting job is read at once, without asking for its size first: this halves the system calls of a start.
        """
        if folder != FAILED:  # a buried job also needs its file time
            with contextlib.suppress(PermanentError, Vanished):
                data = self._disk.read(self._prefixes[folder] + text)
                entry = JobEntry(name.instant, name.job_id, name.attempts, folder, text, len(data), _STATES[folder])
                self._note_label(entry, data)
                return entry
        found = self._disk.find(self._folders[folder] / text)
        return None if found is None else self._labelled(folder, name, found)

    def _labelled(self, folder: str, name: JobName, found: FoundFile) -> JobEntry:
        entry = JobEntry(name.instant, name.job_id, name.attempts, folder, str(name), found.size, _STATES[folder])
        entry.failed_at = moment(_last_written(found)) if folder == FAILED else None
        self._label(entry)
        return entry

    def _better(self, *twins: JobEntry) -> JobEntry:
        worse, best = sorted(twins, key=lambda entry: (entry.instant, entry.folder == FAILED, entry.attempts))
        message = sentences.log.JOB_TWICE.format(worse=f"{worse.folder}/{worse.name}", best=best.folder)
        log.warning("%s", message)
        self._disk.discard(self._path(worse))
        return best

    def _label(self, entry: JobEntry) -> None:
        """Read from a job's file the fields that the index keeps; leave them empty if it is unreadable."""
        with contextlib.suppress(PermanentError, Vanished):
            self._note_label(entry, self._disk.read(self._path(entry)))

    def _note_label(self, entry: JobEntry, data: bytes) -> None:
        with contextlib.suppress(PermanentError):
            entry.scope, entry.memo = codec.label_of(codec.body_of(data), entry.job_id, moment(entry.instant))

    def _body(self, entry: JobEntry) -> codec.Body:
        return codec.body_of(self._disk.read(self._path(entry)))

    def _move(self, entry: JobEntry, folder: str, *, attempts: int, instant: int | None = None) -> None:
        name = JobName(entry.instant if instant is None else instant, entry.job_id, attempts)
        text = str(name)
        self._disk.move(self._path(entry), self._prefixes[folder] + text)
        entry.folder, entry.name, entry.instant, entry.attempts = folder, text, name.instant, attempts

    def _try_to_sync(self, folder: str) -> None:
        """Sync a folder; errors are only logged, because a power cut would undo the move and lose no job."""
        try:
            self._disk.sync_folder(self._folders[folder])
        except StorageRefused as refused:
            log.warning("%s", refused)

    def _path(self, entry: JobEntry) -> str:
        return self._prefixes[entry.folder] + entry.name


def _is_job_file(name: str) -> bool:
    return name.endswith(SUFFIX) and not name.startswith(".")


def _last_written(found: FoundFile) -> int:
    return min(max(int(found.written_at * 1e6), 0), LATEST)


def counted_jobs(queues: Path) -> QueueCounts:
    """Return the number of jobs in each state, also while another process owns them; blocking, writes nothing."""
    pending, processing, failed = (_entries_in(queues, folder) for folder in _STATES)
    found = (Disk().find(queues / PENDING / entry.name) for entry in pending)
    return QueueCounts(len(pending), len(processing), len(failed), sum(one.size for one in found if one))


def failed_jobs(queues: Path) -> list[FailedJob]:
    """Return the failed jobs, oldest first, also while another process owns them; blocking, writes nothing."""
    found = JobFiles(queues, Disk()).reports(_entries_in(queues, FAILED))
    return sorted(found, key=lambda job: job.failed_at)


def _entries_in(queues: Path, folder: str) -> list[JobEntry]:
    with contextlib.suppress(StorageRefused):
        names = ((parsed(text), text) for text in sorted(Disk().names(queues / folder)))
        return [
            JobEntry(name.instant, name.job_id, name.attempts, folder, text, 0, _STATES[folder])
            for name, text in names
            if name
        ]
    return []
