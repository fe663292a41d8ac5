"""The Chroma process as the event loop sees it: asked one thing at a time, bounded in time, restarted when it dies."""

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
from .frames import BadFrame
from .process import COMMAND, ChildProcess, ProcessEnded
from .protocol import Answer, Failed, FindInUse, Letter, Open, Request, Start
from .worker import Worker

T = TypeVar("T")
_TELLING_NOTHING = (FindInUse, Open)  # a process that answers these and dies of the next thing is not well


_LIKE_DEATHS = 4  # what another process or an operator must change first, changes slowly


@dataclass(frozen=True)
class Bounds:
    """How long, in seconds, and how large, in bytes, things may get.

    ``queueing`` is how long a search waits for something else that is in hand; ``searching`` how long for its answer;
    a search that is in hand for ``hanging`` is taken to hang.
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
    """The process ended while it was at it; ``is_hung`` when we ended it because it took too long."""

    def __init__(self, message: str, *, is_hung: bool) -> None:
        """Keep the reason."""
        super().__init__(message)
        self.is_hung = is_hung


@dataclass
class _Call:
    request: Request
    limit: float
    has_turn: bool = False


@dataclass
class _Health:
    """What is known of the process: how often it died in a row, when it may start again, how large it was at first."""

    deaths: int = 0
    start_at: float = 0.0
    settled: int | None = None
    resident: int | None = None
    is_ready: bool = False
    error: str = ""


class Supervisor:
    """Starts the process with the first request. One request is in hand at a time; the others wait their turn."""

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
        """Return why it is not ready; "" while it is."""
        return self._health.error

    @property
    def is_running(self) -> bool:
        """Return whether there is a process that can be asked, as far as is known."""
        return self._child is not None and self._health.is_ready

    @property
    def pid(self) -> int | None:
        """Return the process's number; None while there is none."""
        return None if self._child is None else self._child.pid

    async def write(self, request: Request, limit: float | None = None) -> Answer:
        """Run a request, however long earlier ones take.

        Past the limit the process is killed and ProcessDied raised: nobody knows then whether it was done.
        """
        return await self._finished(_Call(request, limit or self._bounds.writing), None)

    async def search(self, request: Request) -> Answer:
        """Run a lookup within its deadline, or raise UnavailableError; a slow process is not killed."""
        return await self._finished(_Call(request, self._bounds.hanging), self._bounds.searching)

    def queueing_left(self) -> float:
        """Return how many more seconds a search should wait for the current request; 0.0 when that is long already."""
        if self._in_hand_since is None:
            return self._bounds.queueing
        return max(0.0, self._in_hand_since + self._bounds.queueing - time.monotonic())

    def settle(self) -> None:
        """Take the memory that the process has now as what it needs: its growth is measured from here."""
        self._health.settled = self._health.resident

    def forgive(self) -> None:
        """Allow an immediate restart: the cause of death is known and will not be requested again."""
        self._health.deaths, self._health.start_at = 0, 0.0

    async def sleep(self) -> None:
        """Let the request in hand finish within its limit, then end the process; the next request starts another."""
        async with self._turn:
            if not self._is_closed and self._child is not None:
                await self._let_go()

    async def close(self) -> None:
        """Let the request in hand finish for a while, then end the process; nothing can be asked any more."""
        self._is_closed = True
        try:
            if self._calls:
                await asyncio.wait(set(self._calls), timeout=self._bounds.closing)
        finally:  # also where the wait is cancelled: the thread ends the process then, whoever waits for it
            ending = self._ended()
        await asyncio.shield(asyncio.wrap_future(ending))
        if self._calls:
            await asyncio.wait(set(self._calls))
        self._health = _Health()

    def _ended(self) -> Future[int | None]:
        """Queue the end of the process and of the thread, once, behind the call in hand, which is cut short."""
        if self._ending is None:
            child = self._child
            if self._worker.is_busy and child is not None:
                child.kill()
            self._ending = self._worker.submit(self._end_child)
            self._worker.end()
        return self._ending

    async def _finished(self, call: _Call, patience: float | None) -> Answer:
        if patience is not None and not self.queueing_left():
            raise Busy(sentences.vector_store_busy())
        task = asyncio.ensure_future(self._exchange(call))
        self._calls.add(task)
        task.add_done_callback(self._over)
        try:
            await self._awaited(task, call, patience)
        finally:
            if not call.has_turn:
                task.cancel()
        return task.result()

    async def _awaited(self, task: asyncio.Task[Answer], call: _Call, patience: float | None) -> None:
        if patience is None:
            await asyncio.wait({task})
            return
        await asyncio.wait({task}, timeout=self.queueing_left())
        if not task.done() and not call.has_turn:
            raise Busy(sentences.vector_store_busy())
        await asyncio.wait({task}, timeout=patience - self._bounds.queueing)
        if not task.done():
            raise UnavailableError(sentences.vector_store_slow())

    def _over(self, task: asyncio.Task[Answer]) -> None:
        self._calls.discard(task)
        if not task.cancelled():
            task.exception()  # its caller may be gone

    async def _exchange(self, call: _Call) -> Answer:
        async with self._turn:
            call.has_turn = True  # from here on it runs to its end, also without a caller
            self._in_hand_since = time.monotonic()
            try:
                return await self._done(call)
            finally:
                self._in_hand_since = None

    async def _done(self, call: _Call) -> Answer:
        answer = await self._answer(await self._running(), call.request, call.limit)
        if not isinstance(call.request, _TELLING_NOTHING):
            self.forgive()
        if self._has_grown():
            await self._let_go()
        return answer

    async def _running(self) -> ChildProcess:
        if self._is_closed:
            raise UnavailableError(sentences.vector_store_closed())
        if self._child is not None and self._child.has_ended():
            status = await self._let_go()
            self._failed(sentences.vector_store_died(status))
        if self._child is None:
            wait = self._health.start_at - time.monotonic()
            if wait > 0:
                raise UnavailableError(self._health.error, retry_after=wait)
            return await self._started()
        return self._child

    async def _started(self) -> ChildProcess:
        self.incarnation += 1
        try:
            child = await self._made(self._start_child)
        except OSError as refused:
            raise self._failed(sentences.vector_store_refused(type(refused).__name__)) from refused
        answer = await self._answer(child, self._start, self._bounds.starting)
        if isinstance(answer, Failed):
            await self._let_go()
            self._health.deaths += _LIKE_DEATHS
            raise self._failed(_why_off(answer, self._start.folder))
        self._health.is_ready, self._health.error, self._health.settled = True, "", None
        return child

    async def _answer(self, child: ChildProcess, request: Request, limit: float) -> Answer:
        letter = Letter(next(self._numbers), request)
        asking = asyncio.ensure_future(self._made(lambda: child.exchange(letter)))
        done, _ = await asyncio.wait({asking}, timeout=limit)
        if not done:
            child.kill()
        try:
            answered = await asking
        except BadFrame as refused:
            raise BadArgument(sentences.bad_value("rows", type(request).__name__, str(refused))) from refused
        except ProcessEnded as ended:
            self._child, self._health.is_ready = None, False
            reason = sentences.vector_store_hung() if not done else sentences.vector_store_died(ended.status)
            raise ProcessDied(str(self._failed(reason)), is_hung=not done) from ended
        self._health.resident = answered.resident
        return answered.body  # pyright: ignore[reportReturnType]  # our own child answers answers

    def _failed(self, reason: str) -> UnavailableError:
        health, bounds = self._health, self._bounds
        health.error = reason
        health.deaths += 1
        pause = 0.0 if health.deaths == 1 else bounds.first_pause * 2.0 ** min(health.deaths - 2, 20)
        health.start_at = time.monotonic() + min(pause, bounds.longest_pause)
        return UnavailableError(reason, retry_after=min(pause, bounds.longest_pause))

    def _has_grown(self) -> bool:
        settled, resident = self._health.settled, self._health.resident
        if settled is None or resident is None:
            return False
        return resident > settled * self._bounds.growth + self._bounds.headroom

    async def _let_go(self) -> int | None:
        self._health.is_ready = False
        return await self._made(self._end_child)

    def _start_child(self) -> ChildProcess:
        """Start the process; called in the thread, so that it is known also where nobody waits for it any more."""
        self._child = ChildProcess(self._command)
        return self._child

    def _end_child(self) -> int | None:
        child, self._child = self._child, None
        return None if child is None else child.end(self._bounds.closing)

    def _made(self, call: Callable[[], T]) -> Awaitable[T]:
        if self._worker.has_ended:
            raise UnavailableError(sentences.vector_store_closed())
        return asyncio.wrap_future(self._worker.submit(call))


def _why_off(answer: Failed, folder: str) -> str:
    if answer.why == "locked":
        return sentences.vector_store_locked(folder)
    if answer.why == "missing":
        return sentences.vector_store_missing(answer.reason)
    if answer.why == "foreign":
        return sentences.vector_store_foreign(answer.reason)
    return sentences.vector_store_refused(answer.reason)
