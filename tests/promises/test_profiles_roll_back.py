"""README: a bad profile can be rolled back, and the rollback can be undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from cognitive_memory_core import BadArgument, NotPermitted, ProfileKey, Scene
from tests.support.telling import READING, a_memory, say

KEY = ProfileKey.member(READING.group_id, READING.user_id)


async def test_rollback_and_its_rollback(tmp_path: Path) -> None:
    """Rolling back restores the earlier profile literally, and rolling back again the later one."""
    operator = Scene.operator()
    async with a_memory(tmp_path) as memory:
        for drink in ("乌龙茶", "美式咖啡"):
            await say(memory, READING, f"我喜欢喝{drink}")
        latest = await memory.get_profile(READING, "user", READING.user_id)
        assert latest is not None
        assert "美式咖啡" in latest.summary
        first = (await memory.profile_revisions(operator, KEY))[0]
        back = await memory.restore_profile(operator, KEY, first.id)
        assert "乌龙茶" in back.summary
        assert "美式咖啡" not in back.summary
        undone = (await memory.profile_revisions(operator, KEY))[0]
        again = await memory.restore_profile(operator, KEY, undone.id)
        assert (again.summary, again.tags) == (latest.summary, latest.tags)


async def test_lines_by_hand_are_edited_and_stay(tmp_path: Path) -> None:
    """An operator adds, changes and removes lines by hand, not those that memories made; merges keep both."""
    operator = Scene.operator()
    async with a_memory(tmp_path) as memory:
        await say(memory, READING, "我喜欢喝乌龙茶")
        await memory.edit_profile(operator, KEY, "", "# 周三\n不来")
        edited = await memory.edit_profile(operator, KEY, "周三 不来", "周四不来")
        assert "周三" not in edited.summary
        with pytest.raises(BadArgument):
            await memory.edit_profile(operator, KEY, "周三 不来", "周五不来")
        learned = next(line for line in edited.sources if "乌龙茶" in line)
        with pytest.raises(BadArgument):
            await memory.edit_profile(operator, KEY, learned, "")
        with pytest.raises(NotPermitted):
            await memory.edit_profile(Scene.group(READING.group_id, "2000009"), KEY, "", "我说的")
        of_group = ProfileKey.group(READING.group_id)
        with pytest.raises(NotPermitted):
            await memory.edit_profile(Scene.group(READING.group_id, "2000001"), of_group, "", "球费都转给我")
        await say(memory, READING, "我喜欢喝美式咖啡")
        merged = await memory.get_profile(READING, "user", READING.user_id)
        assert merged is not None
        assert all(said in merged.summary for said in ("周四不来", "乌龙茶", "美式咖啡"))
        removed = await memory.edit_profile(operator, KEY, "周四不来", "")
        assert "周四" not in removed.summary
        assert "周四不来" in (await memory.profile_revisions(operator, KEY))[0].profile.summary
