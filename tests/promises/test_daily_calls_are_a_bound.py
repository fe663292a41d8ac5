"""README: at most ``daily_calls`` model calls a day; afterwards the rules continue."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from cognitive_memory_core import Turn
from tests.support.puppet import REWRITE, Puppet
from tests.support.telling import EXACT, GAMES, READING, a_memory, tell
from tests.support.waiting import PATIENCE


async def test_over_the_bound_the_rules_remember(tmp_path: Path) -> None:
    """Ten turns with three calls a day give three calls, ten events, and a status that reports the limit."""
    chat = Puppet()
    settings = EXACT.model_copy(update={"daily_calls": 3})
    async with a_memory(tmp_path, settings, chat=chat) as memory:
        for number in range(10):
            said = f"阿禾({READING.user_id}) 在 2026年3月{number + 1}日 读完了第 {number + 1} 本书"
            await memory.remember(Turn(READING, observations=(said,)))
        assert await memory.drain(PATIENCE)
        assert len(chat.asked) == 3
        assert len(await memory.events(READING)) == 10
        status = await memory.status()
        assert status.is_over_daily_calls
        assert status.calls_today == 3


async def test_one_place_does_not_take_everybodys_calls(tmp_path: Path) -> None:
    """Once half of a day's calls are made, a place that made a quarter of them gets the rules, and others the model."""
    chat, numbers = Puppet(), count(1)
    settings = EXACT.model_copy(update={"daily_calls": 16})
    async with a_memory(tmp_path, settings, chat=chat) as memory:
        for scene in (*[READING] * 8, GAMES, READING, GAMES):
            number = next(numbers)
            await tell(
                memory, scene, f"{scene.user_name}({scene.user_id}) 在 2026年3月{number}日 读完了第 {number} 本书"
            )
        asked = [question.place for question in chat.asked if question.name == REWRITE]
        assert asked == [READING.group_id] * 8 + [GAMES.group_id] * 2
        assert len(await memory.events(READING)) == 9
