"""Tests of earlier versions of profiles and of restoring them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cognitive_memory_core import NotPermitted, ProfileKey, Scene, UnknownRevision
from tests.support.puppet import Puppet
from tests.support.telling import READING, READING_MILI, a_memory, say

OPERATOR = Scene.operator()
AHE = ProfileKey.member(READING.group_id, READING.user_id)


async def test_nobody_puts_anothers_profile_back(tmp_path: Path) -> None:
    """A member cannot restore another person's profile; the person can, and an unknown revision is refused."""
    async with a_memory(tmp_path) as memory:
        for drink in ("乌龙茶", "咖啡"):
            await say(memory, READING, f"我喜欢喝{drink}")
        (past,) = await memory.profile_revisions(OPERATOR, AHE)
        with pytest.raises(NotPermitted):
            await memory.restore_profile(READING_MILI, AHE, past.id)
        with pytest.raises(UnknownRevision):
            await memory.restore_profile(READING, AHE, "20200101T000000.000000Z")
        assert "咖啡" not in (await memory.restore_profile(READING, AHE, past.id)).summary
        assert [hit.profile.key for hit in await memory.search_profiles(READING, "乌龙茶")] == [AHE]
        assert "咖啡" not in (await memory.search_profiles(READING, "乌龙茶"))[0].profile.summary


async def test_who_is_left_out_has_no_past_and_stands_in_none(tmp_path: Path) -> None:
    """Earlier versions of the profile of a person who opted out are hidden, and others' versions hide their name."""
    mili = READING_MILI.user_id
    async with a_memory(tmp_path, chat=Puppet()) as memory:
        for drink in ("乌龙茶", "咖啡"):
            await say(memory, READING, f"我喜欢和米粒({mili}) 一起喝{drink}")
            await say(memory, READING_MILI, f"我喜欢喝{drink}")
        await memory.opt_out(mili)
        assert await memory.profile_revisions(OPERATOR, ProfileKey.member(READING.group_id, mili)) == []
        shown = await memory.profile_revisions(OPERATOR, AHE)
        assert shown
        assert not [one for one in shown if mili in one.profile.summary or "米粒" in one.profile.summary]
