"""asyncio tasks: background loops with their errors, work that outlives a cancellation, and locks by key."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Hashable
from concurrent.futures import Executor, Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from . import sentences
from .domain.scope import log_fields
from .errors import BadAnswer, TransientError, UnavailableError
from .text.names import described

log = logging.getLogger(__name__)
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0  # seconds
DEBOUNCE = 0.1  # seconds in which new work is collected: a call and a commit cost the same for one item as for many
UNTIL_NUDGED = 3600.0  # seconds of rest for a loop that has work only after a nudge
restarts: Counter[str] = Counter()
"""How often this process has restarted loops that somebody else cancelled, by their names."""
_order = itertools.count(1)
NO_THREAD = "can't start new thread"  # of RuntimeError, where memory or a limit of the system refuses one
T = TypeVar("T")
U = TypeVar("U")


class ErrorState:
    """The present error of a component. Logs one line when an outage begins and one when it ends."""

    def __init__(self, name: str) -> None:
        """Start without an error; ``name`` is the prefix of every log line."""
        self.name = name
        self.error = ""
        self.began = 0  # later troubles have higher numbers

    def note(self, error: BaseException) -> None:
        """Record a failure in place of the last one; logged only if an outage begins with it."""
        self.tell(described(error))

    def tell(self, message: str, *, is_logged: bool = False) -> None:
        """Record a failure by its description; ``is_logged`` says that the caller has logged it."""
        if message == self.error:
            return
        if not (is_logged or self.error):  # a known outage is not logged again when its error text changes
            log.warning(
                "%s: %s",
                sentences.log.PARTS.get(self.name, self.name),
                message,
                extra=log_fields("part", part=self.name),
            )
        self.error, self.began = message, next(_order)

    def end(self) -> None:
        """Record that the component works; log this if it had failed."""
        if self.error:
            message = sentences.log.WORKS_AGAIN.format(name=sentences.log.PARTS.get(self.name, self.name))
            log.info("%s", message, extra=log_fields("part", part=self.name))
        self.error = ""


def latest(error_states: list[ErrorState]) -> str:
    """Return the present error of the component that failed last; "" if none is failing."""
    lasting = [trouble for trouble in error_states if trouble.error]
    return max(lasting, key=lambda trouble: trouble.began).error if lasting else ""


class Signal:
    """A flag that one task awaits with a timeout; cheaper than ``asyncio.wait_for`` on an Event."""

    def __init__(self) -> None:
        """Start cleared."""
        self._is_set = False
        self._waiter: asyncio.Future[None] | None = None

    def set(self) -> None:
        """Set the flag and wake the waiting task; call it on the event loop's thread."""
        self._is_set = True
        _end(self._waiter)

    def clear(self) -> None:
        """Clear the flag."""
        self._is_set = False

    async def wait(self, seconds: float) -> bool:
        """Wait for the flag for at most ``seconds``; return whether it was set, and clear it."""
        if not self._is_set:
            loop = asyncio.get_running_loop()
            self._waiter = loop.create_future()
            timer = loop.call_later(seconds, _end, self._waiter)
            try:
                await self._waiter
            finally:
                timer.cancel()
                self._waiter = None
        wait, self._is_set = self._is_set, False
        return wait


def _end(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)


