"""The Chroma process as seen from the event loop: one request at a time, with time limits and restarts."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

from ... import sentences
from ...errors import BadArgument, Busy, UnavailableError
from ...tasks import seen
from .frames import BadFrame
from .process import COMMAND, ChildProcess, ProcessEnded
from .protocol import Answer, Envelope, Failed, FindInUse, Open, Request, Start
from .worker import Worker

T = TypeVar("T")
_NO_SIGN_OF_HEALTH = (FindInUse, Open)  # answering these does not prove health: a process may die of the next request


_CRASHES_PER_REFUSAL = 4  # counted as so many crashes, since another process or an operator must act first


@dataclass(frozen=True)
class Bounds:
    """Time limits in seconds and memory limits in bytes.

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
    first_pause: float = 1.0
    longest_pause: float = 300.0
    growth: float = 2.0
    headroom: int = 256 * 1024 * 1024


class ProcessDied(UnavailableError):
    """The process ended during the request; ``is_hung`` if it was killed for taking too long."""

    def __init__(self, message: str, *, is_hung: bool) -> None:
        """Keep the reason."""
        super().__init__(message)
        self.is_hung = is_hung


@dataclass
class _Call:
    request: Request
    limit: float
    has_started: bool = False


@dataclass
class _Health:
    """State of the process: crashes in a row, earliest next start (monotonic seconds), and memory in bytes.

    ``settled`` is the memory right after opening, from which growth is measured; ``resident`` is the current memory.
    """

    crashes: int = 0
    start_at: float = 0.0
    settled: int | None = None
    resident: int | None = None
    is_ready: bool = False
    error: str = ""


