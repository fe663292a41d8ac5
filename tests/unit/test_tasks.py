"""Tests of the loop that runs background work."""

from __future__ import annotations

import asyncio
import logging

import pytest

from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.tasks import BackgroundLoop, isolated
from tests.support.waiting import until


class Work:
    """Background work with prepared rounds, each of which returns a pause or raises."""

    def __init__(self, *rounds: float | BaseException) -> None:
        """Use these rounds, then pauses of an hour."""
        self.rounds = list(rounds)
        self.done = 0

    async def round(self) -> float:
        """Run the next round."""
        self.done += 1
        outcome = self.rounds.pop(0) if self.rounds else 3600.0
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


@pytest.mark.parametrize("failure", [UnavailableError("away"), ZeroDivisionError("x"), asyncio.CancelledError("x")])
async def test_a_failure_is_said_once_and_outlived(failure: BaseException, caplog: pytest.LogCaptureFixture) -> None:
    """A failure is logged once, is kept in ``last_error`` until it is over, and does not end the loop."""
    work = Work(failure, failure, 3600.0)
    rounds = BackgroundLoop("work", work.round)
    with caplog.at_level(logging.WARNING):
        rounds.start()
        await until(lambda: bool(rounds.trouble.error))
        assert rounds.trouble.error.endswith(str(failure)) or isinstance(failure, asyncio.CancelledError)
        await until(lambda: not rounds.trouble.error)
    assert work.done == 3
    assert len(caplog.records) == 1
    await rounds.stop()


async def test_a_cancellation_ends_the_round_in_hand_first() -> None:
    """Cancelling a loop waits for the end of its current round."""
    ended = list[str]()

    async def work() -> float:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            ended.append("round")
        return 0.0

    rounds = BackgroundLoop("work", work)
    rounds.start()
    await asyncio.sleep(0.01)
    await rounds.stop()
    assert ended == ["round"]


@pytest.mark.parametrize("is_stubborn", [False, True])
async def test_work_over_its_limit_has_ended_before_the_error(is_stubborn: bool) -> None:
    """Work that takes too long is cancelled and awaited; what it returns nevertheless counts."""
    ended = list[str]()

    async def slow() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            ended.append("slow")
            if not is_stubborn:
                raise
        return "done"

    if is_stubborn:
        assert await isolated(slow(), 0.001) == "done"
    else:
        with pytest.raises(asyncio.TimeoutError):
            await isolated(slow(), 0.001)
    assert ended == ["slow"]
    assert await isolated(asyncio.sleep(0, "in time"), 3600) == "in time"
