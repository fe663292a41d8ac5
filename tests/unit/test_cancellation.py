"""Tests of running tasks to their end."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from cognitive_memory_core.tasks import in_thread, together


async def test_a_failure_is_raised_once_every_work_has_ended() -> None:
    """If one task raises, the others are ended before the caller gets the error."""
    ended = list[str]()

    async def failing() -> None:
        raise ValueError

    async def slow() -> None:
        for _ in range(10):
            await asyncio.sleep(0)
        ended.append("slow")

    with pytest.raises(ValueError):  # noqa: PT011  # it bears no message
        await together(slow(), failing())
    assert ended == ["slow"]


async def test_a_cancelled_caller_ends_every_work() -> None:
    """If the caller is cancelled, all tasks have ended when the caller ends."""
    ended = list[str]()

    async def hanging() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("hanging")

    task = asyncio.ensure_future(together(hanging(), hanging()))
    for _ in range(3):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    assert ended == ["hanging", "hanging"]


async def test_a_thread_returns_what_its_work_returns_or_raises() -> None:
    """Work in a thread of a pool gives its caller the result or the error."""
    with ThreadPoolExecutor(1) as pool:
        assert await in_thread(pool, lambda: threading.current_thread() is not threading.main_thread())
        with pytest.raises(ZeroDivisionError):
            await in_thread(pool, lambda: 1 / 0)


async def test_work_in_a_thread_goes_on_without_its_caller() -> None:
    """Work that waits for a thread is done, although its caller was cancelled meanwhile."""
    may_end, is_done = threading.Event(), threading.Event()
    with ThreadPoolExecutor(1) as pool:
        first = asyncio.ensure_future(in_thread(pool, may_end.wait))
        second = asyncio.ensure_future(in_thread(pool, is_done.set))
        await asyncio.sleep(0)
        second.cancel()
        may_end.set()
        assert await first
        with pytest.raises(asyncio.CancelledError):
            await second
    assert is_done.is_set()
