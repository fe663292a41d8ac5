"""Tests that the recipes of docs/authors.md do what the page says, run as they stand there."""

from __future__ import annotations

import asyncio
import re
import textwrap
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from nonebot import on_command, on_message
from nonebot.adapters import Bot, Event
from nonebot.adapters.onebot.v11 import Message

import cognitive_memory_core as core

from .stage import Stage, message, texts

PAGE = Path(__file__).parents[2] / "docs" / "authors.md"
RECIPE = re.compile(r"^## (?P<title>[^\n]+)\n(?:(?!^## ).)*?```python\n(?P<code>.*?)```", re.MULTILINE | re.DOTALL)
RECIPES = {recipe["title"]: recipe["code"] for recipe in RECIPE.finditer(PAGE.read_text("utf-8"))}


@pytest.fixture
def names() -> Iterator[dict[str, Any]]:
    """Return the names that a recipe finds in its file: imports, and a matcher named ``chat``."""
    import nonebot_plugin_cognitive_memory as plugin

    found: dict[str, Any] = {"Bot": Bot, "Event": Event, "Message": Message}
    for name in ("MemoryContext", "RecordEnd", "find_scene", "get_memory", "record_end"):
        found[name] = getattr(plugin, name)
    yield found
    if "chat" in found:
        found["chat"].destroy()


async def logged(group: int) -> list[str]:
    """Return the texts of the log of a group."""
    from nonebot_plugin_cognitive_memory import get_memory

    return texts(await get_memory().recent_messages(core.Scene.group(str(group), "2000001")))


async def memos(group: int) -> list[str]:
    """Return the memos of a group."""
    from nonebot_plugin_cognitive_memory import get_memory

    return texts(await get_memory().memos(core.Scene.group(str(group), "2000001")))


def test_the_page_has_these_recipes() -> None:
    """Each recipe with code is run by a test here."""
    assert list(RECIPES) == ["以命令开头的聊天", "流式输出", "后台任务和队列"]


async def test_a_command_that_is_chat(stage: Stage, group: int, names: dict[str, Any]) -> None:
    """What follows the plugin's command is logged, without the command."""
    names["chat"] = on_command("authors-recipe", priority=40)
    exec(RECIPES["以命令开头的聊天"], names)
    await stage.hear(message("/authors-recipe 我对花生过敏", 2000001, group))
    assert await logged(group) == ["我对花生过敏"]


async def test_a_streamed_answer(stage: Stage, group: int, names: dict[str, Any]) -> None:
    """The turn ends when the last piece has come, and its memo has the answer."""

    async def ask_in_pieces(**asked: str) -> AsyncIterator[str]:
        assert asked["user"] == "吃什么"
        for piece in ("罐", "头"):
            await asyncio.sleep(0)
            yield piece

    names |= {"chat": on_message(priority=40, block=False), "ask_in_pieces": ask_in_pieces}
    exec(RECIPES["流式输出"], names)
    await stage.hear(message("吃什么", 2000001, group))
    assert await memos(group) == ["回答了：罐头"]


async def test_a_task_in_the_background(stage: Stage, group: int, names: dict[str, Any]) -> None:
    """A task that outlives its event records the turn of its own scene, whatever event is handled meanwhile."""
    names["chat"] = on_message(priority=40, block=False)
    body = textwrap.indent(RECIPES["后台任务和队列"], "    ")
    exec(f"async def remind(bot, event):\n{body}", names)
    later: list[asyncio.Task[None]] = []

    @names["chat"].handle()
    async def turn(bot: Bot, event: Event) -> None:
        if not later:
            later.append(asyncio.create_task(names["remind"](bot, event)))

    await stage.hear(message("提醒我交作业", 2000001, group))
    await stage.hear(message("别的群的话", 2000002, group + 500_000))
    await asyncio.gather(*later)
    assert await memos(group) == ["提醒了交作业"]
    assert await memos(group + 500_000) == []


async def test_an_agent_with_prefixed_tools(stage: Stage, group: int) -> None:
    """Tools under a prefix are called by their prefixed names, in the scene of the event, and end the turn."""
    from nonebot_plugin_cognitive_memory import call_tool, find_scene, tool_guide, tool_schemas

    scene = find_scene(stage.bot, message("记一下", 2000001, group))
    assert scene is not None
    offered = [schema["function"]["name"] for schema in tool_schemas("mem_")]
    assert "mem_end" in offered
    assert "mem_end" in tool_guide("mem_")
    ended = await call_tool("mem_end", {"memo": "说好了", "group_id": "1"}, scene)
    assert '"ok": true' in ended
    assert await memos(group) == ["说好了"]
