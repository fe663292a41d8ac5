"""Tests of what was said in a place while somebody was away."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from cognitive_memory_core import BadArgument, CognitiveMemory, Message, Scene
from tests.support.clock import FrozenClock
from tests.support.telling import GAMES, READING, READING_MILI, a_memory

NOW = datetime(2026, 6, 5, 4, tzinfo=timezone.utc)


async def say(memory: CognitiveMemory, scene: Scene, text: str, minutes_ago: float) -> None:
    """Let somebody say a line that the memory also considers."""
    at = NOW - timedelta(minutes=minutes_ago)
    line = Message(f"{scene.user_id}-{minutes_ago}", scene, text, at)
    await memory.observe(line)
    await memory.consider(scene, [line])


async def test_what_was_said_since_somebody_left(tmp_path: Path) -> None:
    """Lines after the asker's last one are counted by talk and speaker, with the events made of them."""
    async with a_memory(tmp_path, clock=FrozenClock(NOW)) as memory:
        await say(memory, READING_MILI, "我把聚会定在6月1号了", 500)
        await say(memory, READING, "好，我先下线了", 400)
        await say(memory, READING_MILI, "聚会改到6月8号下午三点", 300)
        await say(memory, READING_MILI, "地点我定了，青石路12号", 290)
        await say(memory, GAMES, "桌游我定在6月2号", 200)
        await say(memory, READING_MILI, "我7月1号搬家去杭州", 100)
        await say(memory, READING, "我回来了", 1)
        assert await memory.drain(60)
        missed = await memory.catch_up(READING)
        assert missed.since == NOW - timedelta(minutes=400)
        assert [talk.lines for talk in missed.talks] == [2, 1, 1]
        first, second, _ = missed.talks
        assert [(person.name, count) for person, count in first.speakers] == [("米粒", 2)]
        assert ["6月8号" in event.text or "青石路" in event.text for event in first.events] == [True] * 2
        assert ["杭州" in event.text for event in second.events] == [True]
        assert not missed.is_cut
        text = "".join(event.text for talk in missed.talks for event in talk.events)
        assert "6月1号" not in text  # it was said before they left
        assert "6月2号" not in text  # it was said elsewhere


async def test_it_may_be_asked_for_a_time(tmp_path: Path) -> None:
    """``since`` is a time with a zone or ISO text; anything else is a mistake of the caller."""
    async with a_memory(tmp_path, clock=FrozenClock(NOW)) as memory:
        for minutes_ago in (300, 200, 100):
            await say(memory, READING_MILI, f"{minutes_ago} 分钟以前", minutes_ago)
        since = NOW - timedelta(minutes=250)
        assert (await memory.catch_up(READING, since=since)).lines == 2
        assert (await memory.catch_up(READING, since=since.isoformat())).lines == 2
        with pytest.raises(BadArgument):
            await memory.catch_up(READING, since="刚才")
