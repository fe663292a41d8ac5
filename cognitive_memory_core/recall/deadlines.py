"""Timeouts for awaitables, and the errors after which a search continues without one of its parts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from ..errors import PermanentError, TransientError, UnavailableError
from ..tasks import seen

PATIENCE = 5.0  # seconds that a read waits for a model or for another process
AWAY = (UnavailableError, TransientError, PermanentError, asyncio.TimeoutError)  # a part of an answer is missing
TURNS = 8  # of the event loop, in which an embedder that waits for nothing has answered through all its wrappers
T = TypeVar("T")


async def with_timeout(seconds: float, awaitable: Awaitable[T]) -> T:
    """Return the result, or raise asyncio.TimeoutError after ``seconds``.

    A late awaitable is cancelled without waiting for its cancellation to finish.
    """
    task = asyncio.ensure_future(awaitable)
    if task.done():
        return task.result()
    task.add_done_callback(seen)
    try:
        done, _ = await asyncio.wait((task,), timeout=max(seconds, 0.0))
    finally:
        task.cancel()  # no effect on a finished task
    if not done:
        raise asyncio.TimeoutError
    return task.result()


async def settled(answer: asyncio.Future[Any]) -> None:
    """Let the event loop turn a few times, until the future is done: a remote model answers later, others by then."""
    for _ in range(TURNS):
        if answer.done():
            break
        await asyncio.sleep(0)


async def shielded(awaitable: Awaitable[T]) -> T:
    """Return the result; work whose caller is cancelled goes on to its end, so that breakers count its outcome."""
    task = asyncio.ensure_future(awaitable)
    task.add_done_callback(seen)
    return await asyncio.shield(task)
