"""Tests of the circuit breaker in front of models and stores."""

from __future__ import annotations

import asyncio
import logging

import pytest

from cognitive_memory_core.errors import BadAnswer, UnavailableError
from cognitive_memory_core.models.breaker import FIRST_PAUSE, LONGEST_PAUSE, MAX_FAILURES, Breaker
from tests.support.clock import FrozenClock
from tests.support.waiting import until


class Part:
    """A part that answers or raises, and counts its calls."""

    def __init__(self) -> None:
        """Start without an error."""
        self.error: Exception | None = None
        self.asked = 0

    async def act(self) -> str:
        """Answer or raise."""
        self.asked += 1
        if self.error:
            raise self.error
        return "well"


async def refused(breaker: Breaker, part: Part, times: int = 1) -> None:
    """Call a failing part a number of times."""
    for _ in range(times):
        with pytest.raises(UnavailableError):
            await breaker.call(part.act)


async def test_five_failures_in_a_row_open_it(caplog: pytest.LogCaptureFixture) -> None:
    """After five failures the next call fails at once with the waiting time, and this is logged once."""
    clock, part = FrozenClock(), Part()
    breaker = Breaker("embedding", elapsed=clock.elapsed)
    assert breaker.state == "uninitialised"
    part.error = UnavailableError("gone")
    with caplog.at_level(logging.WARNING):
        await refused(breaker, part, MAX_FAILURES + 3)
    with pytest.raises(UnavailableError) as away:
        await breaker.call(part.act)
    assert part.asked == MAX_FAILURES
    assert away.value.retry_after == FIRST_PAUSE
    assert breaker.state == "failed"
    assert len(caplog.records) == 1


async def test_one_probe_after_the_pause_closes_it(caplog: pytest.LogCaptureFixture) -> None:
    """After the pause one call is let through; its success closes the breaker and is logged."""
    clock, part = FrozenClock(), Part()
    breaker = Breaker("vectors", elapsed=clock.elapsed)
    part.error = UnavailableError("gone")
    with caplog.at_level(logging.WARNING):
        await refused(breaker, part, MAX_FAILURES)
        clock.advance(seconds=FIRST_PAUSE)
        part.error = None
        assert await breaker.call(part.act) == "well"
        assert await breaker.call(part.act) == "well"
    assert len(caplog.records) == 2


async def test_pauses_grow_and_are_bounded() -> None:
    """Each failed probe doubles the pause up to a limit, and other calls are refused meanwhile."""
    clock, part = FrozenClock(), Part()
    breaker = Breaker("vectors", elapsed=clock.elapsed)
    part.error = UnavailableError("gone")
    await refused(breaker, part, MAX_FAILURES)
    for _ in range(12):
        clock.advance(seconds=LONGEST_PAUSE)
        await refused(breaker, part)
    asked = part.asked
    clock.advance(seconds=LONGEST_PAUSE - 1)
    await refused(breaker, part)
    assert part.asked == asked


async def test_the_other_sides_wish_is_heard() -> None:
    """A part that gives a retry time is not called before."""
    clock, part = FrozenClock(), Part()
    breaker = Breaker("embedding", elapsed=clock.elapsed)
    part.error = UnavailableError("busy", retry_after=30)
    await refused(breaker, part, MAX_FAILURES)
    clock.advance(seconds=29)
    await refused(breaker, part)
    assert part.asked == 1


async def test_only_one_probe_at_a_time() -> None:
    """Only one probe runs at a time, and a cancelled probe allows another."""
    clock = FrozenClock()
    breaker = Breaker("vectors", elapsed=clock.elapsed)
    part = Part()
    part.error = UnavailableError("gone")
    await refused(breaker, part, MAX_FAILURES)
    clock.advance(seconds=FIRST_PAUSE)
    probe = asyncio.create_task(breaker.call(asyncio.Event().wait))
    await asyncio.sleep(0)
    await refused(breaker, part)
    assert part.asked == MAX_FAILURES
    probe.cancel()
    await asyncio.gather(probe, return_exceptions=True)
    part.error = None
    assert await breaker.call(part.act) == "well"


async def test_a_bad_answer_is_an_answer() -> None:
    """A bad answer does not count as a failure of availability."""
    part = Part()
    breaker = Breaker("embedding")
    part.error = BadAnswer("?")
    for _ in range(MAX_FAILURES * 2):
        with pytest.raises(BadAnswer):
            await breaker.call(part.act)
    assert breaker.state == "ready"


async def test_a_call_that_hangs_is_seen_while_it_hangs(caplog: pytest.LogCaptureFixture) -> None:
    """A call without an answer counts as a failure while its caller still waits, and its answer ends that."""
    breaker, gate = Breaker("vectors"), asyncio.Event()
    with caplog.at_level(logging.WARNING):
        hanging = asyncio.create_task(breaker.call(gate.wait, overdue=0.01))
        await until(lambda: breaker.state == "failed")
        assert not hanging.done()
        gate.set()
        assert await hanging
    assert (breaker.state, breaker.last_error, len(caplog.records)) == ("ready", "", 2)