class BackgroundLoop:
    """Runs rounds one after another from :meth:`start` to :meth:`stop`, both of which may be called again.

    After an error, or a cancellation by anybody but :meth:`stop`, the loop repeats the round, after a growing pause of
    at least the error's ``retry_after``. ``last_error`` keeps the error until a round succeeds. A nudge during a round
    causes another round.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[], Coroutine[Any, Any, float]],
        *,
        debounce: float = DEBOUNCE,
        spacing: float = 0.0,
        first_pause: float = FIRST_PAUSE,
        longest_pause: float = LONGEST_PAUSE,
        on_failure: Callable[[], None] = lambda: None,
    ) -> None:
        """Run ``work``, which returns after how many seconds to run it again (0: at once); a nudge ends this pause.

        After a nudge, more nudges are collected for ``debounce`` seconds; rounds are ``spacing`` seconds apart. A
        call of :meth:`wake_now` ends both waits. ``on_failure`` is called before the pause that follows a failure.
        """
        self.trouble = ErrorState(name)
        self._work = work
        self._debounce = debounce
        self._spacing = spacing
        self._first_pause = self._pause = first_pause
        self._longest_pause = longest_pause
        self._on_failure = on_failure
        self._wake = Signal()
        self._skip_waits = Signal()
        self._task: asyncio.Task[None] | None = None
        self._restart: asyncio.TimerHandle | None = None

    @property
    def last_error(self) -> str:
        """Why the last round failed; "" if it succeeded."""
        return self.trouble.error

    def nudge(self) -> None:
        """Request a round soon; all requests made before it starts cause one round."""
        self._wake.set()

    def wake_now(self) -> None:
        """Request a round now."""
        self._skip_waits.set()
        self._wake.set()

    def start(self) -> None:
        """Run rounds in the background, unless they run already."""
        if self._task is None:
            self._pause = self._first_pause
            self._begin()

    async def stop(self) -> bool:
        """Cancel the running round and wait until it has ended; return whether the loop ran."""
        task, self._task = self._task, None
        if self._restart:
            self._restart.cancel()
        if task:
            task.cancel()
            await asyncio.wait({task})
        return task is not None

    def _begin(self) -> None:
        self._task = asyncio.create_task(self._run(), name=self.trouble.name)
        self._task.add_done_callback(self._begin_again)

    async def _run(self) -> None:
        rest = 0.0
        while self._task is asyncio.current_task():  # else stopped, and the work has swallowed the cancellation
            await self._rest(rest)
            rest = await self._work()
            self._pause = self._first_pause
            self.trouble.end()

    def _begin_again(self, ended: asyncio.Task[None]) -> None:
        """Run the loop again after a pause, unless it was stopped: no failure of one round ends the work."""
        failure = None if ended.cancelled() else ended.exception()
        if ended is not self._task:
            return
        if failure is None:
            restarts[self.trouble.name] += 1
        self._on_failure()
        self.trouble.note(failure or TransientError(sentences.log.LOOP_CANCELLED))
        requested = failure.retry_after if isinstance(failure, UnavailableError | BadAnswer) else None
        pause = min(max(self._pause, requested or 0.0), self._longest_pause)
        self._pause = min(self._pause * 2, self._longest_pause)
        self._restart = ended.get_loop().call_later(pause, self._begin)

    async def _rest(self, seconds: float) -> None:
        if not seconds:
            return
        if self._spacing:
            await self._skip_waits.wait(self._spacing)
        if await self._wake.wait(seconds) and self._debounce:
            await self._skip_waits.wait(self._debounce)
        self._wake.clear()  # the next round sees what came meanwhile
        self._skip_waits.clear()


class WriteLoop(BackgroundLoop):
    """Writes what waits after each nudge, one write at a time and each to its end, also if its caller is cancelled."""

    def __init__(
        self,
        name: str,
        write: Callable[[], Coroutine[Any, Any, None]],
        *,
        debounce: float = DEBOUNCE,
        spacing: float = 0.0,
        longest_pause: float = LONGEST_PAUSE,
    ) -> None:
        """Call ``write``, which keeps what it could not write."""
        super().__init__(name, self._round, debounce=debounce, spacing=spacing, longest_pause=longest_pause)
        self._write = write
        self.turn = asyncio.Lock()  # held while it writes

    async def flush(self) -> None:
        """Write what waits now; if that is refused, the loop tries again."""
        try:
            await self._round()
        except UnavailableError as refused:
            self.trouble.note(refused)
            self.nudge()

    async def _round(self) -> float:
        await completed(self._written())
        return UNTIL_NUDGED

    async def _written(self) -> None:
        async with self.turn:
            await self._write()
        self.trouble.end()


async def isolated(work: Coroutine[Any, Any, T], limit: float | None = None) -> T:
    """Await work in a task of its own, so that a CancelledError from inside the work becomes a TransientError.

    When the caller is cancelled, the work is cancelled too and has ended before the cancellation is raised. Work that
    takes more than ``limit`` seconds is cancelled; then asyncio.TimeoutError is raised.
    """
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=limit)
        if not done:
            task.cancel()
            await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task})
        seen(task)
        raise
    if not task.cancelled():
        return task.result()
    if not done:
        raise asyncio.TimeoutError
    raise TransientError(sentences.models.CANCELLED_BY_NOBODY)


async def completed(work: Coroutine[Any, Any, T]) -> T:
    """Run work to its end in a task of its own; if the caller is cancelled, raise CancelledError only afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as asked:
            cancelled = asked
    if cancelled is None:
        return task.result()
    seen(task)  # the caller gets the cancellation
    raise cancelled


