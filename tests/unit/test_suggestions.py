"""Suggestions through the façade: decisions survive backup, export and import, and erasure reaches them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import cognitive_memory_core as core
from cognitive_memory_core.ports import EmbeddedEvent
from cognitive_memory_core.transfer.exported_rows import HEAD, written
from tests.support.builders import GROUP
from tests.support.clock import FrozenClock
from tests.support.experiences import LIN, MO, TANG, an_experience

SETTINGS = core.Settings(vector_store=core.VectorStoreSettings(backend="exact"))
JAM = (
    an_experience("打印机卡纸", "重启打印机", TANG),
    an_experience("打印机又卡纸了", "重启打印机", LIN, 1),
    an_experience("打印机一直卡纸", "重启打印机", MO, 2),
)
ADMIN = core.Scene.group(GROUP.group_id, "2000009", user_name="管理员")


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[core.CognitiveMemory]:
    """Open a memory; the clock stands after the last experience."""
    clock = FrozenClock()
    clock.advance(days=5)
    async with core.CognitiveMemory.open(SETTINGS, folder, background=False, clock=clock) as memory:
        yield memory


@asynccontextmanager
async def opened_with_jam(tmp_path: Path) -> AsyncIterator[core.CognitiveMemory]:
    """Open a memory in which three people met a problem."""
    file = tmp_path / "experiences.jsonl"
    file.write_bytes(b"\n".join([HEAD, *(written(EmbeddedEvent(event)) for event in JAM)]))
    async with opened(tmp_path / "data") as memory:
        await memory.import_(file)
        yield memory


async def test_decisions_survive_backup_and_export(tmp_path: Path) -> None:
    """In a backup, and after an import of an export, nothing that was decided is suggested again."""
    async with opened_with_jam(tmp_path) as memory:
        (found,) = await memory.suggestions(ADMIN)
        await memory.decide_suggestion(ADMIN, found.id, accept=False)
        await memory.backup(tmp_path / "copy")
        await memory.export(tmp_path / "export.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "export.jsonl").read_text("utf-8").splitlines()]
    (row,) = [line for line in lines if line.get("type") == "decision"]
    assert (row["kind"], row["is_accepted"], len(row["event_ids"])) == ("faq", False, 3)
    async with opened(tmp_path / "copy") as copy:
        assert await copy.suggestions(ADMIN) == []
    async with opened(tmp_path / "new") as fresh:
        await fresh.import_(tmp_path / "export.jsonl")
        assert await fresh.suggestions(ADMIN) == []
