"""The child process that runs Chroma: reads requests from stdin, writes answers to stdout, ends when stdin is closed.

Started by :mod:`.process` as ``python -m``, never by hand.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from filelock import FileLock, Timeout

from .frames import encoded, read_frame
from .protocol import Answer, Envelope, Failed, Request, Start, framed, unframed

try:
    import resource
except ImportError:  # Windows
    resource = None

if TYPE_CHECKING:
    from .generation_requests import GenerationRequests

LOCK = "child.lock"
_OWNER_ONLY = 0o077


class _ChildLock(Protocol):
    """The methods of FileLock that this module calls, fully annotated; the library's own annotations are incomplete."""

    def acquire(self, timeout: float) -> object: ...


class Wire:
    """Reads requests and writes answers."""

    def __init__(self) -> None:
        """Reserve stdout for answers; whatever a library prints goes to stderr."""
        self._input = io.open(0, "rb", closefd=False)  # noqa: UP020, SIM115  # for the life of the process
        self._output = io.open(os.dup(1), "wb")  # noqa: UP020, SIM115  # the same
        os.dup2(2, 1)

    def next(self) -> Envelope | None:
        """Wait for a request; return None when the input is closed."""
        frame = read_frame(self._input)
        return None if frame is None else unframed(frame)

    def send(self, number: int, answer: Answer) -> None:
        """Send the answer to a request."""
        self.write(encoded(framed(Envelope(number, answer, resident_bytes()))))

    def write(self, content: bytes) -> None:
        """Write the bytes and flush."""
        self._output.write(content)
        self._output.flush()


def main() -> None:
    """Serve requests until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the bot ends this process by closing the input
    os.umask(_OWNER_ONLY)
    wire = Wire()
    os.chdir(Path(__file__).parent)  # chromadb reads .env from the working directory
    with contextlib.suppress(BrokenPipeError):
        _serve(wire)


def _serve(wire: Wire) -> None:
    first = wire.next()
    if first is None or not isinstance(first.body, Start):
        return
    path = Path(first.body.folder) / LOCK
    lock: _ChildLock = FileLock(path, mode=0o600)  # held until the process ends
    generations = _opened(first.body, lock)
    if isinstance(generations, Failed):
        wire.send(first.number, generations)
        return
    held = _identity(path)
    wire.send(first.number, _attempted(generations.answer, first.body))
    while (envelope := wire.next()) is not None:
        if held is None or _identity(path) != held:  # a new process would not see our lock
            wire.send(envelope.number, Failed("gone"))
            return
        wire.send(envelope.number, _attempted(generations.answer, envelope.body))


def _opened(start: Start, lock: _ChildLock) -> GenerationRequests | Failed:
    try:
        Path(start.folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        lock.acquire(timeout=start.patience)
    except Timeout:
        return Failed("locked")
    except (OSError, NotImplementedError) as refused:
        return Failed("failed", type(refused).__name__)
    return _made(start)


def _made(start: Start) -> GenerationRequests | Failed:
    try:
        from .generation_requests import GenerationRequests  # noqa: PLC0415  # not before the lock and the output are ours
    except Exception as missing:  # noqa: BLE001  # what a broken installation raises is anybody's guess
        return Failed("missing", f"{type(missing).__name__}: {getattr(missing, 'name', '') or ''}")
    try:
        return GenerationRequests(start)
    except Exception as away:  # noqa: BLE001  # a server that is away has many names
        return Failed("failed", type(away).__name__)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_dev, state.st_ino


def _attempted(answer: Callable[[Request | Answer], Answer], request: Request | Answer) -> Answer:
    try:
        return answer(request)
    except Exception as error:  # noqa: BLE001  # the process's main: whatever Chroma raises is its answer
        return Failed("failed", type(error).__name__)  # its message might quote stored text


def resident_bytes() -> int | None:
    """Return this process's resident memory in bytes; its peak if only that is known, None if neither is."""
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return None if resource is None else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
