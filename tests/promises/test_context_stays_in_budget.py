"""README: a context stays within its token budget."""

from __future__ import annotations

from pathlib import Path

import pytest

from cognitive_memory_core import Turn
from tests.support.telling import READING, a_memory
from tests.support.waiting import PATIENCE


@pytest.mark.parametrize("budget", [0, 60, 200, 1000])
async def test_the_block_is_never_larger_than_asked(tmp_path: Path, budget: int) -> None:
    """The context has at most as many tokens as requested, whatever is remembered."""
    async with a_memory(tmp_path) as memory:
        for number in range(30):
            text = f"第 {number} 次读书会读了一本很厚的书，大家讨论到很晚，阿禾(2156083317) 记了三页笔记。"
            await memory.pin(READING, text)
            await memory.remember(Turn(READING, memo=text, observations=(text,)))
        assert await memory.drain(PATIENCE)
        assert (await memory.context(READING, "读书会读了什么", budget=budget)).tokens <= budget
