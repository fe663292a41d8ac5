"""Tests of the profile commands: show, share and roll back."""

from __future__ import annotations

from datetime import datetime, timezone

import cognitive_memory_core as core
from tests.support.waiting import PATIENCE

from .stage import Stage, new_id, said


async def test_a_profile_is_shown_to_its_own(stage: Stage, group: int) -> None:
    """The asker sees their own profile of this place, and nobody else's."""
    user, other = new_id(), new_id()
    assert "还没有侧写" in await stage.ask("/记忆 侧写", user, group)
    await said(core.Scene.group(str(group), str(user), user_name="阿禾"), "我喜欢喝乌龙茶")
    assert "乌龙茶" in await stage.ask("/memory profile", user, group)
    assert "乌龙茶" not in await stage.ask("/记忆 侧写", other, group)
    assert "乌龙茶" not in await stage.ask("/记忆 侧写", user, group + 1)


async def test_sharing_opens_a_private_profile(stage: Stage, group: int) -> None:
    """What was learned in private is shown in a group only while its person shares it."""
    from nonebot_plugin_cognitive_memory import get_memory

    user = new_id()
    await get_memory().observe(
        core.Message("m-share", core.Scene.group(str(group), str(user), user_name="阿禾"), "大家好", _now())
    )
    await said(core.Scene.private(str(user), user_name="阿禾"), "我喜欢喝乌龙茶")
    assert "乌龙茶" in await stage.ask("/记忆 侧写", user)
    assert "乌龙茶" not in await stage.ask("/记忆 侧写", user, group)
    assert "在你说话的每个群里" in await stage.ask("/记忆 共享 on", user, group)
    assert await get_memory().drain(PATIENCE)
    assert "乌龙茶" in await stage.ask("/记忆 侧写", user, group)
    assert "只在" in await stage.ask("/记忆 共享 关", user)
    assert "乌龙茶" not in await stage.ask("/记忆 侧写", user, group)
    assert "写法" in await stage.ask("/记忆 共享 也许", user)


def _now() -> object:

    return datetime.now(timezone.utc)
