"""README: a withdrawn message leaves the log, and events that rest on it alone are void."""

from __future__ import annotations

from pathlib import Path

from cognitive_memory_core import Message
from tests.support.clock import NOON
from tests.support.telling import READING, a_memory, recalled, tell


async def test_message_and_event_go_together(tmp_path: Path) -> None:
    """After the withdrawal neither the line nor what was learned from it comes back."""
    async with a_memory(tmp_path) as memory:
        await memory.observe(Message("m1", READING, "我家门锁密码是七零四二", NOON))
        await tell(memory, READING, "阿禾(2156083317) 家门锁密码是七零四二", message_ids=("m1",))
        assert "七零四二" in await recalled(memory, READING, "门锁密码")
        await memory.recall_message(READING, "m1")
        assert "七零四二" not in await recalled(memory, READING, "门锁密码")
