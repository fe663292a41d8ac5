"""Chroma's process as seen from the bot: one request at a time, with time limits and restarts."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import orjson

from ... import sentences
from ...errors import BadArgument, Busy, UnavailableError
from ...tasks import seen
from .location import IndexLocation

T = TypeVar("T")
Child = subprocess.Popen[bytes]
Json = Mapping[str, Any]
_PACKAGE = __package__ or ""
_ROOT = Path(__file__).resolve().parents[len(_PACKAGE.split("."))]
_PASSED_ON = (
    *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
    *("PYTHONHOME", "VIRTUAL_ENV", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "COMSPEC"),
)
COMMAND = (sys.executable or "python", "-m", f"{_PACKAGE}.child")
LONGEST = 128 * 1024 * 1024  # bytes of an answer


@dataclass(frozen=True)
class Bounds:
    """Time limits in seconds.

    ``queueing`` is how long a search waits for another request to finish, ``searching`` how long for its answer. The
    process is killed if a search runs for ``hanging``.
    """

    locking: float = 15.0
    starting: float = 90.0
    opening: float = 120.0
    writing: float = 60.0
    queueing: float = 0.5
    searching: float = 2.0
    hanging: float = 10.0
    closing: float = 5.0


class Lost(UnavailableError):
    """No process has the generation open: it was not opened since the start, removed, or replaced."""


class ProcessDied(Lost):
    """The process ended during the request; ``is_hung`` if it was killed for taking too long."""

    is_hung = False


class ChromaProcess:
    """Starts the process with the first request and runs one request at a time; the others wait."""

    def __init__(self, location: IndexLocation, bounds: Bounds | None = None, command: Sequence[str] = COMMAND) -> None:
        """Initialise without starting the process."""
        self._location = location
        self._bounds = bounds or Bounds()
        self._command = command
        self._turn = asyncio.Lock()
        self._requests: set[asyncio.Task[Any]] = set()
        self._child: Child | None = None
        self._is_closed = False

    @property
    def pid(self) -> int | None:
        """Return the process id; None while no process is running."""
        return self._child.pid if self._child is not None and self._child.poll() is None else None

    async def write(self, name: str, *, limit: float | None = None, **arguments: Any) -> Any:
        """Run a request, however long earlier ones take, and return its answer.

        If the request itself takes longer than ``limit`` seconds, the process is killed and ProcessDied raised; whether
        the request was carried out is then unknown.
        """
        await self._turn.acquire()
        return await asyncio.shield(self._begun(name, arguments, limit or self._bounds.writing))

    async def search(self, name: str, **arguments: Any) -> Any:
        """Run a search within its deadline, or raise UnavailableError; no process is started, nor a slow one killed."""
        if self.pid is None:
            raise Lost(sentences.storage_errors.GENERATION_GONE)
        try:
            await asyncio.wait_for(self._turn.acquire(), self._bounds.queueing)
        except asyncio.TimeoutError:
            raise Busy(sentences.storage_errors.VECTOR_STORE_BUSY) from None
        search = self._begun(name, arguments, self._bounds.hanging)
        await asyncio.wait({search}, timeout=self._bounds.searching)
        if not search.done():
            raise UnavailableError(sentences.storage_errors.VECTOR_STORE_BUSY)
        return search.result()

    async def sleep(self) -> None:
        """Let the running request finish within its limit, then end the process; the next request starts another."""
        async with self._turn:
            await self._ended()

    async def close(self) -> None:
        """Let the running request finish for a limited time, then end the process; later requests are refused."""
        self._is_closed = True
        try:
            if self._requests:
                await asyncio.wait(set(self._requests), timeout=self._bounds.closing)
        finally:  # also if the wait is cancelled: the thread then ends the process by itself
            if self._requests and self._child:
                self._child.kill()
            ending = self._ended()
        await asyncio.shield(ending)
        if self._requests:
            await asyncio.wait(set(self._requests))

    def _begun(self, name: str, arguments: Json, limit: float) -> asyncio.Task[Any]:
        """Begin a request that has the turn; it runs to its end, even if its caller is cancelled."""

        def end(request: asyncio.Task[Any]) -> None:
            self._requests.discard(request)
            self._turn.release()
            seen(request)  # its caller may be gone

        request = asyncio.ensure_future(self._answer(name, arguments, limit))
        self._requests.add(request)
        request.add_done_callback(end)
        return request

    async def _answer(self, name: str, arguments: Json, limit: float) -> Any:
        if self._is_closed:
            raise UnavailableError(sentences.storage_errors.VECTOR_STORE_CLOSED)
        if self._child is not None and self.pid is None:
            await self._ended()  # it died since the last request
        return self._granted(await self._exchanged(self._child or await self._started(), name, arguments, limit))

    async def _started(self) -> Child:
        try:
            self._child = child = await in_daemon_thread(lambda: _child_of(self._command))
        except OSError as refused:
            reason = sentences.storage_errors.VECTOR_STORE_REFUSED.format(reason=type(refused).__name__)
            raise UnavailableError(reason) from refused
        if self._is_closed:  # meanwhile
            child.kill()
        start = {"location": self._location, "patience": self._bounds.locking}
        answer = await self._exchanged(child, "start", start, self._bounds.starting)
        try:
            self._granted(answer)
        except UnavailableError:
            await self._ended()
            raise
        return child

    async def _exchanged(self, child: Child, name: str, arguments: Json, limit: float) -> Json:
        exchange = in_daemon_thread(lambda: answer_of(child, {"name": name, "arguments": arguments}))
        done, _ = await asyncio.wait({exchange}, timeout=limit)
        if not done:
            child.kill()
        try:
            answer = await exchange
        except TypeError as refused:  # half of a surrogate pair, a number of more than 64 bits
            raise BadArgument(sentences.caller.bad_value("rows", name, str(refused))) from refused
        if answer is None:
            status, words = await self._ended(), sentences.storage_errors
            died = ProcessDied(words.VECTOR_STORE_DIED.format(status=status) if done else words.VECTOR_STORE_HUNG)
            died.is_hung = not done
            raise died
        return answer

    def _granted(self, answer: Json) -> Any:
        """Return what the process answered; raises UnavailableError for a refusal."""
        if "failed" not in answer:
            return answer["answer"]
        (why, detail), words = answer["failed"], sentences.storage_errors
        if why == "gone":
            raise Lost(words.GENERATION_GONE)
        told = {
            "locked": words.VECTOR_STORE_LOCKED.format(folder=self._location.folder),
            "missing": words.VECTOR_STORE_MISSING.format(reason=detail.strip(" :")),
            "foreign": words.VECTOR_STORE_FOREIGN.format(database=detail),
        }
        if detail in ("ChromaAuthError", "AuthorizationError"):
            told["failed"] = words.VECTOR_SERVER_REFUSES
        elif detail in ("ConnectError", "ConnectTimeout", "ReadError", "ReadTimeout", "RemoteProtocolError"):
            told["failed"] = words.VECTOR_SERVER_AWAY
        raise UnavailableError(told.get(why) or words.VECTOR_STORE_REFUSED.format(reason=detail))

    def _ended(self) -> asyncio.Future[int | None]:
        """End the process, which runs no request, in a thread; return its exit status, None if there was none."""
        child, self._child = self._child, None

        def end() -> int | None:
            if child is None:
                return None
            with contextlib.suppress(OSError, ValueError):
                child.stdin.close()  # pyright: ignore[reportOptionalMemberAccess]  # it is a pipe
            try:
                return child.wait(self._bounds.closing)
            except subprocess.TimeoutExpired:
                child.kill()
                return child.wait()
            finally:
                child.stdout.close()  # pyright: ignore[reportOptionalMemberAccess]  # it is a pipe

        return in_daemon_thread(end)


def _child_of(command: Sequence[str]) -> Child:
    """Start a process in a group of its own, so that a Ctrl-C for the bot does not end it; raises OSError."""
    flags = ("CREATE_NEW_PROCESS_GROUP", "CREATE_NO_WINDOW")  # exist on Windows only
    return subprocess.Popen(  # noqa: S603  # our own interpreter with our own module
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=clean_environment(os.environ, sys.path),
        start_new_session=True,
        creationflags=sum(int(getattr(subprocess, name, 0)) for name in flags),
    )


def answer_of(child: Child, request: Json) -> Json | None:
    """Send a request and block until its answer; None if none will come: the process is killed then.

    Raises TypeError, and sends nothing, if the request is no JSON.
    """
    line = orjson.dumps(request) + b"\n"
    pipes: tuple[Any, Any] = child.stdin, child.stdout
    with contextlib.suppress(OSError, ValueError):
        pipes[0].write(line)
        pipes[0].flush()
        answer: Any = orjson.loads(pipes[1].readline(LONGEST))
        if isinstance(answer, dict) and ("answer" in answer or "failed" in answer):
            return cast("Json", answer)
    child.kill()
    return None


def clean_environment(environment: Mapping[str, str], import_path: Sequence[str]) -> dict[str, str]:
    """Return the environment that Python needs to start and import the same modules, without settings or keys."""
    kept = {name: environment[name] for name in _PASSED_ON if name in environment}
    found = [os.path.abspath(entry) for entry in import_path if entry]  # noqa: PTH100  # links stay links
    path = dict.fromkeys([*found, str(_ROOT)])
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONSAFEPATH": "1",
        "PYTHONUTF8": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",  # glibc: with a heap per thread, each heap would keep what its thread freed
        "MALLOC_MMAP_THRESHOLD_": "1048576",
        "MALLOC_PERTURB_": "165",  # glibc: fills allocated blocks, so that no earlier content reaches a file
        "ANONYMIZED_TELEMETRY": "False",
    }


def in_daemon_thread(call: Callable[[], T]) -> asyncio.Future[T]:
    """Run a blocking call in a thread that does not keep the bot from exiting; it goes on if nobody waits any more."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as raised:  # noqa: BLE001  # it is raised again where the future is awaited
            future.set_exception(raised)

    try:
        threading.Thread(target=run, name="cognitive-memory-chroma", daemon=True).start()
    except RuntimeError as refused:  # no memory, or a limit of the system
        reason = sentences.storage_errors.VECTOR_STORE_REFUSED.format(reason=str(refused))
        future.set_exception(UnavailableError(reason))
    return asyncio.wrap_future(future)


