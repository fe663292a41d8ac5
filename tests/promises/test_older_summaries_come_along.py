"""docs/migrating.md: a bot that starts with an older end_summaries.json remembers what it says."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import BinaryIO

import pytest

from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.domain.turn import Turn
from cognitive_memory_core.migration.conversion import Conversion
from tests.support.onebot import AHE, GROUP, ONLY, OTHER_GROUP, data_of, open_bot
from tests.support.telling import a_memory
from tests.support.waiting import PATIENCE, until

OLD = [
    {"summary": "帮阿禾查了露营地的天气", "timestamp": "2026-02-21T11:08:00+08:00", "location": ["坏了"]},
    {
        "summary": "定了周六去栖霞山露营",
        "timestamp": "2026-02-21T11:09:00+08:00",
        "location": {"type": "group", "name": str(GROUP)},
    },
]


async def test_what_the_older_mode_noted_is_found(tmp_path: Path) -> None:
    """The group finds an older summary by search, another group does not; the log says what did not come."""
    data_of(tmp_path).mkdir(parents=True)
    file = data_of(tmp_path) / "end_summaries.json"
    file.write_text(json.dumps(OLD, ensure_ascii=False), "utf-8")
    async with open_bot(tmp_path, {"only": ONLY}) as (bot, client):
        await until(lambda: "搬来了 end_summaries.json" in bot.log())
        assert "栖霞山" in await client.ask("/记忆 搜索 露营", group=GROUP, user=AHE)
        assert "栖霞山" not in await client.ask("/记忆 搜索 露营", group=OTHER_GROUP, user=AHE)
        assert "有 1 处没有搬" in bot.log()
    assert [row["summary"] for row in json.loads(file.read_text("utf-8"))] == [row["summary"] for row in OLD]


async def test_the_bot_works_while_they_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the file is still read, turns are accepted and contexts built; closing in the middle loses nothing."""
    (tmp_path / "end_summaries.json").write_text(json.dumps(OLD, ensure_ascii=False), "utf-8")
    here, goes_on, run = Scene.group(str(GROUP), str(AHE)), threading.Event(), Conversion.write

    def held_up(conversion: Conversion, draft: BinaryIO, scratch: Path) -> None:
        assert goes_on.wait(PATIENCE)
        run(conversion, draft, scratch)

    async def is_told() -> bool:
        return "养了一只猫" in (await memory.context(here, "猫")).text

    monkeypatch.setattr(Conversion, "write", held_up)
    async with a_memory(tmp_path) as memory:
        await memory.remember(Turn(here, memo="答了", observations=(f"阿禾({AHE}) 养了一只猫",)))
        await until(is_told)
        assert len(await memory.events(here)) == 1
        asyncio.get_running_loop().call_later(0.05, goes_on.set)  # while the memory is closed
    async with a_memory(tmp_path) as memory:
        assert await memory.drain(PATIENCE)
        assert any("栖霞山" in event.text for event in await memory.events(here))
        assert len(await memory.events(here)) == 2
