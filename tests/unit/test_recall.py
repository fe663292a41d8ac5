"""Tests of the order of search results with real parts."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cognitive_memory_core import CognitiveMemory, Scene, Turn
from tests.support.builders import GROUP, a_message
from tests.support.clock import NOON, SHANGHAI, FrozenClock
from tests.support.telling import EXACT, say
from tests.support.waiting import PATIENCE

MAN = Scene.group("10001", "2000002", user_name="小满", group_name="读书会")
BETTY = Scene.group("10001", "2000003", user_name="Betty", group_name="读书会")


def opened(path: Path, **options: Any) -> Any:
    """Open a memory with a fixed clock."""
    return CognitiveMemory.open(EXACT, path, **{"clock": FrozenClock(), **options})


async def told(memory: CognitiveMemory, scene: Scene, *observations: str, days_ago: float = 0) -> None:
    """Let the person say lines some days ago and wait until they are stored."""
    await say(memory, scene, *observations, at=NOON - timedelta(days=days_ago))


async def found(memory: CognitiveMemory, scene: Scene, query: str, **narrowed: Any) -> list[str]:
    """Return the texts that a search finds, best first."""
    return [hit.event.text for hit in await memory.search_events(scene, query, **narrowed)]


def recollections(text: str) -> str:
    """Return the part of a block with the events."""
    return text.partition("【相关回忆】")[2].partition("【")[0]


async def test_last_week_comes_first_and_the_rest_stays(tmp_path: Path) -> None:
    """上周谁说要请客 finds last week's event before an older and a newer one, which are kept."""
    async with opened(tmp_path) as memory:
        await told(memory, MAN, "我说要请客吃火锅", days_ago=40)
        await told(memory, GROUP, "我说要请客喝茶", days_ago=8)
        await told(memory, BETTY, "我说要请客看电影", days_ago=0.1)
        texts = await found(memory, GROUP, "上周谁说要请客")
        assert "阿棠" in texts[0]
        assert len(texts) == 3
        assert "阿棠" in recollections((await memory.context(GROUP, "上周谁说要请客")).text).splitlines()[1]


@pytest.mark.parametrize(
    ("narrowed", "numbers"),
    [
        ({"time_from": "2026-03-02T00:00:00", "time_to": "2026-03-03T12:30:00"}, "23"),
        ({"time_from": "2026-03-02", "time_to": "2026-03-03"}, "23"),
        ({"time_from": "2026-03-03", "time_to": "2026-03-02"}, "23"),
        ({"time_to": "2026-03-02"}, "12"),
        ({"time_from": "2026-03-03T12:00:00+08:00"}, "34"),
        ({"time_from": datetime(2026, 3, 3, 4, tzinfo=SHANGHAI)}, "34"),
    ],
)
async def test_times_of_the_tool_are_hard(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, narrowed: dict[str, Any], numbers: str
) -> None:
    """Naive times use the configured zone, the end day is included, and swapping reversed times is logged."""
    async with opened(tmp_path) as memory:
        for day in (3, 2, 1, 0):
            await told(memory, GROUP, f"阿棠第{4 - day}次去爬山", days_ago=day)
        with caplog.at_level(logging.WARNING):
            texts = await found(memory, GROUP, "阿棠爬山", **narrowed)
        assert sorted(number for text in texts for number in "1234" if f"第{number}次" in text) == list(numbers)
        assert bool(caplog.records) == (narrowed.get("time_from") == "2026-03-03" and "time_to" in narrowed)


async def test_whoever_asks_is_meant_by_me(tmp_path: Path) -> None:
    """我对什么过敏 finds the asker's own allergy first."""
    async with opened(tmp_path) as memory:
        await told(memory, GROUP, "我对花生过敏", days_ago=3)
        await told(memory, MAN, "我对芒果过敏", days_ago=3)
        for scene, word in ((GROUP, "花生"), (MAN, "芒果")):
            texts = await found(memory, scene, "我对什么过敏")
            assert word in texts[0]
            assert len(texts) == 2


async def test_the_speaker_is_found_where_another_was_spoken_to(tmp_path: Path) -> None:
    """A statement of 小满 during a conversation of 阿棠 with the bot is found for both."""
    async with opened(tmp_path) as memory:
        message = a_message("我在学吹长笛", MAN, NOON - timedelta(days=1), id="m1")
        await memory.consider(GROUP, [message])
        await memory.remember(Turn(GROUP, observations=["小满在学吹长笛"], recent_messages=(message,)))
        assert await memory.drain(PATIENCE)
        for user_id in ("2000001", "2000002"):
            assert "长笛" in "".join(await found(memory, GROUP, "长笛", user_id=user_id))
