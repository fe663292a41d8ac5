"""Tests of taking in past lines through the façade, and of their consideration."""

from __future__ import annotations

from pathlib import Path

import cognitive_memory_core as core
from cognitive_memory_core.historian.past_lines import APART
from tests.support.builders import GROUP, OTHER_GROUP, a_message
from tests.support.chats import ScriptedChat
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import later

SETTINGS = core.Settings.model_validate(
    {
        "vector_store": {"backend": "exact"},
        "capture": {"ignore_users": ["2000009"], "ignore_groups": ["10009"], "consider_every": 5},
    }
)
OTHER = core.Scene.group("10001", "2000002", user_name="小林")


async def test_what_would_not_have_been_recorded_stays_out(tmp_path: Path) -> None:
    """Each reason for which a past line is left out is counted under its name, and said in one sentence."""
    ignored = core.Scene.group("10001", "2000009"), core.Scene.group("10009", "2000002")
    async with core.CognitiveMemory.open(SETTINGS, tmp_path, background=False, clock=FrozenClock()) as memory:
        await memory.incognito(OTHER, 30)
        await memory.opt_out("2000003")
        await memory.set_switch(OTHER_GROUP, "off")
        report = await memory.backfill(
            [
                a_message("甲", sent_at=later(days=-1)),
                a_message("我是机器人", is_bot=True),
                *(a_message("不记", scene) for scene in ignored),
                a_message("别记", core.Scene.group("10001", "2000003")),
                a_message("关着", OTHER_GROUP),
                a_message("无痕", OTHER, later(minutes=5)),
                a_message("很久", sent_at=later(days=-181)),
                a_message("将来", sent_at=later(days=2)),
                a_message(" \n"),
            ]
        )
        wanted = ("own", "opted_out", "switched_off", "incognito", "too_old", "future", "blank")
        assert report == core.Backfill(1, 0, {"ignored": 2, **dict.fromkeys(wanted, 1)})
        assert "新记下 1 句" in report.summary
        assert "无痕时说的 1 句" in report.summary
        assert [line.text for line in await memory.recent_messages(GROUP)] == ["甲"]


async def test_a_line_heard_live_is_the_same_line(tmp_path: Path) -> None:
    """A line that was heard a moment ago, and is not on the disk yet, gives nothing new."""
    line = a_message("刚说的", number="7")
    async with core.CognitiveMemory.open(SETTINGS, tmp_path, background=False, clock=FrozenClock()) as memory:
        await memory.observe(line)
        assert await memory.backfill([a_message("刚说的", number="7")]) == core.Backfill(known=1)
        assert len(await memory.recent_messages(GROUP)) == 1


async def test_past_lines_become_memories_window_by_window(tmp_path: Path) -> None:
    """Past lines are considered oldest first, in windows that end at a long silence, and each of them once."""
    clock = FrozenClock(NOON)
    lines = [
        a_message(f"我养了一只叫{name}的猫", sent_at=later(days=-3, minutes=at))
        for at, name in enumerate("甲乙丙丁戊己庚")
    ]
    lines.append(a_message("我搬到了杭州", sent_at=lines[-1].sent_at + APART))
    async with core.CognitiveMemory.open(SETTINGS, tmp_path, background=False, clock=clock) as memory:
        assert (await memory.backfill(lines[4:])).taken == 4
        assert (await memory.backfill(lines[:4])).taken == 4
        assert await memory.drain(30)
        events = await memory.events(GROUP)
        assert any("杭州" in event.text for event in events)
        assert sum(event.count for event in events) == 8
        assert [event.happened_at for event in events] == sorted((e.happened_at for e in events), reverse=True)
        clock.advance(days=1)
        assert (await memory.backfill(lines)).known == 8
        assert await memory.drain(30)
        assert sum(event.count for event in await memory.events(GROUP)) == 8


async def test_half_of_the_days_calls_belong_to_today(tmp_path: Path) -> None:
    """Once half of the day's calls are spent, past lines wait, and a drain does not wait for them."""
    settings = SETTINGS.model_copy(update={"daily_calls": 1})
    async with core.CognitiveMemory.open(
        settings, tmp_path, background=False, clock=FrozenClock(), chat=ScriptedChat()
    ) as memory:
        memory._opened.budget.count("triage", 10)
        assert (await memory.backfill([a_message("我养了一只猫", sent_at=later(days=-1))])).taken == 1
        assert await memory.drain(30)
        assert await memory.events(GROUP) == []
