"""Tests of start and stop."""

from __future__ import annotations

import asyncio
import gc
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

import cognitive_memory_core as core
from tests.support.waiting import until


def lifetime_of(data_dir: Path | None, problem: str = "", **settings: Any) -> Any:
    """Return a separate lifetime."""
    from nonebot_plugin_cognitive_memory.config import Setup
    from nonebot_plugin_cognitive_memory.lifecycle import Lifetime

    return Lifetime(Setup(core.Settings.from_mapping(settings), data_dir, problem))


async def test_from_start_to_stop(app: object, tmp_path: Path, log: list[str]) -> None:
    """The start hook opens the memory, one log line says where and how, and the memory is closed after the stop."""
    lifetime = lifetime_of(tmp_path)
    assert not lifetime.memory.is_running
    await lifetime.start()
    await until(lambda: lifetime.memory.is_running)
    [line] = [line for line in log if "[认知记忆] 已启动" in line]
    assert str(tmp_path) in line
    assert "规则史官" in line
    assert "记录所有群和私聊" in line
    await lifetime.stop()
    assert not lifetime.memory.is_running
    await lifetime.stop()


async def test_what_is_made_at_the_start_is_not_collected_again(app: object, tmp_path: Path) -> None:
    """Once the memory is open, garbage collections skip what the bot is made of: a full one would block its loop."""
    gc.unfreeze()
    lifetime = lifetime_of(tmp_path)
    await lifetime.start()
    await until(lambda: gc.get_freeze_count() > 0)
    frozen = gc.get_freeze_count()
    await lifetime.stop()
    await lifetime.start()
    await until(lambda: lifetime.memory.is_running)
    assert gc.get_freeze_count() <= frozen
    await lifetime.stop()


async def test_a_memory_whose_tasks_are_cancelled_opens_again(app: object, tmp_path: Path) -> None:
    """Whoever cancels the memory's tasks, it opens again, with what was said meanwhile; the status counts it (F34)."""
    others = asyncio.all_tasks()
    lifetime, scene = lifetime_of(tmp_path), core.Scene.group("10001", "2000001")
    await lifetime.start()
    await until(lambda: lifetime.memory.is_running)
    for number in range(3):
        for task in asyncio.all_tasks() - others if number == 1 else ():
            task.cancel()
        await asyncio.sleep(0)
        line = core.Message(f"m{number}", scene, f"第 {number} 句", datetime.now(timezone.utc))
        await lifetime.hand_in(lambda memory, line=line: memory.observe(line))
    await until(lambda: lifetime.memory.is_running)
    await lifetime.settle()
    assert [line.id for line in await lifetime.memory.recent_messages(scene)] == ["m0", "m1", "m2"]
    assert dict((await lifetime.memory.status()).restarts)["memory"]
    await lifetime.stop()
    assert not lifetime.memory.is_running


async def test_stopped_while_waiting(app: object, tmp_path: Path) -> None:
    """A bot that stops while its memory waits for the lock does not wait for it."""
    async with core.CognitiveMemory.open(core.Settings(), tmp_path, background=False):
        lifetime = lifetime_of(tmp_path, historian={"shutdown_seconds": 600})
        await lifetime.start()
        await lifetime.stop()
        assert not lifetime.memory.is_running


async def test_switched_off(app: object, tmp_path: Path, log: list[str]) -> None:
    """With enabled=false the start line says that no memory is used."""
    lifetime = lifetime_of(tmp_path, enabled=False)
    await lifetime.start()
    await lifetime.stop()
    assert [line for line in log if "停用" in line]


@pytest.mark.parametrize(
    ("models", "said"),
    [
        ({}, "无模型：规则史官；不带模型的 hash 向量；"),
        ({"historian": {"model_name": "a"}}, "模型 a；不带模型的 hash 向量；"),
        (
            {"historian": {"model_name": "a"}, "merge": {"model_name": "b"}},
            "模型 a、写侧写用 b；不带模型的 hash 向量；",
        ),
        ({"embedding": {"model_name": "e"}, "rerank": {"model_name": "r"}}, "规则史官；向量模型 e；重排模型 r；"),
    ],
)
def test_the_start_line_names_the_models(app: object, tmp_path: Path, models: dict[str, Any], said: str) -> None:
    """The start line names the models that are set, and what works without one."""
    from nonebot_plugin_cognitive_memory.replies import log

    settings = core.Settings.from_mapping({"models": models})
    historian = log.historian(settings.models.historian, None, (), borrows=False)
    assert said in log.started(tmp_path, settings, historian, models.get("embedding", {}).get("model_name", "hash"))
