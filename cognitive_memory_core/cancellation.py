"""Runs work to completion despite cancellation, e.g. the release of resources."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from concurrent.futures import Executor, Future
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any, TypeVar

NO_THREAD = "can't start new thread"  # of RuntimeError, where memory or a limit of the system refuses one
T = TypeVar("T")
U = TypeVar("U")


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


@asynccontextmanager
async def released_on_failure() -> AsyncGenerator[AsyncExitStack, None]:
    """Yield an exit stack; if the body fails or is cancelled, close the stack completely before the error is raised.

    If the body of the ``with`` statement succeeds, the caller must close the stack.
    """
    stack = AsyncExitStack()
    try:
        yield stack
    except BaseException:
        await completed(stack.aclose())
        raise
