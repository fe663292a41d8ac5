"""One owner of the data directory, by a lock of the operating system: it ends with its process, however that ends."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout

from ... import sentences
from ...completion import completed
from ...errors import DirectoryInUse, StorageRefused
from .disk import Disk, refusals

LOCK = "owner.lock"
_PAUSE = 0.1  # seconds between two tries


class _Lock(Protocol):
    """What is used of a FileLock, whose own types are open."""

    def acquire(self, timeout: float) -> object: ...

    def release(self) -> None: ...


class DirectoryOwner:
    """Holds a data directory from :meth:`acquire` to :meth:`release` or to the end of the process."""

    def __init__(self, data_dir: Path) -> None:
        """Touch nothing yet."""
        self._data_dir = data_dir
        self._lock: _Lock = FileLock(data_dir / LOCK, mode=0o600, thread_local=False)

    async def acquire(self, timeout: float) -> None:
        """Own the directory, created where it is missing, or wait ``timeout`` seconds for its owner to end.

        DirectoryInUse when the owner stays, StorageRefused when the directory cannot be written to.
        """
        clock = asyncio.get_running_loop()
        deadline = clock.time() + timeout
        while not await self._has_got():
            if clock.time() >= deadline:
                raise DirectoryInUse(sentences.directory_in_use(self._data_dir))
            await asyncio.sleep(_PAUSE)

    def release(self) -> None:
        """Let the directory go; one that is not held is left alone."""
        self._lock.release()

    async def _has_got(self) -> bool:
        try:
            return await completed(asyncio.to_thread(self._try_to_get))
        except asyncio.CancelledError:
            self.release()  # nobody is left who would
            raise

    def _try_to_get(self) -> bool:
        Disk().make_folder(self._data_dir)
        with refusals(self._data_dir):
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                return False
            except NotImplementedError as unsupported:  # a file system without locks
                raise StorageRefused(sentences.storage_refused(self._data_dir, unsupported)) from unsupported
        return True
