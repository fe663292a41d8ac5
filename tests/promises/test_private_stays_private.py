"""README: what is said in private appears in no group."""

from __future__ import annotations

from pathlib import Path

from cognitive_memory_core import Message
from tests.support.clock import NOON
from tests.support.telling import GAMES, PRIVATE, PRIVATE_MILI, READING, a_memory, recalled, tell


async def test_a_secret_told_in_private_is_in_no_group_and_in_nobody_elses_chat(tmp_path: Path) -> None:
    """A private statement is shown in that chat, but not in the person's groups or other private chats."""
    async with a_memory(tmp_path) as memory:
        await memory.observe(Message("m1", PRIVATE, "我要去大理开民宿", NOON))
        await tell(memory, PRIVATE, "阿禾(2156083317) 打算去大理开民宿", memo="听阿禾说了大理的民宿")
        assert "大理" in await recalled(memory, PRIVATE, "大理的民宿")
        for scene in (READING, GAMES, PRIVATE_MILI):
            assert "大理" not in await recalled(memory, scene, "大理的民宿")
