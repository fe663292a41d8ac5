"""README: asking for another group or another person by name is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from cognitive_memory_core import NotPermitted
from tests.support.telling import GAMES, PRIVATE, READING, a_memory


async def test_a_search_for_another_group_is_refused(tmp_path: Path) -> None:
    """A search in one group that names another raises NotPermitted."""
    async with a_memory(tmp_path) as memory:
        with pytest.raises(NotPermitted):
            await memory.search_events(READING, "什么都行", group_id=GAMES.group_id)


async def test_a_search_for_another_person_in_private_is_refused(tmp_path: Path) -> None:
    """A search in a private chat that names somebody else raises NotPermitted."""
    async with a_memory(tmp_path) as memory:
        with pytest.raises(NotPermitted):
            await memory.search_events(PRIVATE, "什么都行", user_id="2680914375")
