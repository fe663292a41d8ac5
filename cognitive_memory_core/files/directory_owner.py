"""Exclusive ownership of the data directory by an operating system lock, which ends with the process."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout

from .. import sentences
from ..cancellation import completed
from ..durable_files import Disk, refusals
from ..errors import DirectoryInUse, StorageRefused

log = logging.getLogger(__name__)
LOCK = "owner.lock"
_PAUSE = 0.1  # seconds between two tries


class _OwnerLock(Protocol):
    """The methods of FileLock that this module calls, fully annotated; the library's own annotations are incomplete."""

    def acquire(self, timeout: float) -> object: ...

    def release(self) -> None: ...


class DirectoryOwner:
    """Owns a data directory from :meth:`acquire` to :meth:`release` or the end of the process."""

    def __init__(self, data_dir: Path) -> None:
        """Initialise without touching the disk."""
        self._data_dir = data_dir
        self._lock = _owner_lock(data_dir)
        self._known: dict[str, tuple[int, int] | None] = {}  # by path; a text, because every write looks
        self._is_lost = False

    def watch(self, path: Path) -> None:
        """Record the identity of the file at a path; :meth:`problem` then reports its loss or replacement. Blocking."""
        self._known[str(path)] = _identity(str(path))

    def problem(self) -> str:
        """Return why nothing may be written; "" if the directory is still the one that was opened. Blocking.

        If the directory is deleted, renamed or replaced, a process with open files can still write to them, and what it
        writes is lost. Each change of state is logged once.
        """
        is_lost = any(_identity(path) != identity for path, identity in self._known.items())
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
        while not await self._has_acquired():
            if not has_told and timeout > 0:
                has_told = True
                log.info("%s", sentences.log.WAITS_FOR_OWNER.format(path=self._data_dir, seconds=timeout))
            if clock.time() >= deadline:
                raise DirectoryInUse(sentences.storage_errors.DIRECTORY_IN_USE.format(path=self._data_dir))
            await asyncio.sleep(_PAUSE)

    def release(self) -> None:
        """Release the directory; does nothing if it is not held."""
        self._lock.release()

    async def _has_acquired(self) -> bool:
        try:
            return await completed(asyncio.to_thread(self._try_to_lock))
        except asyncio.CancelledError:
            self.release()  # its caller is gone and cannot release it
            raise

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
    lock = _owner_lock(data_dir)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except (OSError, NotImplementedError):
        return False
    lock.release()
    return False


def _owner_lock(data_dir: Path) -> _OwnerLock:
    return FileLock(data_dir / LOCK, mode=0o600, thread_local=False)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        state = os.stat(path)  # noqa: PTH116  # a Path would take longer than the look
    except OSError:
        return None
    return state.st_dev, state.st_ino
