"""Reads the queue's folders while another process owns them; writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ..domain.job import FailedJob, QueueCounts
from ..durable_files import Disk, Vanished
from ..errors import PermanentError, StorageRefused
from . import codec
from .job_file_names import JobName, moment, parsed

_FOLDERS = ("pending", "processing", "failed")


def counted_jobs(queues: Path) -> QueueCounts:
    """Return the number of jobs in each state; 0 for a folder that does not exist. Blocking."""
    disk = Disk()
    pending, processing, failed = (list(_jobs(disk, queues / folder)) for folder in _FOLDERS)
    found = (disk.find(path) for path, _ in pending)
    size = sum(one.size for one in found if one)
    return QueueCounts(len(pending), len(processing), len(failed), pending_bytes=size)


def failed_jobs(queues: Path) -> list[FailedJob]:
    """Return the failed jobs, oldest first; an unreadable one gives its reason. Blocking."""
    disk = Disk()
    found: list[FailedJob] = []
    for path, name in _jobs(disk, queues / "failed"):
        with suppress(Vanished):
            found.append(_report(disk, path, name))
    return sorted(found, key=lambda job: job.failed_at)


def _jobs(disk: Disk, folder: Path) -> Iterator[tuple[Path, JobName]]:
    with suppress(StorageRefused):
        for text in sorted(disk.names(folder)):
            name = parsed(text)
            if name is not None:
                yield folder / text, name


def _report(disk: Disk, path: Path, name: JobName) -> FailedJob:
    failed_at = moment(name.instant)
    try:
        return codec.failure_of(codec.body_of(disk.read(path)), name.job_id, name.attempts, failed_at)
    except (PermanentError, StorageRefused) as unreadable:
        return FailedJob(name.job_id, str(unreadable), name.attempts, failed_at)
