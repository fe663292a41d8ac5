"""Tests of durable file operations and of their failures."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cognitive_memory_core.disk import MAX_BYTES, Disk, Vanished
from cognitive_memory_core.errors import PermanentError, StorageRefused
from tests.support.disk import Fault, FaultyDisk

CLOSE_OF_FILE, CLOSE_OF_FOLDER = 4, 8  # open, write, fsync, close, replace; open, fsync, close


class BusyDisk(FaultyDisk):
    """A disk like on Windows where another program has files open for ``times`` operations."""

    pause = 0.0
    syncs = True

    def __init__(self, operation: str, times: int, winerror: int = 32) -> None:
        """Refuse one kind of operation for a while."""
        super().__init__()
        self.operation, self.times, self.winerror = operation, times, winerror

    def act(self, operation: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Refuse inside the call, where the operating system would."""

        def refused(*inner: Any, **named: Any) -> Any:
            if operation == self.operation and self.times:
                self.times -= 1
                error = PermissionError(errno.EACCES, "in use")
                error.winerror = self.winerror  # pyright: ignore[reportAttributeAccessIssue]  # only Windows has it
                raise error
            return call(*inner, **named)

        return super().act(operation, refused, *args, **kwargs)


def test_a_write_in_several_pieces_is_whole(tmp_path: Path):
    """If the system writes only a part at a time, the rest is written too."""

    class Narrow(Disk):
        def act(self, operation: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            if operation == "write":
                return os.write(args[0], args[1][:3])
            return super().act(operation, call, *args, **kwargs)

    Narrow().create(tmp_path / "a", b"0123456789")
    assert (tmp_path / "a").read_bytes() == b"0123456789"


@pytest.mark.parametrize("winerror", [5, 32, 33])
def test_a_file_in_use_on_windows_is_waited_for(tmp_path: Path, winerror: int):
    """A short sharing violation on Windows is retried."""
    disk = BusyDisk("replace", 3, winerror)
    disk.create(tmp_path / "a", b"x")
    assert disk.times == 0
    assert (tmp_path / "a").read_bytes() == b"x"


def test_reading_is_bounded_by_size_before_a_byte_is_read(tmp_path: Path):
    """A file over the size limit is refused before it is read."""
    path = tmp_path / "a"
    path.write_bytes(b"")
    os.truncate(path, MAX_BYTES + 1)
    disk = FaultyDisk()
    with pytest.raises(PermanentError, match=str(MAX_BYTES)):
        disk.read(path)
    assert "read" not in {operation for operation, _ in disk.performed}


def test_only_plain_files_are_read(tmp_path: Path):
    """A pipe, a link and a folder are refused instead of read."""
    (tmp_path / "real").write_bytes(b"secret")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "folder", "pipe"):
        assert Disk().find(tmp_path / name) is None
        with pytest.raises(PermanentError):
            Disk().read(tmp_path / name)
    with pytest.raises(Vanished):
        Disk().read(tmp_path / "nothing")
    assert Disk().read(tmp_path / "real") == b"secret"


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
def test_a_process_that_is_short_of_something_blames_no_file(tmp_path: Path, code: int):
    """Running out of file handles or memory is not reported as damage of the file."""
    (tmp_path / "a").write_bytes(b"x")
    disk = FaultyDisk()
    disk.arm(Fault(1, code))
    with pytest.raises(StorageRefused):
        disk.read(tmp_path / "a")
    disk.arm(Fault(1, errno.EIO))
    with pytest.raises(PermanentError):
        disk.read(tmp_path / "a")
