"""Waiting no longer than is worth it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection
from typing import Any, TypeVar

T = TypeVar("T")


async def with_timeout(seconds: float, awaitable: Awaitable[T]) -> T:
    """Give the answer, or raise asyncio.TimeoutError once the time is over.

    What is late is cancelled and not waited for: it may hold on to its work for as long as it likes.
    """
    task = asyncio.ensure_future(awaitable)
    task.add_done_callback(_seen)
    try:
        done, _ = await asyncio.wait((task,), timeout=max(seconds, 0.0))
    finally:
        task.cancel()  # nothing to one that is done
    if not done:
        raise asyncio.TimeoutError
    return task.result()


async def finished(seconds: float, tasks: Collection[asyncio.Task[Any]]) -> None:
    """Wait until all tasks are done, at most so many seconds; cancel the late ones and do not wait for their end."""
    for task in tasks:
        task.add_done_callback(_seen)
    try:
        await asyncio.wait(tasks, timeout=max(seconds, 0.0))
    finally:
        for task in tasks:
            task.cancel()  # nothing to one that is done


async def with_deadline(instant: float, awaitable: Awaitable[T]) -> T:
    """Give the answer as :func:`with_timeout`, waiting up to an instant of the event loop's clock."""
    return await with_timeout(instant - asyncio.get_running_loop().time(), awaitable)


async def shielded(awaitable: Awaitable[T]) -> T:
    """Give the answer; whoever waits no longer leaves the work to come to its own end, which breakers count."""
    task = asyncio.ensure_future(awaitable)
    task.add_done_callback(_seen)
    return await asyncio.shield(task)


def _seen(task: asyncio.Future[T]) -> None:
    """Let a failure that nobody waits for any more be no complaint of the loop's."""
    if not task.cancelled():
        task.exception()
