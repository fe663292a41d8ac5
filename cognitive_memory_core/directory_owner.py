"""Owns a data directory, so that no other process writes into it, and notices if it is replaced."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from . import sentences
from .disk import Disk, identity, refusals
from .errors import DirectoryInUse, StorageRefused
from .tasks import completed

log = logging.getLogger(__name__)
LEDGER, LOCK = "ledger.db", "owner.lock"
_PAUSE = 0.1  # seconds between two tries


class DirectoryOwner:
    """Owns a data directory from :meth:`acquire` to :meth:`release` or the end of the process."""

    def __init__(self, data_dir: Path) -> None:
        """Initialise without touching the disk."""
        self._data_dir = data_dir
        self._lock: Any = FileLock(data_dir / LOCK, mode=0o600, thread_local=False)
        self._known: dict[str, tuple[int, int] | None] = {}  # by path; a text, because every write looks
        self._is_lost = False

    def watch(self, path: Path) -> None:
        """Record the identity of the file at a path; :meth:`problem` then reports its loss or replacement. Blocking."""
        self._known[str(path)] = identity(str(path))

    def problem(self) -> str:
        """Return why nothing may be written; "" if the directory is still the one that was opened. Blocking.

        If the directory is deleted, renamed or replaced, a process with open files can still write to them, and what it
        writes is lost. Each change of state is logged once.
        """
        is_lost = any(identity(path) != known for path, known in self._known.items())
        message = sentences.storage_errors.DIRECTORY_VANISHED.format(path=self._data_dir) if is_lost else ""
        if is_lost and not self._is_lost:
            log.error("%s", message)
        self._is_lost = is_lost
        return message

    def check(self) -> None:
        """Raise StorageRefused if the directory is no longer the one that was opened; blocking."""
        if problem := self.problem():
            raise StorageRefused(problem)

    async def acquire(self, timeout: float) -> None:
        """Own the directory, creating it if needed; wait up to ``timeout`` seconds for its current owner to end.

        Raises DirectoryInUse if the owner stays, StorageRefused if the directory is not writable.
        """
        clock = asyncio.get_running_loop()
        deadline, has_told = clock.time() + timeout, False
        while True:
            try:
                if await completed(asyncio.to_thread(self._try_to_lock)):
                    return
            except asyncio.CancelledError:
                self.release()  # its caller is gone and cannot release it
                raise
            if not has_told and timeout > 0:
                has_told = True
                log.info("%s", sentences.log.WAITS_FOR_OWNER.format(path=self._data_dir, seconds=timeout))
            if clock.time() >= deadline:
                raise DirectoryInUse(sentences.storage_errors.DIRECTORY_IN_USE.format(path=self._data_dir))
            await asyncio.sleep(_PAUSE)

    def release(self) -> None:
        """Release the directory; does nothing if it is not held."""
        self._lock.release()

    def _try_to_lock(self) -> bool:
        Disk().make_folder(self._data_dir)
        with refusals(self._data_dir):
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                return False
            except NotImplementedError as unsupported:  # a file system without locks
                raise StorageRefused(
                    sentences.storage_errors.STORAGE_REFUSED.format(path=self._data_dir, reason=unsupported)
                ) from unsupported
        self.watch(self._data_dir / LOCK)
        return True


def is_owned(data_dir: Path) -> bool:
    """Return whether a process owns a data directory now; creates nothing. Blocking."""
    if not (data_dir / LOCK).exists():
        return False
    lock: Any = FileLock(data_dir / LOCK, mode=0o600, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except (OSError, NotImplementedError):
        return False
    lock.release()
    return False
