"""Durable file operations, in one small class so that tests can let any single one of them fail."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, ParamSpec, TypeVar

from ... import sentences
from ...errors import PermanentError, StorageRefused

P = ParamSpec("P")
T = TypeVar("T")
Cleaning = Callable[[bytes], bytes | None]  # gives what is left of a file's bytes; None where it stays as it is
MAX_BYTES = 8 * 1024 * 1024  # no file that is read whole may be larger
PIECE, OVERLAP = 1024 * 1024, 4096  # bytes read at once of a file that is not held whole
TEMP = ".tmp"
_SHARING_VIOLATIONS = (5, 32, 33)  # Windows: a virus scanner or an indexer has the file open for a moment
TRIES = 10
_NO_FOLDER_SYNC = (errno.EINVAL, errno.EBADF, errno.ENOTSUP)  # file systems that know no fsync of a folder
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)  # the process is short of something; the file is not to blame
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@dataclass(frozen=True)
class FoundFile:
    """A plain file in a folder: its name, its size in bytes, and when it was last written, in seconds."""

    name: str
    size: int
    written_at: float


class Disk:
    """Blocking; called in executors only. Refused writes raise StorageRefused and leave nothing half-written."""

    pause = 0.02  # seconds between two tries
    _check: Callable[[], None] | None = None

    def __init__(self, check: Callable[[], None] | None = None) -> None:
        """Ask ``check`` before every write, which raises StorageRefused where none may be made."""
        self._check = check

    def act(self, operation: str, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Make one system call; what another program on Windows holds open for a moment is tried again.

        Never a failed fsync: after one nobody knows what the disk holds.
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
        """Create a folder that only its owner may enter, with its parents; one that stands is narrowed to that."""
        self._ask()
        with refusals(folder):
            is_new = not folder.exists()
            self.act("mkdir", os.makedirs, folder, mode=0o700, exist_ok=True)
            with contextlib.suppress(OSError):  # a folder of somebody else's, or a file system without modes
                self.act("chmod", os.chmod, folder, 0o700)
            if is_new:
                self._sync(folder.parent)

    def names(self, folder: Path) -> list[str]:
        """List what is in a folder, in no order."""
        with refusals(folder):
            return self.act("list", os.listdir, folder)

    def find(self, path: Path) -> FoundFile | None:
        """Return a plain file's entry; None when there is none: links, pipes and folders are not followed or opened."""
        with refusals(path), contextlib.suppress(FileNotFoundError):
            state = self.act("stat", os.lstat, path)
            if stat.S_ISREG(state.st_mode):
                return FoundFile(path.name, state.st_size, state.st_mtime)
        return None

    def changed_at(self, folder: Path) -> int:
        """Return when a name in a folder was last added or removed, in nanoseconds since 1970."""
        with refusals(folder):
            return self.act("stat", os.stat, folder).st_mtime_ns

    def create(self, path: Path, data: bytes) -> None:
        """Write a file that is not there yet; once this returns it outlives a power cut."""
        with refusals(path):
            self._put(path, data)
            try:
                self._sync(path.parent)
            except OSError:
                self.discard(path)
                raise

    def draft(self, path: Path, data: bytes) -> None:
        """Write a file that is to be moved: its content is durable, its name only after :meth:`sync_folder`."""
        with refusals(path):
            try:
                self._write(path, data)
            except OSError:
                self.discard(path)
                raise

    def rewrite(self, path: Path, data: bytes) -> None:
        """Replace a file's content at one stroke: the old or the new, never a part."""
        with refusals(path):
            self._put(path, data)
            self._sync(path.parent)

    def move(self, source: Path, target: Path) -> None:
        """Rename at one stroke; durable after :meth:`sync_folder`. FileNotFoundError when the source is gone."""
        self._ask()
        with refusals(target):
            try:
                self.act("replace", os.replace, source, target)
            except FileNotFoundError:
                if source.exists():
                    raise
                raise Vanished(source) from None

    def sync_folder(self, folder: Path) -> None:
        """Make the names in a folder durable."""
        with refusals(folder):
            self._sync(folder)

    def remove(self, path: Path) -> None:
        """Unlink a file; one that is gone is fine."""
        with refusals(path), contextlib.suppress(FileNotFoundError):
            self.act("unlink", os.unlink, path)

    def clean(self, path: Path, cleaning: Cleaning) -> bytes | None:
        """Replace a file by what a cleaning leaves of it, or remove it; None where it stays. Vanished when it is gone.

        A file over :data:`MAX_BYTES` is judged piece by piece, and stays as it is or goes. One that the disk does not
        give can be judged another time (StorageRefused). A removal is durable after :meth:`sync_folder`.
        """
        try:
            rest = cleaning(self.read(path))
        except PermanentError as unreadable:
            rest = self._clean_in_pieces(path, cleaning, unreadable)
        if rest:
            self.rewrite(path, rest)
        elif rest is not None:
            self.remove(path)
        return rest

    def copy(self, source: Path, target: Path) -> None:
        """Copy a file of any size as it stands, for its owner's eyes only; Vanished when it is gone.

        Its content is durable then, its name after :meth:`sync_folder`.
        """
        try:
            with refusals(target), source.open("rb") as content:
                self._fill(target, content)
        except StorageRefused:
            if self.find(source) is None:
                raise Vanished(source) from None
            raise

    def discard(self, path: Path) -> None:
        """Unlink a file if the disk lets us."""
        with contextlib.suppress(OSError):
            self.act("unlink", os.unlink, path)

    def touch(self, path: Path) -> None:
        """Mark a file as written now, if the disk lets us."""
        with contextlib.suppress(OSError):
            self.act("utime", os.utime, path)

    def read(self, path: Path | str) -> bytes:
        """Return a file's content; PermanentError when it cannot be read or has over :data:`MAX_BYTES`.

        Vanished when it is gone; StorageRefused when the process is short of file handles or memory.
        """
        try:
            return self._content(path)
        except FileNotFoundError:
            raise Vanished(path) from None
        except OSError as error:
            if error.errno in _EXHAUSTED:
                raise StorageRefused(sentences.job_unreadable(reason_of(error))) from error
            raise PermanentError(sentences.job_unreadable(reason_of(error))) from error

    def _clean_in_pieces(self, path: Path, cleaning: Cleaning, unreadable: PermanentError) -> bytes | None:
        found = self.find(path)
        if found is None:
            raise Vanished(path)
        if found.size <= MAX_BYTES:
            raise StorageRefused(str(unreadable))
        with refusals(path):
            return b"" if any(cleaning(piece) is not None for piece in _pieces(path)) else None

    def _put(self, path: Path, data: bytes) -> None:
        temp = path.with_name(path.name + TEMP)
        try:
            self._write(temp, data)
            self.act("replace", os.replace, temp, path)
        except OSError:
            self.discard(temp)
            raise

    def _write(self, path: Path, data: bytes) -> None:
        self._fill(path, io.BytesIO(data))

    def _ask(self) -> None:
        if self._check is not None:
            self._check()

    def _fill(self, path: Path, content: BinaryIO) -> None:
        self._ask()
        descriptor = self.act("open", os.open, path, _CREATE, 0o600)
        try:
            while piece := content.read(PIECE):
                rest = memoryview(piece)
                while rest:
                    written = self.act("write", os.write, descriptor, rest)
                    rest = rest[written:]
            self.act("fsync", os.fsync, descriptor)
        finally:
            self.act("close", os.close, descriptor)

    def _sync(self, folder: Path) -> None:
        if os.name == "nt":
            return  # Windows has no fsync of folders
        descriptor = self.act("open", os.open, folder, os.O_RDONLY)
        try:
            self.act("fsync", os.fsync, descriptor)
        except OSError as error:
            if error.errno not in _NO_FOLDER_SYNC:
                raise
        finally:
            self.act("close", os.close, descriptor)

    def _content(self, path: Path | str) -> bytes:
        descriptor = self.act("open", os.open, path, _READ)
        try:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode):
                raise PermanentError(sentences.job_unreadable(sentences.not_a_file()))
            if state.st_size > MAX_BYTES:
                raise PermanentError(sentences.job_too_large(state.st_size, MAX_BYTES))
            return self._bytes(descriptor, state.st_size)
        finally:
            os.close(descriptor)

    def _bytes(self, descriptor: int, size: int) -> bytes:
        """Read to the end, also of a file that grows meanwhile, but no more than is read whole."""
        data = b""
        while len(data) <= MAX_BYTES and (part := self.act("read", os.read, descriptor, max(size - len(data), 0) + 1)):
            data += part
            if len(data) == size:
                break  # it was asked for one byte more, and there was none
        return data


class Vanished(Exception):
    """A file is gone that stood there: somebody took it away by hand."""


@contextlib.contextmanager
def refusals(path: Path) -> Generator[None, None, None]:
    """Turn what the system says about a write into the one error that callers know."""
    try:
        yield
    except OSError as error:
        raise StorageRefused(sentences.storage_refused(path, reason_of(error))) from error


def _pieces(path: Path) -> Generator[bytes, None, None]:
    """Read a file piece by piece; each begins with the end of the one before."""
    with path.open("rb") as content:
        piece = content.read(PIECE)
        while piece:
            yield piece
            more = content.read(PIECE)
            piece = piece[-OVERLAP:] + more if more else b""


def is_withheld(unreadable: PermanentError) -> bool:
    """Return whether the disk did not give a file that may be whole: it can be read another time. A link never is."""
    cause = unreadable.__cause__
    return isinstance(cause, OSError) and cause.errno != errno.ELOOP


def reason_of(error: OSError) -> str:
    """Describe the system's error in a few words."""
    return error.strerror or type(error).__name__
