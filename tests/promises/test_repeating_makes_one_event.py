"""README: said five times, remembered once."""

from __future__ import annotations

from pathlib import Path

from tests.support.telling import READING, a_memory, tell


async def test_five_times_is_one_event_that_counts_five(tmp_path: Path) -> None:
    """Five turns with the same observation leave one event whose count is five."""
    async with a_memory(tmp_path) as memory:
        for _ in range(5):
            await tell(memory, READING, "阿禾(2156083317) 不吃香菜")
        assert [event.count for event in await memory.events(READING)] == [5]
