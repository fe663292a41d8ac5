"""README: a person who opted out is neither recorded nor recalled."""

from __future__ import annotations

from pathlib import Path

from cognitive_memory_core import Message, Turn
from tests.support.clock import NOON
from tests.support.telling import READING, READING_MILI, a_memory, recalled, tell


async def test_neither_old_nor_new_words_come_back(tmp_path: Path) -> None:
    """After an opt-out earlier words of the person are not recalled and new ones are not recorded."""
    async with a_memory(tmp_path) as memory:
        await tell(memory, READING, "阿禾(2156083317) 养了一只鹦鹉")
        assert "鹦鹉" in await recalled(memory, READING_MILI, "鹦鹉")
        await memory.opt_out(READING.user_id)
        assert "鹦鹉" not in await recalled(memory, READING_MILI, "鹦鹉")
        assert await memory.remember(Turn(READING, observations=("阿禾(2156083317) 又养了一只刺猬",))) is None
        await memory.observe(Message("m1", READING, "刺猬好可爱", NOON))
        assert "刺猬" not in await recalled(memory, READING_MILI, "刺猬")
