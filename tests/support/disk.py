"""Disks that fail, kill the process or lose power at a chosen operation, and record all operations."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cognitive_memory_core.disk import Disk


class Killed(BaseException):
    """Raised where the process would end: none of its code runs after this."""


@dataclass(frozen=True)
class Fault:
    """The effect of the ``at``-th operation from now: an error (``code``), or the end of the process (None).

    With ``always`` all later operations fail too; with ``late`` the operation takes effect first. A failing write
    writes half of its data.
    """

    at: int
    code: int | None
    always: bool = False
    late: bool = False


class FaultyDisk(Disk):
    """A real disk with one fault.

    ``performed`` lists every operation with its path, ``renamed`` the target of each "replace" by its index there.
    fsync is recorded but not executed: no test cuts the real power, and hundreds of calls would wait for the disk.
    """

    syncs = False

    def __init__(self) -> None:
        """Start without a fault."""
        self.performed: list[tuple[str, str]] = []
        self.renamed: dict[int, Path] = {}
        self.fault: Fault | None = None
        self.gate: threading.Event | None = None  # while it is not set, renames wait
        self.full = False  # writes fail, renames and unlinks do not
        self._since = 0
        self._opened: dict[int, str] = {}

    def arm(self, fault: Fault | None) -> None:
        """Set the fault and restart the count; None removes it."""
        self.fault = fault
        self._since = 0

    @property
    def has_struck(self) -> bool:
        """Return whether the fault has struck."""
        return self.fault is not None and self._since >= self.fault.at

    def act(self, operation: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Record the operation, and fail if its number is reached."""
        where = self._opened.get(args[0], "") if isinstance(args[0], int) else str(args[0])
        self.performed.append((operation, where))
        if operation == "replace":
            self.renamed[len(self.performed) - 1] = Path(args[1])
        self._since += 1
        if self.gate is not None and operation == "replace":
            self.gate.wait(10)
        if self.full and operation == "write":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if operation == "close" or not self._is_due():
            return self._effect(operation, call, *args, **kwargs)
        assert self.fault is not None
        if self.fault.late:
            self._effect(operation, call, *args, **kwargs)
        elif operation == "write":
            call(args[0], args[1][: len(args[1]) // 2])
        if self.fault.code is None:
            raise Killed
        raise OSError(self.fault.code, os.strerror(self.fault.code))

    def _is_due(self) -> bool:
        fault = self.fault
        if fault is None:
            return False
        goes_on = fault.always or fault.code is None
        return self._since >= fault.at if goes_on else self._since == fault.at

    def _effect(self, operation: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if operation == "fsync" and not self.syncs:
            return None
        result = super().act(operation, call, *args, **kwargs)
        if operation == "open":
            self._opened[result] = str(args[0])
        elif operation == "close":
            self._opened.pop(args[0], None)
        return result


class FragileDisk(FaultyDisk):
    """A disk behind a volatile cache: after a power cut it holds only what was fsynced.

    A file keeps the content of its last fsync, a folder the names of files of its last fsync; a name whose file was
    never fsynced becomes empty.
    """

    def __init__(self, *folders: Path) -> None:
        """Track folders; their current content is durable."""
        super().__init__()
        self._synced: dict[str, bytes] = {}
        self._durable: dict[Path, dict[str, bytes]] = {}
        self.trust(*folders)

    def trust(self, *folders: Path) -> None:
        """Treat the current content of folders as durable."""
        for folder in folders:
            self._synced |= {str(path): path.read_bytes() for path in folder.glob("*")}
            self._keep(folder)

    def cut_power(self) -> None:
        """Discard everything that was not fsynced."""
        for folder, names in self._durable.items():
            for path in filter(Path.is_file, folder.iterdir()):
                path.unlink()
            for name, content in names.items():
                (folder / name).write_bytes(content)

    def _effect(self, operation: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        result = super()._effect(operation, call, *args, **kwargs)
        if operation == "replace":
            self._synced[str(args[1])] = self._synced.pop(str(args[0]), b"")
        elif operation == "unlink":
            self._synced.pop(str(args[0]), None)
        elif operation == "fsync":
            self._note_sync(Path(self._opened[args[0]]))
        return result

    def _note_sync(self, path: Path) -> None:
        if path.is_dir():
            self._keep(path)
        else:
            self._synced[str(path)] = path.read_bytes()

    def _keep(self, folder: Path) -> None:
        files = filter(Path.is_file, folder.glob("*"))
        self._durable[folder] = {path.name: self._synced.get(str(path), b"") for path in files}