class Supervisor:
    """Starts the process with the first request and runs one request at a time; the others wait."""

    def __init__(self, start: Start, bounds: Bounds | None = None, command: Sequence[str] = COMMAND) -> None:
        """Initialise without starting the process."""
        self._start = start
        self._bounds = bounds or Bounds()
        self._command = command
        self._worker = Worker("cognitive-memory-chroma")
        self._numbers = itertools.count(1)
        self._turn = asyncio.Lock()
        self._calls: set[asyncio.Task[Answer]] = set()
        self._child: ChildProcess | None = None
        self._health = _Health()
        self._in_hand_since: float | None = None
        self._is_closed = False
        self._ending: Future[int | None] | None = None
        self.incarnation = 0

    @property
    def state(self) -> str:
        """Return the state: "off", "ready", or "failed: " with the reason."""
        if self._health.error:
            return f"failed: {self._health.error}"
        return "ready" if self.is_running else "off"

    @property
    def last_error(self) -> str:
        """Return why the store is not ready; "" while it is."""
        return self._health.error

    @property
    def is_running(self) -> bool:
        """Return whether a process was started, is ready, and has not been seen to end."""
        return self._child is not None and self._health.is_ready

    @property
    def pid(self) -> int | None:
        """Return the process id; None while no process is running."""
        return None if self._child is None else self._child.pid

    async def write(self, request: Request, limit: float | None = None) -> Answer:
        """Run a request, however long earlier ones take.

        If the request itself takes longer than ``limit`` seconds, the process is killed and ProcessDied raised; whether
        the request was carried out is then unknown.
        """
        return await self._finished(_Call(request, limit or self._bounds.writing), None)

    async def search(self, request: Request) -> Answer:
        """Run a search within its deadline, or raise UnavailableError; a slow process is not killed."""
        return await self._finished(_Call(request, self._bounds.hanging), self._bounds.searching)

    def queueing_left(self) -> float:
        """Return how many more seconds a search should wait for the running request; 0.0 if that has run too long."""
        if self._in_hand_since is None:
            return self._bounds.queueing
        return max(0.0, self._in_hand_since + self._bounds.queueing - time.monotonic())

    def record_normal_memory(self) -> None:
        """Record the current memory as the normal amount; growth is measured from here."""
        self._health.settled = self._health.resident

    def reset_restart_pause(self) -> None:
        """Allow an immediate restart: the process works, or the request that crashed it will not be repeated."""
        self._health.crashes, self._health.start_at = 0, 0.0

    async def sleep(self) -> None:
        """Let the running request finish within its limit, then end the process; the next request starts another."""
        async with self._turn:
            if not self._is_closed and self._child is not None:
                await self._end_process()

    async def close(self) -> None:
        """Let the running request finish for a limited time, then end the process; later requests are refused."""
        self._is_closed = True
        try:
            if self._calls:
                await asyncio.wait(set(self._calls), timeout=self._bounds.closing)
        finally:  # also if the wait is cancelled: the thread then ends the process by itself
            ending = self._ended()
        await asyncio.shield(asyncio.wrap_future(ending))
        if self._calls:
            await asyncio.wait(set(self._calls))
        self._health = _Health()

    def _ended(self) -> Future[int | None]:
        """Kill the process if it is running a request; then end it, and the worker thread, in that thread.

        Return the future of the process's exit status, None if no process was there. Later calls return the same
        future.
        """
        if self._ending is None:
            child = self._child
            if self._worker.is_busy and child is not None:
                child.kill()
            self._ending = self._worker.submit(self._end_child)
            self._worker.end()
        return self._ending

    async def _finished(self, call: _Call, max_wait: float | None) -> Answer:
        if max_wait is not None and not self.queueing_left():
            raise Busy(sentences.storage_errors.VECTOR_STORE_BUSY)
        task = asyncio.ensure_future(self._exchange(call))
        self._calls.add(task)
        task.add_done_callback(self._on_done)
        try:
            await self._awaited(task, call, max_wait)
        finally:
            if not call.has_started:
                task.cancel()
        return task.result()

    async def _awaited(self, task: asyncio.Task[Answer], call: _Call, max_wait: float | None) -> None:
        if max_wait is None:
            await asyncio.wait({task})
            return
        await asyncio.wait({task}, timeout=self.queueing_left())
        if not task.done() and not call.has_started:
            raise Busy(sentences.storage_errors.VECTOR_STORE_BUSY)
        await asyncio.wait({task}, timeout=max_wait - self._bounds.queueing)
        if not task.done():
            raise UnavailableError(sentences.storage_errors.VECTOR_STORE_SLOW)

    def _on_done(self, task: asyncio.Task[Answer]) -> None:
        self._calls.discard(task)
        seen(task)  # its caller may be gone

    async def _exchange(self, call: _Call) -> Answer:
        async with self._turn:
            call.has_started = True  # from here on it runs to its end, even if its caller is cancelled
            self._in_hand_since = time.monotonic()
            try:
                return await self._done(call)
            finally:
                self._in_hand_since = None

    async def _done(self, call: _Call) -> Answer:
        answer = await self._answer(await self._running(), call.request, call.limit)
        if not isinstance(call.request, _NO_SIGN_OF_HEALTH):
            self.reset_restart_pause()
        if self._has_grown():
            await self._end_process()
        return answer

    async def _running(self) -> ChildProcess:
        if self._is_closed:
            raise UnavailableError(sentences.storage_errors.VECTOR_STORE_CLOSED)
        if self._child is not None and self._child.has_ended():
            status = await self._end_process()
            self._failed(sentences.storage_errors.VECTOR_STORE_DIED.format(status=status))
        if self._child is None:
            wait = self._health.start_at - time.monotonic()
            if wait > 0:
                raise UnavailableError(self._health.error, retry_after=wait)
            return await self._started()
        return self._child

    async def _started(self) -> ChildProcess:
        self.incarnation += 1
        try:
            child = await self._in_thread(self._start_child)
        except OSError as refused:
            raise self._failed(
                sentences.storage_errors.VECTOR_STORE_REFUSED.format(reason=type(refused).__name__)
            ) from refused
        answer = await self._answer(child, self._start, self._bounds.starting)
        if isinstance(answer, Failed):
            await self._end_process()
            self._health.crashes += _CRASHES_PER_REFUSAL
            raise self._failed(_why_off(answer, self._start.folder))
        self._health.is_ready, self._health.error, self._health.settled = True, "", None
        return child

    async def _answer(self, child: ChildProcess, request: Request, limit: float) -> Answer:
        envelope = Envelope(next(self._numbers), request)
        asking = asyncio.ensure_future(self._in_thread(lambda: child.exchange(envelope)))
        done, _ = await asyncio.wait({asking}, timeout=limit)
        if not done:
            child.kill()
        try:
            answered = await asking
        except BadFrame as refused:
            raise BadArgument(sentences.caller.bad_value("rows", type(request).__name__, str(refused))) from refused
        except ProcessEnded as ended:
            self._child, self._health.is_ready = None, False
            reason = (
                sentences.storage_errors.VECTOR_STORE_HUNG
                if not done
                else sentences.storage_errors.VECTOR_STORE_DIED.format(status=ended.status)
            )
            raise ProcessDied(str(self._failed(reason)), is_hung=not done) from ended
        self._health.resident = answered.resident
        return answered.body  # pyright: ignore[reportReturnType]  # our own child answers answers

    def _failed(self, reason: str) -> UnavailableError:
        health, bounds = self._health, self._bounds
        health.error = reason
        health.crashes += 1
        pause = 0.0 if health.crashes == 1 else bounds.first_pause * 2.0 ** min(health.crashes - 2, 20)
        health.start_at = time.monotonic() + min(pause, bounds.longest_pause)
        return UnavailableError(reason, retry_after=min(pause, bounds.longest_pause))

    def _has_grown(self) -> bool:
        settled, resident = self._health.settled, self._health.resident
        if settled is None or resident is None:
            return False
        return resident > settled * self._bounds.growth + self._bounds.headroom

    async def _end_process(self) -> int | None:
        self._health.is_ready = False
        return await self._in_thread(self._end_child)

    def _start_child(self) -> ChildProcess:
        """Start the process, in the worker thread, so that the child is recorded even if the caller was cancelled."""
        self._child = ChildProcess(self._command)
        return self._child

    def _end_child(self) -> int | None:
        child, self._child = self._child, None
        return None if child is None else child.end(self._bounds.closing)

    def _in_thread(self, call: Callable[[], T]) -> Awaitable[T]:
        if self._worker.has_ended:
            raise UnavailableError(sentences.storage_errors.VECTOR_STORE_CLOSED)
        return asyncio.wrap_future(self._worker.submit(call))


def _why_off(answer: Failed, folder: str) -> str:
    if answer.why == "locked":
        return sentences.storage_errors.VECTOR_STORE_LOCKED.format(folder=folder)
    if answer.why == "missing":
        return sentences.storage_errors.vector_store_missing(answer.reason)
    if answer.why == "foreign":
        return sentences.storage_errors.VECTOR_STORE_FOREIGN.format(database=answer.reason)
    return why_failed(answer.reason)


def why_failed(reason: str) -> str:
    """Return the message for the type of an error in the process; a server's errors name the setting to check."""
    if reason in ("ChromaAuthError", "AuthorizationError"):
        return sentences.storage_errors.VECTOR_SERVER_REFUSES
    if reason in ("ConnectError", "ConnectTimeout", "ReadError", "ReadTimeout", "RemoteProtocolError"):
        return sentences.storage_errors.VECTOR_SERVER_AWAY
    return sentences.storage_errors.VECTOR_STORE_REFUSED.format(reason=reason)
