"""Tests of the opening phase: early lines and calls wait in order, within limits, and losses are reported."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import cognitive_memory_core as core
from tests.support.waiting import until

from .stage import Stage, message, notice
from .test_lifecycle import lifetime_of

NOW = datetime.now(timezone.utc).replace(microsecond=0)
HERE = core.Scene.group("10001", "2000001", user_name="阿棠")


def said(number: int, text: str = "", scene: core.Scene = HERE, **fields: Any) -> core.Message:
    """Return a line."""
    at = NOW + timedelta(seconds=number)
    return core.Message(f"m{number}", scene, text or f"第 {number} 句", at, addressed_to_bot=True, **fields)


async def hear(lifetime: Any, line: core.Message) -> None:
    """Hand in a line."""
    await lifetime.hand_in(lambda memory: memory.observe(line))


async def remember(lifetime: Any) -> str | None:
    """Record a turn."""
    async with lifetime.in_order() as memory:
        return await memory.remember(core.Turn(HERE, memo="一轮"))


async def begun(*calls: Awaitable[Any]) -> list[asyncio.Task[Any]]:
    """Start calls in this order, and let them run as far as they can without the memory."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    await asyncio.sleep(0.05)
    return tasks


@pytest.fixture
async def lifetime(app: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    """Replace the plugin's lifetime by an unstarted one over a test folder."""
    from nonebot_plugin_cognitive_memory import capture, injected, lifecycle
    from nonebot_plugin_cognitive_memory.commands import places

    life = lifetime_of(tmp_path / "data", vector_store={"backend": "exact"})
    for module in (lifecycle, injected, capture, places):
        monkeypatch.setattr(module, "lifetime", life)
    monkeypatch.setattr(lifecycle, "PATIENCE", 0.01)
    yield life
    await life.stop()


@asynccontextmanager
async def opening(lifetime: Any) -> AsyncIterator[core.CognitiveMemory]:
    """Start while another process owns the directory; after the block the memory is open."""
    async with core.CognitiveMemory.open(core.Settings(), lifetime._setup.data_dir, background=False):
        await lifetime.start()
        assert not lifetime.memory.is_running
        yield lifetime.memory
    await until(lambda: lifetime.memory.is_running)


async def test_lines_wait_in_the_order_of_their_arrival(lifetime: Any) -> None:
    """Lines observed while the memory opens are stored in order, and nothing is recalled before."""
    async with opening(lifetime) as early:
        for number in range(1_000):
            await hear(lifetime, said(number))
        assert await early.recent_messages(HERE, 50) == []
        assert (await early.context(HERE, "第 1 句")).degraded == ("disabled",)
    await lifetime.settle()
    log = await lifetime.memory.recent_messages(HERE, 200)
    assert [line.id for line in log] == [f"m{number}" for number in range(800, 1_000)]
    assert len(await lifetime.memory.find_messages(HERE, [f"m{number}" for number in range(1_000)])) == 1_000


async def test_a_waiting_turn_answers_what_was_said_before_it(lifetime: Any) -> None:
    """A turn without a source answers the newest line at its end, not at the opening."""
    from nonebot_plugin_cognitive_memory import record_end

    async with opening(lifetime):
        await hear(lifetime, said(1, "我怕猫"))
        ends = await begun(record_end(HERE, "听到了", ["阿棠怕猫"]))
        await hear(lifetime, said(2, "我怕狗"))
    await asyncio.gather(*ends)
    assert await lifetime.memory.learned_messages(HERE, ["m1", "m2"]) == {"m1"}


async def test_through_a_real_bot(lifetime: Any, stage: Stage, group: int) -> None:
    """Early lines, a chat plugin's turn and answer, and a withdrawal all reach the memory."""
    from .companion import Companion, listening

    withdrawn, kept = message("我怕猫", 2000001, group), message("我怕狗", 2000001, group)
    with listening(Companion(says="你好", ends=("打了招呼", ["阿棠怕狗"]))) as chat:
        async with opening(lifetime):
            handled = await begun(stage.hear(withdrawn), stage.hear(kept))
            gone = {"user_id": 2000001, "operator_id": 2000001, "message_id": withdrawn.message_id}
            handled += await begun(stage.hear(notice("group_recall", group_id=group, **gone)))
        await asyncio.gather(*handled)
    assert len(chat.ended) == 3
    assert None not in chat.ended
    here = core.Scene.group(str(group), "2000001")
    log = await lifetime.memory.recent_messages(here, 50)
    assert [line.text for line in log if not line.is_bot] == ["我怕狗"]
    assert [line.text for line in log if line.is_bot] == ["你好"] * 3


async def test_a_tool_call_that_ends_a_turn_waits(lifetime: Any) -> None:
    """The tool ``end`` waits while the memory opens; tools that read answer that there is no memory yet."""
    from nonebot_plugin_cognitive_memory import call_tool

    async with opening(lifetime):
        assert "未启用" in await call_tool("memory_list", {}, HERE)
        ended = await begun(call_tool("end", {"memo": "打了招呼"}, HERE))
    assert '"ok": true' in await ended[0]
    assert [memo.text for memo in await lifetime.memory.memos(HERE)] == ["打了招呼"]


async def test_what_the_bounds_refuse_is_counted_and_told_once(
    lifetime: Any, stage: Stage, group: int, monkeypatch: pytest.MonkeyPatch, log: list[str]
) -> None:
    """Lines and turns beyond the limits are refused and counted in one log line and in the status."""
    from nonebot_plugin_cognitive_memory import lifecycle as waiting
    from nonebot_plugin_cognitive_memory import record_end

    monkeypatch.setattr(waiting, "WAITING", 5)
    async with opening(lifetime):
        ends = await begun(*(record_end(HERE, f"第 {number} 轮") for number in range(2)))
        for number in range(5):
            await hear(lifetime, said(number))
        ends += await begun(record_end(HERE, "第 2 轮"))
        assert ends[2].done()
    assert [end is None for end in await asyncio.gather(*ends)] == [False, False, True]
    await lifetime.settle()
    assert [line.id for line in await lifetime.memory.recent_messages(HERE, 50)] == ["m0", "m1", "m2"]
    assert "有 3 条消息或记录" in lifetime.refused
    assert "有 3 条消息或记录" in await stage.ask("/记忆 状态", 2000001, group)
    assert len([line for line in log if "有 3 条消息或记录" in line]) == 1


async def test_turns_do_not_wait_for_ever(lifetime: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn that waits too long returns None and is counted; lines still wait, and later turns work."""
    from nonebot_plugin_cognitive_memory import lifecycle, record_end

    monkeypatch.setattr(lifecycle, "WAIT", 0.1)
    async with opening(lifetime):
        await hear(lifetime, said(1))
        assert await record_end(HERE, "等不到") is None
        assert await record_end(HERE, "太晚了") is None
    assert await record_end(HERE, "打开了")
    assert "有 2 条消息或记录" in lifetime.refused
    assert [line.id for line in await lifetime.memory.recent_messages(HERE, 50)] == ["m1"]


async def test_an_opening_that_fails_is_told_with_what_waited(
    app: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: list[str]
) -> None:
    """If the opening fails, waiting turns return None, and one log line counts what was refused."""
    life = lifetime_of(tmp_path, historian={"shutdown_seconds": 0}, vector_store={"backend": "exact"})
    async with core.CognitiveMemory.open(core.Settings(), tmp_path, background=False):
        await life.start()
        await hear(life, said(1))
        ends = await begun(remember(life), remember(life))
        assert await asyncio.gather(*ends) == [None, None]
        await until(lambda: bool([line for line in log if "有 3 条消息或记录" in line]))
        assert not life.is_listening
        await hear(life, said(2))
        assert await remember(life) is None
        await life.stop()
    assert len([line for line in log if "没有收下" in line]) == 1


async def test_a_bot_that_stops_waits_for_what_was_said(lifetime: Any, log: list[str]) -> None:
    """A bot that stops while lines wait lets the memory open, within the time limit of stopping."""
    directory = lifetime._setup.data_dir
    async with core.CognitiveMemory.open(core.Settings(), directory, background=False):
        await lifetime.start()
        await hear(lifetime, said(1))
        ends = await begun(remember(lifetime))
        stopping = asyncio.create_task(lifetime.stop())
        await asyncio.sleep(0.05)
        assert not stopping.done()
    await stopping
    assert await ends[0]
    async with core.CognitiveMemory.open(core.Settings(), directory, background=False) as memory:
        assert [line.id for line in await memory.recent_messages(HERE)] == ["m1"]
        assert [memo.text for memo in await memory.memos(HERE)] == ["一轮"]
    assert not lifetime.refused
