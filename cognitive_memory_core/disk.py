"""Durable file operations: the only place that calls fsync. Tests can let any single system call fail."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, ParamSpec, TypeVar

from . import sentences
from .errors import CognitiveMemoryError, PermanentError, StorageRefused

P = ParamSpec("P")
T = TypeVar("T")
Cleaning = Callable[[bytes], bytes | None]  # returns the remaining content of a file; None if it is unchanged
MAX_BYTES = 8 * 1024 * 1024  # limit of files that are read completely
PIECE = 1024 * 1024  # bytes copied at once
TEMP = ".tmp"
_SHARING_VIOLATIONS = (5, 32, 33)  # Windows: a virus scanner or an indexer has the file open
TRIES = 10
_NO_FOLDER_SYNC = (errno.EINVAL, errno.EBADF, errno.ENOTSUP)  # file systems without fsync of folders
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)  # the process lacks resources; the file is not at fault
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@dataclass(frozen=True)
class FoundFile:
    """A regular file in a folder: its name, its size in bytes, and its time of modification in seconds."""

    name: str
    size: int
    written_at: float


class Disk:
    """Blocking file operations. A refused write raises StorageRefused and leaves no incomplete file.

    A path may be a text: making a Path costs more than a look at the file.
    """

    pause = 0.02  # seconds between two tries
    _check: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, check: Callable[[], None] = lambda: None) -> None:
        """Call ``check`` before every write; it raises StorageRefused if writing is not allowed."""
        self._check = check

    def act(self, operation: str, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Make one system call; repeat it on Windows while another program holds the file open.

        A failed fsync is not repeated, because afterwards the content on disk is unknown.
        """
        tries = 1 if operation == "fsync" else TRIES
        while True:
            tries -= 1
            try:
                return call(*args, **kwargs)
            except OSError as error:
                if not tries or getattr(error, "winerror", None) not in _SHARING_VIOLATIONS:
                    raise
            time.sleep(self.pause)

    def make_folder(self, folder: Path) -> None:
        """Create a folder and its parents with mode 0700; an existing folder gets that mode."""
        self._check()
        with refusals(folder):
            is_new = not folder.exists()
            self.act("mkdir", os.makedirs, folder, mode=0o700, exist_ok=True)
            with contextlib.suppress(OSError):  # another user's folder, or a file system without modes
                self.act("chmod", os.chmod, folder, 0o700)
            if is_new:
                self.sync_folder(folder.parent)

    def names(self, folder: Path | str) -> list[str]:
        """Return the names in a folder, unordered."""
        with refusals(folder):
            return self.act("list", os.listdir, folder)

    def listed(self, folder: Path) -> list[str]:
        """Return the sorted names in a folder; empty if it is missing or a link."""
        with refusals(folder), contextlib.suppress(FileNotFoundError, NotADirectoryError):
            if stat.S_ISDIR(folder.lstat().st_mode):
                return sorted(self.names(folder))
        return []

    def find(self, path: Path | str) -> FoundFile | None:
        """Return a regular file's entry, or None; links, pipes and folders are neither followed nor opened."""
        with refusals(path), contextlib.suppress(FileNotFoundError):
            state = self.act("stat", os.lstat, path)
            if stat.S_ISREG(state.st_mode):
                return FoundFile(Path(path).name, state.st_size, state.st_mtime)
        return None

    def changed_at(self, folder: Path) -> int:
        """Return when a name in a folder was last added or removed, in nanoseconds since the epoch."""
        with refusals(folder):
            return self.act("stat", os.stat, folder).st_mtime_ns

    def create(self, path: Path | str, data: bytes) -> None:
        """Write a new file; it is durable once this returns."""
        self._put(path, data)
        try:
            self.sync_folder(_folder_of(path))
        except StorageRefused:
            self.discard(path)
            raise

    def draft(self, path: Path, data: bytes) -> None:
        """Write a file that will be renamed; its content is durable on return, its name after :meth:`sync_folder`."""
        with refusals(path):
            self._fill(path, io.BytesIO(data))

    def rewrite(self, path: Path | str, data: bytes) -> None:
        """Replace a file's content atomically and durably."""
        self._put(path, data)
        self.sync_folder(_folder_of(path))

    def move(self, source: Path | str, target: Path | str) -> None:
        """Rename atomically; durable after :meth:`sync_folder`. Raises Vanished if the source is gone."""
        self._check()
        with refusals(target):
            try:
                self.act("replace", os.replace, source, target)
            except FileNotFoundError:
                if Path(source).exists():
                    raise
                raise Vanished(source) from None

    def put_in_place(self, draft: Path, path: Path) -> None:
        """Rename a draft whose content is durable to its final name, durably; an earlier file of that name is replaced.

        Raises Vanished if the draft no longer exists.
        """
        self.move(draft, path)
        self.sync_folder(_folder_of(path))

    def sync_file(self, path: Path) -> None:
        """Sync a file that another library wrote, so that its content is durable."""
        with refusals(path):
            descriptor = self.act("open", os.open, path, os.O_RDWR | getattr(os, "O_BINARY", 0))
            try:
                self.act("fsync", os.fsync, descriptor)
            finally:
                self.act("close", os.close, descriptor)

    def sync_folder(self, folder: Path | str) -> None:
        """Make the directory entries of a folder durable."""
        if os.name == "nt":
            return  # Windows has no fsync for directories
        with refusals(folder):
            descriptor = self.act("open", os.open, folder, os.O_RDONLY)
            try:
                self.act("fsync", os.fsync, descriptor)
            except OSError as error:
                if error.errno not in _NO_FOLDER_SYNC:
                    raise
            finally:
                self.act("close", os.close, descriptor)

    def remove(self, path: Path | str) -> None:
        """Unlink a file; does nothing if it is gone."""
        with refusals(path), contextlib.suppress(FileNotFoundError):
            self.act("unlink", os.unlink, path)

    def clean(self, path: Path | str, cleaning: Cleaning) -> bytes | None:
        """Rewrite or remove a file as ``cleaning`` decides; return its new content.

        That is b"" if the file was removed, None if it is unchanged or was gone already. The file may have any size.
        Raises StorageRefused if the disk failed to deliver the file; the caller may repeat the call then. A removal is
        durable after :meth:`sync_folder`.
        """
        try:
            rest = cleaning(self.read(path, sys.maxsize))
        except Vanished:
            return None
        except PermanentError as unreadable:
            if self.find(path) is None:  # a link, or a folder
                return None
            raise StorageRefused(str(unreadable)) from unreadable
        if rest:
            self.rewrite(path, rest)
        elif rest is not None:
            self.remove(path)
        return rest

    def copy(self, source: Path, target: Path) -> None:
        """Copy a file of any size, readable by its owner alone; raises Vanished if it is gone.

        The content is durable on return, the name after :meth:`sync_folder`.
        """
        try:
            with refusals(target), source.open("rb") as content:
                self._fill(target, content)
        except StorageRefused:
            if self.find(source) is None:
                raise Vanished(source) from None
            raise

    def discard(self, path: Path | str) -> None:
        """Unlink a file; errors are ignored."""
        with contextlib.suppress(OSError):
            self.act("unlink", os.unlink, path)

    def touch(self, path: Path | str) -> None:
        """Set a file's modification time to now; errors are ignored."""
        with contextlib.suppress(OSError):
            self.act("utime", os.utime, path)

    def read(self, path: Path | str, limit: int = MAX_BYTES) -> bytes:
        """Return a file's content; raises PermanentError if it is unreadable or larger than ``limit``.

        Raises Vanished if it is gone, StorageRefused if the process lacks file handles or memory.
        """
        words = sentences.storage_errors
        try:
            descriptor = self.act("open", os.open, path, _READ)
            try:
                state = os.fstat(descriptor)
                if not stat.S_ISREG(state.st_mode):
                    raise PermanentError(words.FILE_UNREADABLE.format(reason=words.NOT_A_FILE))
                if state.st_size > limit:
                    raise PermanentError(words.JOB_TOO_LARGE.format(size=state.st_size, limit=limit))
                size, data = state.st_size, b""
                while len(data) <= limit:  # it may grow meanwhile
                    part = self.act("read", os.read, descriptor, max(size - len(data), 0) + 1)
                    data += part
                    if not part or len(data) == size:
                        break  # one byte more was requested and there was none
                return data
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            raise Vanished(path) from None
        except OSError as error:
            kind = StorageRefused if error.errno in _EXHAUSTED else PermanentError
            raise kind(words.FILE_UNREADABLE.format(reason=reason_of(error))) from error

    def _put(self, path: Path | str, data: bytes) -> None:
        temp = os.fspath(path) + TEMP
        with refusals(path):
            self._fill(temp, io.BytesIO(data))
            try:
                self.act("replace", os.replace, temp, path)
            except OSError:
                self.discard(temp)
                raise

    def _fill(self, path: Path | str, content: BinaryIO) -> None:
        self._check()
        try:
            descriptor = self.act("open", os.open, path, _CREATE, 0o600)
            try:
                while piece := content.read(PIECE):
                    rest = memoryview(piece)
                    while rest:
                        rest = rest[self.act("write", os.write, descriptor, rest) :]
                self.act("fsync", os.fsync, descriptor)
            finally:
                self.act("close", os.close, descriptor)
        except OSError:
            self.discard(path)
            raise


