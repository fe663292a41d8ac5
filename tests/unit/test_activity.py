"""Tests of the activity report: what is counted, and where a day begins."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from cognitive_memory_core import Activity, CognitiveMemory, DayCount, Message
from tests.support.clock import NOON, FrozenClock
from tests.support.telling import GAMES, READING, a_memory, tell


async def test_days_begin_at_midnight_of_the_configured_zone(tmp_path: Path) -> None:
    """A line half an hour before local midnight counts for the day that ends, and one after it for the next day."""
    clock = FrozenClock(NOON)
    midnight = NOON.replace(hour=0)
    async with a_memory(tmp_path, clock=clock) as memory:
        for minutes in (-30, 30, 60):
            await memory.observe(Message(f"m{minutes}", READING, "你好", midnight + timedelta(minutes=minutes)))
        await tell(memory, READING, "阿禾(2156083317) 喜欢乌龙茶", happened_at=NOON)
        here = await memory.activity(READING, days=2)
        yesterday, today = NOON.date() - timedelta(days=1), NOON.date()
        assert here == Activity(1, 3, (DayCount(yesterday, 1, 0), DayCount(today, 2, 1)))
        assert (await memory.activity(GAMES, days=1)) == Activity(0, 0, (DayCount(today),))


async def test_the_number_of_days_is_bounded(tmp_path: Path) -> None:
    """Between one day and a year are counted, whatever is asked; an absent memory counts none."""
    async with a_memory(tmp_path) as memory:
        assert [len((await memory.activity(READING, days=days)).days) for days in (-3, 1, 14, 10**9)] == [1, 1, 14, 366]
    assert await CognitiveMemory.absent().activity(READING) == Activity()
