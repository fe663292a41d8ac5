"""README: a private chat recalls the person's own words from groups, and not those of others."""

from __future__ import annotations

from pathlib import Path

from cognitive_memory_core import Message
from tests.support.clock import NOON
from tests.support.telling import PRIVATE, READING, READING_MILI, a_memory, recalled, say


async def test_own_words_come_along_and_others_do_not(tmp_path: Path) -> None:
    """The private chat shows what that person said in the group, and nothing that others said there."""
    async with a_memory(tmp_path) as memory:
        await memory.observe(Message("m1", READING, "水果我来带草莓", NOON))
        await memory.observe(Message("m2", READING_MILI, "零食不要花生", NOON))
        await say(memory, READING, "我给读书会带草莓")
        await say(memory, READING_MILI, "我对花生过敏")
        shown = await recalled(memory, PRIVATE, "读书会 草莓 花生 零食 过敏")
        assert "草莓" in shown
        assert "花生" not in shown
