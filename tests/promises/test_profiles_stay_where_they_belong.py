"""README: a profile is seen only where it was learned, unless its person shares it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cognitive_memory_core import CognitiveMemory, NotPermitted, ProfileKey, Scene
from tests.support.telling import GAMES, GAMES_DOUSHA, PRIVATE, PRIVATE_MILI, READING, READING_MILI, a_memory, say

AHE = PRIVATE.user_id
PLACES = (READING, READING_MILI, GAMES, GAMES_DOUSHA, PRIVATE, PRIVATE_MILI)
OWN = {  # what 阿禾 says about herself, where, and who sees it there
    "爬山": (READING, {READING, READING_MILI, PRIVATE}),
    "桌游": (GAMES, {GAMES, GAMES_DOUSHA, PRIVATE}),
    "大理": (PRIVATE, {PRIVATE}),
}


async def profiles(memory: CognitiveMemory, scene: Scene) -> str:
    """Return everything that a scene sees of profiles, by every read path."""
    found = [hit.profile for hit in await memory.search_profiles(scene, "喜欢爬山、桌游、大理", top_k=50)]
    for entity_type, entity_id in (
        ("user", AHE),
        ("member", f"{READING.group_id}/{AHE}"),
        ("member", f"{GAMES.group_id}/{AHE}"),
    ):
        try:
            profile = await memory.get_profile(scene, entity_type, entity_id)
        except NotPermitted:
            continue
        found += [profile] if profile else []
    sections = (await memory.context(scene, "？")).sections
    shown = [line for section in sections if section.title == "用户侧写" for line in section.lines]
    return "\n".join((*(f"{one.tags}{one.summary}" for one in found), *shown))


async def test_what_was_learned_in_one_place_is_portrayed_there_alone(tmp_path: Path) -> None:
    """A group sees its own profile of a member, the person all of theirs in private, and nobody else any."""
    async with a_memory(tmp_path) as memory:
        for word, (scene, _) in OWN.items():
            await say(memory, scene, f"我喜欢{word}")
        for scene in PLACES:
            shown = await profiles(memory, scene)
            assert {word for word in OWN if word in shown} == {word for word, (_, seen) in OWN.items() if scene in seen}


@pytest.mark.parametrize("by", ["member", "user"])
async def test_a_foreign_profile_is_refused(tmp_path: Path, by: str) -> None:
    """Asking for a profile of another place by id is refused, whether or not it exists."""
    asked = {"member": f"{GAMES.group_id}/{AHE}", "user": AHE}[by]
    async with a_memory(tmp_path) as memory:
        scene = READING if by == "member" else PRIVATE_MILI
        for _ in range(2):
            with pytest.raises(NotPermitted):
                await memory.get_profile(scene, by, asked)
            await say(memory, GAMES, "我喜欢桌游")
        with pytest.raises(NotPermitted):
            await memory.profile_revisions(scene, ProfileKey.user(AHE))


async def test_sharing_is_the_persons_own_choice(tmp_path: Path) -> None:
    """A shared profile is seen in the person's groups, not in strangers' chats, until sharing is switched off."""
    async with a_memory(tmp_path) as memory:
        await say(memory, PRIVATE, "我喜欢大理")
        await say(memory, READING, "我喜欢爬山")
        for is_open in (True, False):
            await memory.set_sharing(AHE, is_open)
            seeing = {scene for scene in PLACES if "大理" in await profiles(memory, scene)}
            assert seeing == ({PRIVATE, READING, READING_MILI, GAMES} if is_open else {PRIVATE})


async def test_opting_out_takes_the_profile_away_at_once(tmp_path: Path) -> None:
    """After an opt-out the person's profile is shown nowhere from that moment on."""
    async with a_memory(tmp_path) as memory:
        for word, (scene, _) in OWN.items():
            await say(memory, scene, f"我喜欢{word}")
            assert word in await profiles(memory, scene)
        await memory.opt_out(AHE)
        for scene in PLACES:
            assert not [word for word in OWN if word in await profiles(memory, scene)]
