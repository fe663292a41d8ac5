"""Disks that fail, die or lose power exactly when a test says so, and one that tells what was asked of it."""

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
    """The process ends here: nothing of ours runs any more."""


@dataclass(frozen=True)
class Fault:
    """What happens at the ``at``-th operation from now: an error (``code``), or the end of the process (None).

    ``always`` goes on failing; ``late`` lets the operation take effect first. A failing write writes a half.
    """

    at: int
    code: int | None
    always: bool = False
    late: bool = False


class FaultyDisk(Disk):
    """A real disk with one fault.

    ``performed`` names every operation and its path, ``renamed`` the target of each "replace" by its place there. It
    fsyncs in name only: no test cuts the real power, and hundreds of them would wait for the real disk.
    """

    syncs = False

    def __init__(self) -> None:
        """Work well until told otherwise."""
        self.performed: list[tuple[str, str]] = []
        self.renamed: dict[int, Path] = {}
        self.fault: Fault | None = None
        self.gate: threading.Event | None = None  # while it is closed, renames wait
        self.full = False  # writing fails, renaming and unlinking do not
        self._since = 0
        self._opened: dict[int, str] = {}

    def arm(self, fault: Fault | None) -> None:
        """Set the fault and count from here; None mends the disk."""
        self.fault = fault
        self._since = 0

    @property
    def has_struck(self) -> bool:
        """Whether the fault has come."""
        return self.fault is not None and self._since >= self.fault.at

    def act(self, operation: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Note the operation, and fail if its number is up."""
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
    """A disk behind the worst cache there is: after a power cut it holds only what was fsynced.

    A file's content counts as of its last fsync, a folder's names as of the folder's last fsync; a name whose file
    never was fsynced comes back empty.
    """

    def __init__(self, *folders: Path) -> None:
        """Watch folders; what lies in them now is durable."""
        super().__init__()
        self._synced: dict[str, bytes] = {}
        self._durable: dict[Path, dict[str, bytes]] = {}
        self.trust(*folders)

    def trust(self, *folders: Path) -> None:
        """Take what lies in folders now for durable."""
        for folder in folders:
            self._synced |= {str(path): path.read_bytes() for path in folder.glob("*")}
            self._keep(folder)

    def cut_power(self) -> None:
        """Let everything go that was not fsynced."""
        for folder, names in self._durable.items():
            for path in folder.iterdir():
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
        self._durable[folder] = {path.name: self._synced.get(str(path), b"") for path in folder.glob("*")}