class Vanished(Exception):
    """A file that was expected to exist is gone: somebody else removed it."""


@contextlib.contextmanager
def refusals(path: Path | str, told: str = "") -> Generator[None, None, None]:
    """Raise StorageRefused, with the message ``told`` if there is one, for an OSError raised in the ``with`` block."""
    try:
        yield
    except OSError as error:
        said = told or sentences.storage_errors.STORAGE_REFUSED
        raise StorageRefused(said.format(path=path, reason=reason_of(error))) from error


def _folder_of(path: Path | str) -> str:
    return os.path.dirname(path)  # noqa: PTH120  # a Path a file costs more than writing it


def decodings(data: bytes) -> list[str]:
    """Return the texts that a file's bytes may stand for, in the encodings that editors commonly write."""
    wide = ("utf-16-le", "utf-16-be")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return [data.decode(encoding, "replace") for encoding in ("utf-8", "gb18030", *wide)]
    return [text, *(data.decode(encoding, "replace") for encoding in wide if "\0" in text)]


def is_withheld(unreadable: CognitiveMemoryError) -> bool:
    """Return whether the disk failed to deliver an unreadable file, which may be intact; False for links."""
    cause = unreadable.__cause__
    return isinstance(cause, OSError) and cause.errno != errno.ELOOP


def reason_of(error: OSError) -> str:
    """Return the error's message, or its type if it has none."""
    return error.strerror or type(error).__name__


def identity(path: Path | str) -> tuple[int, int] | None:
    """Return device and inode of the file at a path, by which a replaced file is recognised; None if there is none."""
    try:
        state = os.stat(path)  # noqa: PTH116  # a Path would take longer than the look
    except OSError:
        return None
    return state.st_dev, state.st_ino
