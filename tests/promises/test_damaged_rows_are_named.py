"""docs/data.md: damaged rows of the ledger are named, and the bot goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

import cognitive_memory_core as core
from cognitive_memory_core.historian import upkeep
from tests import golden
from tests.golden import fill
from tests.support.clock import FrozenClock
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


async def _names_damage(memory: core.CognitiveMemory) -> bool:
    return bool((await memory.status()).damage)