COPY = "chroma"
FOREIGN_COLLECTIONS = ("cognitive_events", "events")


def size_of(folder: Path) -> int:
    """Return the total size in bytes of a folder's regular files; links are not followed."""
    places = (Path(inner) / name for inner, _, names in os.walk(folder) for name in names)
    return sum(place.lstat().st_size for place in places if not place.is_symlink())


def foreign_rows(folder: Path, scratch: Path) -> Generator[tuple[str, Mapping[str, object]], None, None]:
    """Copy another program's folder into ``scratch`` and yield the texts of its events with their metadata; blocking.

    Raises OSError after yielding what could be read if that is not all, OSError or shutil.Error if copying fails.
    """
    copy = scratch / COPY
    shutil.copytree(folder, copy, ignore=_skipped_entries, copy_function=shutil.copyfile)
    for inner, _, _ in os.walk(copy):
        Path(inner).chmod(0o700)
    child = _child_of(COMMAND)

    def answered(request: str, /, **arguments: object) -> Any:
        answer = answer_of(child, {"name": request, "arguments": arguments})
        if answer is None or "failed" in answer:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(folder))
        return answer["answer"]

    try:
        answered("start", location=IndexLocation(str(copy)), patience=0)
        for name in FOREIGN_COLLECTIONS:
            count = 0
            while page := answered("foreign", name=name, offset=count):
                yield from page
                count += len(page)
    finally:
        child.kill()
        child.communicate()


def _skipped_entries(folder: str, names: list[str]) -> list[str]:
    """Return what is not copied: links lead elsewhere, and pipes would block."""
    places = [Path(folder) / name for name in names]
    return [place.name for place in places if place.is_symlink() or not (place.is_file() or place.is_dir())]
