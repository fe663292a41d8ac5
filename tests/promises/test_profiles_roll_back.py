"""README: a bad profile can be rolled back, and the rollback can be undone."""

from __future__ import annotations

from pathlib import Path

from cognitive_memory_core import ProfileKey, Scene
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