async def together(*works: Awaitable[T]) -> list[T]:
    """Run awaitables concurrently, each to its end; return their results in order, or raise the first failure."""
    tasks = [asyncio.ensure_future(work) for work in works]
    await asyncio.gather(*tasks, return_exceptions=True)
    return [task.result() for task in tasks]


async def both(first: Awaitable[T], second: Awaitable[U]) -> tuple[T, U]:
    """Run two awaitables with different result types, as :func:`together` does; the second in the caller's task."""
    beside = asyncio.ensure_future(first)
    try:
        result = await second
    except BaseException as failure:
        if isinstance(failure, asyncio.CancelledError):
            beside.cancel()
        await asyncio.gather(beside, return_exceptions=True)
        if not beside.cancelled():
            beside.result()
        raise
    return await beside, result


async def in_thread(pool: Executor, work: Callable[[], T]) -> T:
    """Run blocking work in a thread of a pool and return its result; it goes on if its caller is cancelled.

    ``run_in_executor`` takes twice as many calls, because there a cancellation reaches work that has not begun.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()
    pool.submit(work).add_done_callback(partial(_report, loop, answer))
    return await answer


def _report(loop: asyncio.AbstractEventLoop, answer: asyncio.Future[T], done: Future[T]) -> None:
    with suppress(RuntimeError):  # the event loop is closed: no caller is left
        loop.call_soon_threadsafe(_settle, answer, done)


def _settle(answer: asyncio.Future[T], done: Future[T]) -> None:
    if answer.done():  # cancelled meanwhile
        return
    if done.cancelled():  # the pool was closed before the work began
        answer.cancel()
        return
    failure = done.exception()
    if failure is None:
        answer.set_result(done.result())
    else:
        answer.set_exception(failure)


def is_out_of_threads(failure: RuntimeError) -> bool:
    """Return whether an error says that no new thread could be started."""
    return NO_THREAD in str(failure)


def seen(task: asyncio.Future[Any]) -> None:
    """Retrieve the exception of a task that nobody awaits any more, so that asyncio does not log it."""
    if not task.cancelled():
        task.exception()


class KeyedLock:
    """One FIFO lock per key, kept only while it is held or awaited; for one event loop.

    :meth:`all` excludes every key: it waits for held locks, and later callers wait for it. A task that holds one of
    these locks must not take another.
    """

    def __init__(self) -> None:
        """Create the lock with no key held."""
        self._locks: dict[Hashable, asyncio.Lock] = {}
        self._users = Counter[Hashable]()
        self._whole = asyncio.Lock()
        self._open, self._empty = asyncio.Event(), asyncio.Event()
        self._open.set()
        self._empty.set()

    def of(self, key: Hashable) -> AbstractAsyncContextManager[None]:
        """Hold the lock of a key during the ``with`` block."""
        return _KeyHeld(self, key)

    @asynccontextmanager
    async def all(self) -> AsyncGenerator[None, None]:
        """Hold the locks of all keys during the ``with`` block."""
        async with self._whole:
            self._open.clear()
            try:
                await self._empty.wait()
                yield
            finally:
                self._open.set()

    async def enter(self, key: Hashable) -> None:
        """Wait for the lock of a key and hold it; :meth:`of` calls it."""
        while not self._open.is_set():
            await self._open.wait()
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        self._users[key] += 1
        self._empty.clear()
        try:
            await lock.acquire()
        except BaseException:
            self._forget_user(key)
            raise

    def leave(self, key: Hashable) -> None:
        """Release the lock of a key; users of :meth:`of` need not call it."""
        self._locks[key].release()
        self._forget_user(key)

    def _forget_user(self, key: Hashable) -> None:
        self._users[key] -= 1
        if not self._users[key]:
            del self._users[key], self._locks[key]
        if not self._locks:
            self._empty.set()


class _KeyHeld(AbstractAsyncContextManager[None]):
    """The context of one key: a class, because a job enters six, and a generator costs more."""

    __slots__ = ("_key", "_locks")

    def __init__(self, locks: KeyedLock, key: Hashable) -> None:
        self._locks, self._key = locks, key

    async def __aenter__(self) -> None:
        await self._locks.enter(self._key)

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        self._locks.leave(self._key)
