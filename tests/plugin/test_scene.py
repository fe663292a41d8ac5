"""Tests of deriving scenes from events."""

from __future__ import annotations

import nonebot
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nonebot.exception import SkippedException

import cognitive_memory_core as core

from .stage import ANON, BOT, Stage, message, new_id, twelve, twelve_message

SENDER = {"user_id": 2000001, "nickname": "小棠", "card": "阿棠", "role": "member"}


def find(stage: Stage, event: object) -> core.Scene | None:
    """Return the scene of an event."""
    from nonebot_plugin_cognitive_memory.scene import find_scene

    return find_scene(stage.bot, event)


@pytest.mark.parametrize(
    ("role", "is_admin"), [("owner", True), ("admin", True), ("member", False), (None, False), ("ADMIN ", False)]
)
async def test_the_role_in_a_group_is_carried(stage: Stage, role: str | None, *, is_admin: bool) -> None:
    """A line of a group's owner or admin is marked as theirs; an unknown role is a member's."""
    scene = find(stage, message("早", 2000001, 10001, sender={**SENDER, "role": role}))
    assert scene is not None
    assert scene.is_admin is is_admin


async def test_a_group_without_an_id_is_no_private_chat(stage: Stage, twelve_stage: Stage) -> None:
    """What was said in a group of which the platform tells no id has no scene: it was not said in private."""
    assert find(stage, message("早", 2000001, 0)) is None
    assert find(twelve_stage, twelve_message("早", "wxid_1", "")) is None


async def test_an_erasure_leaves_no_name_in_the_scenes_kept(stage: Stage, group: int) -> None:
    """A scene is kept for whoever speaks again; after their erasure it is not, nor are the names in it."""
    from nonebot_plugin_cognitive_memory.erasure import erased_person

    person = new_id()  # the bot is shared with other tests, and an erasure keeps out what was said before it
    event = message("早", person, group, sender=SENDER)
    scene = find(stage, event)
    assert scene is not None
    assert find(stage, event) is scene
    await erased_person(scene, str(person))
    assert find(stage, event) is not scene


async def test_temporary_chat_is_private(stage: Stage) -> None:
    """A private chat opened from a group is still private."""
    event = message("早", 2000001, sub_type="group", group_id=10001)
    assert find(stage, event) == core.Scene.private("2000001")


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"anonymous": {"id": 1, "name": "匿名", "flag": "x"}, "user": ANON}, id="anonymous"),
        pytest.param({"sub_type": "anonymous", "user": ANON}, id="anonymous by its sub type"),
        pytest.param({"user": BOT}, id="the bot itself"),
        pytest.param({"user": 0}, id="nobody"),
        pytest.param({"user": 1234}, id="too short for a number of a person"),
        pytest.param({"group": 42}, id="too short for a number of a group"),
    ],
)
async def test_nobody_has_no_scene(stage: Stage, fields: dict) -> None:
    """Anonymous members, the bot itself and invalid numbers have no scene, and handlers that need one are skipped."""
    from nonebot_plugin_cognitive_memory import scene_of

    user, group = fields.pop("user", 2000001), fields.pop("group", 10001)
    event = message("早", user, group, **fields)
    assert find(stage, event) is None
    with pytest.raises(SkippedException):
        scene_of(stage.bot, event)


async def test_version_twelve(twelve_stage: Stage) -> None:
    """OneBot v12 gives the same scenes, with any text as id."""
    sender = {"nickname": "小棠"}
    private = find(twelve_stage, twelve_message("早", "u-1", sender=sender))
    assert private == core.Scene.private("u-1")
    assert private.user_name == "小棠"
    assert find(twelve_stage, twelve_message("早", "u-1", "g-1")) == core.Scene.group("g-1", "u-1")
    assert find(twelve_stage, twelve("notice", "friend_increase", user_id="u-1")) == core.Scene.private("u-1")


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.lists(st.integers()), st.booleans()))
def test_ids_are_canonical_or_none(value: object) -> None:
    """An accepted number is ASCII digits without a leading zero, equal to its own text."""
    from nonebot_plugin_cognitive_memory.scene import qq_id

    taken = qq_id(value)
    assert taken is None or (taken == str(value) == str(int(taken)) and taken.isascii() and 5 <= len(taken) <= 20)


async def test_other_accounts_of_this_bot_are_nobody(stage: Stage, group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another account of the same bot says is neither recorded as a person's nor taken as a command."""
    from nonebot_plugin_cognitive_memory import get_memory

    other = new_id()
    monkeypatch.setitem(nonebot.get_driver()._bots, str(other), stage.bot)
    assert await stage.hear(message("我喜欢乌龙茶", other, group)) == []
    assert "分不清" in await stage.ask("/记忆 列表", other, group)
    assert await get_memory().recent_messages(core.Scene.group(str(group), "2000001")) == []
