"""README: pins are in every context."""

from __future__ import annotations

from pathlib import Path

from tests.support.telling import READING, a_memory


async def test_a_pin_is_in_a_context_about_something_else(tmp_path: Path) -> None:
    """A pin is in the context of a turn on another subject."""
    async with a_memory(tmp_path) as memory:
        await memory.pin(READING, "阿禾对青霉素过敏")
        assert "阿禾对青霉素过敏" in (await memory.context(READING, "今天天气怎么样")).text
