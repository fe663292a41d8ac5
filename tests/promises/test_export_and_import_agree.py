"""README: an export is JSON Lines, and importing it again adds nothing."""

from __future__ import annotations

import json
from pathlib import Path

from cognitive_memory_core import Message
from tests.support.clock import NOON
from tests.support.telling import PRIVATE, READING, a_memory, recalled, tell


async def test_another_memory_has_the_same_after_one_import_and_after_two(tmp_path: Path) -> None:
    """An import gives another memory the same content, and importing again changes nothing."""
    file = tmp_path / "export.jsonl"
    async with a_memory(tmp_path / "old") as memory:
        await memory.observe(Message("m1", READING, "我带草莓", NOON))
        await memory.pin(READING, "阿禾管水果")
        await tell(memory, READING, "阿禾(2156083317) 带草莓")
        await tell(memory, PRIVATE, "阿禾(2156083317) 打算去大理", memo="聊了大理")
        rows = await memory.export(file)
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert lines[0] == {"format": "cognitive-memory", "version": 1}
    assert len(lines) == rows + 1
    async with a_memory(tmp_path / "new") as memory:
        assert await memory.import_(file) == rows
        first = await recalled(memory, READING, "谁带草莓")
        assert await memory.import_(file) == 0
        assert await recalled(memory, READING, "谁带草莓") == first
        assert "草莓" in first
        assert "大理" not in first
