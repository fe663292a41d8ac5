"""README: if the memory is off, misconfigured or without a disk, the bot still answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.onebot import GROUP, data_of, prepare, running_bot

COMPANION = """
from nonebot import on_message, require

require("nonebot_plugin_cognitive_memory")
from nonebot_plugin_cognitive_memory import Consider, GetProfile, Memory, MemoryContext, MemoryTools, RecordEnd
from nonebot_plugin_cognitive_memory import SearchEvents, SearchProfiles

chat = on_message(priority=50)


@chat.handle()
async def turn(
    memory: Memory,
    context: MemoryContext,
    end: RecordEnd,
    consider: Consider,
    search: SearchEvents,
    profile: GetProfile,
    profiles: SearchProfiles,
    tools: MemoryTools,
):
    await end("备忘", ["观察"])
    await consider()
    await tools.call("end", {"memo": "备忘", "observations": ["观察"]})
    await chat.finish(f"活着 {await tools.call('search_events', {'query': '什么'})}")
"""


@pytest.mark.parametrize("env", [["COGNITIVE_MEMORY__ENABLED=false"], ["COGNITIVE_MEMORY__TIMEZONE=Mars/Base"]])
async def test_switched_off_or_misconfigured(tmp_path: Path, env: list[str]) -> None:
    """With the memory off or misconfigured every injected function returns, and tools report that it is off."""
    async with running_bot(tmp_path, {"companion": COMPANION}, env) as (_, client):
        answer = await client.ask("在吗", group=GROUP)
        assert answer.startswith("活着")
        assert "未启用" in answer


async def test_no_disk(tmp_path: Path) -> None:
    """If the data directory cannot be created, every injected function still returns."""
    prepare(tmp_path, {})
    data_of(tmp_path).parent.mkdir()
    data_of(tmp_path).touch()
    async with running_bot(tmp_path, {"companion": COMPANION}) as (_, client):
        assert (await client.ask("在吗", group=GROUP)).startswith("活着")
