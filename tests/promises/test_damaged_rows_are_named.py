"""docs/data.md: damaged rows of the ledger are named, and the bot goes on."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import cognitive_memory_core as core
from cognitive_memory_core.historian import upkeep
from tests import golden
from tests.golden import fill
from tests.support.clock import NOON, FrozenClock
from tests.support.damaged_rows import DAMAGES
from tests.support.waiting import until

SETTINGS = core.Settings(vector_store=core.VectorStoreSettings(backend="exact"))


@pytest.mark.parametrize("table", DAMAGES)
async def test_a_running_memory_names_the_damage_and_goes_on(
    tmp_path: Path, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status of a running memory says what is damaged and what to do; it goes on remembering and answering."""
    newest = [name for name in golden.names() if "grown" in name][-1]  # has rows of every table
    data = golden.unpacked(newest, tmp_path / "data")
    DAMAGES[table](data)
    monkeypatch.setattr(upkeep, "AFTER", 0.0)
    async with core.CognitiveMemory.open(SETTINGS, data, clock=FrozenClock(fill.NOON)) as memory:
        await until(lambda: _names_damage(memory))
        status = await memory.status()
        said = dict(status.failing)["ledger rows"]
        assert table in said
        assert "从备份恢复" in said
        assert status.last_error
        assert status.is_running
        await memory.context(fill.GROUP, "乌龙茶")
        await memory.remember(core.Turn(fill.PRIVATE, memo="聊了天气"))
        assert "聊了天气" in [memo.text for memo in await memory.memos(fill.PRIVATE, 100)]


async def test_a_damaged_line_costs_no_answer(tmp_path: Path) -> None:
    """A line whose person is lost makes contexts of its place smaller and raises nothing; one of no kind is read."""
    chat, group = core.Scene.private("2000001"), core.Scene.group("10001", "2000001")
    async with core.CognitiveMemory.open(SETTINGS, tmp_path, clock=FrozenClock()) as memory:
        for scene in (chat, group):
            await memory.observe(core.Message("m1", scene, "我爱喝乌龙茶", NOON))
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as ledger, ledger:
        ledger.execute("UPDATE messages SET user_id = '' WHERE request_type = 'private'")
        ledger.execute("UPDATE messages SET request_type = 'grouq' WHERE request_type = 'group'")
    async with core.CognitiveMemory.open(SETTINGS, tmp_path, clock=FrozenClock()) as memory:
        assert "lexical" in (await memory.context(chat, "谁爱喝乌龙茶")).degraded
        assert await memory.recent_messages(chat) == []
        assert "我爱喝乌龙茶" in (await memory.context(group, "谁爱喝乌龙茶呢")).text


async def _names_damage(memory: core.CognitiveMemory) -> bool:
    return bool((await memory.status()).damage)
