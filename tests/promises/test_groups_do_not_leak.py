"""README: what one group knows is shown in no other group."""

from __future__ import annotations

from pathlib import Path

from cognitive_memory_core import Message
from tests.support.clock import NOON
from tests.support.telling import GAMES, GAMES_DOUSHA, READING, a_memory, recalled, tell


async def test_another_group_is_shown_nothing(tmp_path: Path) -> None:
    """No read path of another group shows it, not even to somebody who is in both."""
    async with a_memory(tmp_path) as memory:
        await memory.observe(Message("m1", READING, "暗号是青石巷咖啡馆", NOON))
        await tell(memory, READING, "读书会在青石巷咖啡馆二楼")
        assert "青石巷" in await recalled(memory, READING, "青石巷咖啡馆")
        for scene in (GAMES, GAMES_DOUSHA):
            assert "青石巷" not in await recalled(memory, scene, "青石巷咖啡馆")
