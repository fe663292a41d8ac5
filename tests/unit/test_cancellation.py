"""Tests of running tasks to their end."""

from __future__ import annotations

import asyncio

import pytest

from cognitive_memory_core.cancellation import both, together


async def test_works_run_at_once_and_answer_in_order() -> None:
    """Tasks run concurrently, and their results are in the order of the tasks."""
    first, second = asyncio.Event(), asyncio.Event()

    async def leading() -> int:
        first.set()
        await second.wait()
        return 1

    async def following() -> int:
        await first.wait()
        second.set()
        return 2

    assert await together(leading(), following()) == [1, 2]
    first.clear()
    second.clear()
    assert await both(leading(), following()) == (1, 2)


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
        await both(failing(), slow())
    with pytest.raises(ValueError):  # noqa: PT011  # it bears no message
        await both(slow(), failing())
    with pytest.raises(ValueError):  # noqa: PT011  # it bears no message
        await both(failing(), failing())
    with pytest.raises(ValueError):  # noqa: PT011  # it bears no message
        await together(slow(), failing())
    assert ended == ["slow", "slow", "slow"]


async def test_a_cancelled_caller_ends_every_work() -> None:
    """If the caller is cancelled, all tasks have ended when the caller ends."""
    ended = list[str]()

    async def hanging() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("hanging")

    async def ended_now() -> None:
        pass

    for works in (
        together(hanging(), hanging()),
        both(hanging(), hanging()),
        both(hanging(), ended_now()),
        both(ended_now(), hanging()),
    ):
        ended.clear()
        task = asyncio.ensure_future(works)
        for _ in range(3):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
        assert set(ended) == {"hanging"}
    assert len(ended) == 1
