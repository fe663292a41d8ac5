"""asyncio tasks: background loops with their errors, and work that outlives a cancellation."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar

from . import sentences
from .domain.scope import log_fields
from .errors import CognitiveMemoryError, PermanentError, TransientError, UnavailableError
from .text.cleaning import described

log = logging.getLogger(__name__)
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0  # seconds
DEBOUNCE = 0.1  # seconds in which new work is collected: a call and a commit cost the same for one item as for many
UNTIL_NUDGED = 3600.0  # seconds of rest for a loop that has work only after a nudge
restarts: Counter[str] = Counter()
"""How often this process has restarted loops that somebody else cancelled, by their names."""
_order = itertools.count(1)
NO_THREAD = "can't start new thread"  # of RuntimeError, where memory or a limit of the system refuses one
PATIENCE = 5.0  # seconds that a read waits for a model or for another process
AWAY = (UnavailableError, TransientError, PermanentError, asyncio.TimeoutError)  # a part of an answer is missing
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


class BackgroundLoop:
    """Runs rounds one after another from :meth:`start` to :meth:`stop`, both of which may be called again.

    After an error, or a cancellation by anybody but :meth:`stop`, the loop repeats the round, after a growing pause of
    at least the error's ``retry_after``. ``trouble`` keeps the error until a round succeeds. A nudge during a round
    causes another round.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[], Coroutine[Any, Any, float]],
        *,
        debounce: float = DEBOUNCE,
        spacing: float = 0.0,
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
        self._pause = FIRST_PAUSE
        self._longest_pause = longest_pause
        self._on_failure = on_failure
        self._wake, self._skip_waits = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._restart: asyncio.TimerHandle | None = None

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
            self._pause = FIRST_PAUSE
            self._begin()

    async def stop(self) -> bool:
        """Cancel the running round and wait until it has ended; return whether the loop ran."""
        task, self._task = self._task, None
        if self._restart:
            self._restart.cancel()
        await ended({task} if task else ())
        return task is not None

    def _begin(self) -> None:
        self._task = asyncio.create_task(self._run(), name=self.trouble.name)
        self._task.add_done_callback(self._begin_again)

    async def _run(self) -> None:
        rest = 0.0
        while self._task is asyncio.current_task():  # else stopped, and the work has swallowed the cancellation
            if rest:
                if self._spacing:
                    await _is_set(self._skip_waits, self._spacing)
                if await _is_set(self._wake, rest) and self._debounce:
                    await _is_set(self._skip_waits, self._debounce)
                self._wake.clear()  # the next round sees what came meanwhile
                self._skip_waits.clear()
            rest = await self._work()
            self._pause = FIRST_PAUSE
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
        requested = failure.retry_after if isinstance(failure, CognitiveMemoryError) else None
        pause = min(max(self._pause, requested or 0.0), self._longest_pause)
        self._pause = min(self._pause * 2, self._longest_pause)
        self._restart = ended.get_loop().call_later(pause, self._begin)


async def _is_set(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event for at most ``seconds``; return whether it is set. Starts no task, as loops wait often."""
    loop = asyncio.get_running_loop()
    over = loop.time() + seconds
    timer = loop.call_at(over, event.set)
    try:
        await event.wait()
    finally:
        timer.cancel()
    if is_over := loop.time() >= over:
        event.clear()
    return not is_over


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
    done = set[asyncio.Task[T]]()
    try:
        done, _ = await asyncio.wait({task}, timeout=limit)
    finally:
        await ended({task} - done)
        seen(task)
    if not task.cancelled():
        return task.result()
    if not done:
        raise asyncio.TimeoutError
    raise TransientError(sentences.models.CANCELLED_BY_NOBODY)


async def ended(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel tasks and wait until they have ended."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)


async def completed(work: Awaitable[T]) -> T:
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


async def in_thread(pool: Executor, work: Callable[[], T]) -> T:
    """Run blocking work in a thread of a pool and return its result; it goes on if its caller is cancelled."""
    return await asyncio.shield(asyncio.get_running_loop().run_in_executor(pool, work))


def is_out_of_threads(failure: RuntimeError) -> bool:
    """Return whether an error says that no new thread could be started."""
    return NO_THREAD in str(failure)


def seen(task: asyncio.Future[Any]) -> None:
    """Retrieve the exception of a task that nobody awaits any more, so that asyncio does not log it."""
    if not task.cancelled():
        task.exception()


async def with_timeout(seconds: float, awaitable: Awaitable[T]) -> T:
    """Return the result, or raise asyncio.TimeoutError after ``seconds``.

    A late awaitable is cancelled without waiting for its cancellation to finish. UnavailableError tells that somebody
    else cancelled it, whose CancelledError would look like a cancellation by our caller.
    """
    task = asyncio.ensure_future(awaitable)
    if not task.done():
        task.add_done_callback(seen)
        try:
            await asyncio.wait({task}, timeout=seconds)
            if not task.done():
                raise asyncio.TimeoutError
        finally:
            task.cancel()  # no effect on a finished task
    if task.cancelled():
        raise UnavailableError(sentences.models.CANCELLED_BY_NOBODY)
    return task.result()
