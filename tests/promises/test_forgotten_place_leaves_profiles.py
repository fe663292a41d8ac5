"""README: what was said in an erased place is in nobody's profile, whoever may see that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cognitive_memory_core import ProfileKey, Scene, Settings, VectorStoreSettings
from tests.support.puppet import Puppet
from tests.support.telling import GAMES, PATIENCE, PRIVATE, READING, a_memory, recalled, say

EXACT = VectorStoreSettings(backend="exact")
ME = PRIVATE.user_id
OPERATOR = Scene.operator()


@pytest.mark.parametrize("chat", [None, Puppet], ids=["rules", "puppet"])
@pytest.mark.parametrize("place", [READING, PRIVATE], ids=["group", "private"])
async def test_a_profile_shared_everywhere_tells_nothing_of_a_forgotten_place(
    tmp_path: Path, place: Scene, chat: type[Puppet] | None
) -> None:
    """A shared profile and its revisions lose what was learned in an erased place and keep the rest."""
    data, told = tmp_path / "data", {READING: "养了一只三花猫", PRIVATE: "住在上海", GAMES: "喜欢乌龙茶"}
    options: dict[str, Any] = {"chat": chat() if chat else None}
    async with a_memory(data, Settings(sharing="shared", vector_store=EXACT), **options) as memory:
        for scene, word in told.items():
            await say(memory, scene, f"我{word}")
        before = await memory.get_profile(GAMES, "user", ME)
        assert before is not None
        assert all(word in before.summary for word in told.values())
        erased = await memory.forget_scene(place)
        assert erased.profiles == 1
        assert told[place] not in await recalled(memory, GAMES, f"阿禾{told[place]}吗")
        assert await memory.get_profile(GAMES, "user", ME) is None
        assert await memory.drain(PATIENCE)
        after = await memory.get_profile(GAMES, "user", ME)
        assert after is not None
        kept = [word for word in told.values() if word in after.summary]
        assert kept == [word for scene, word in told.items() if scene != place]
        past = await memory.profile_revisions(OPERATOR, ProfileKey.user(ME))
        assert all(told[place] not in one.profile.summary for one in past)
    assert all(told[place].encode() not in path.read_bytes() for path in (data / "profiles").rglob("*.md"))
