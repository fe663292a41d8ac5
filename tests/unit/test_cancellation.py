"""Tests of running tasks to their end."""

from __future__ import annotations

import asyncio

import pytest

from cognitive_memory_core.tasks import together


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
