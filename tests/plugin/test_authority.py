"""Tests of who may have other people's words forgotten, by role, scene and forged events."""

from __future__ import annotations

from typing import Any

import pytest
from nonebot.adapters.onebot import v11

import cognitive_memory_core as core

from .stage import ANON, SUPERUSER, Stage, message, new_id, told
from .test_commands import standing

REFUSED = v11.ActionFailed(retcode=100)


async def attempt(
    stage: Stage, group: int, user: int, role: object, *, back: Any = "same", **fields: Any
) -> tuple[str, list[str]]:
    """Let somebody try to have another person's words forgotten; return the reply and what is left.

    ``role`` is the platform's answer about the member, ``back`` its answer about the message.
    """
    author = core.Scene.group(str(group), str(new_id()))
    await told(author, f"小北({author.user_id}) 喜欢夜跑")
    stage.answers["get_group_member_info"] = role if isinstance(role, Exception) else {"role": role}
    stage.answers["get_msg"] = REFUSED
    await stage.ask("/记忆 列表", user, group, **fields)
    event = message("/记忆 忘掉 1", user, group, **fields)
    same = {"message": "/记忆 忘掉 1", "message_type": "group", "sender": {"user_id": user}, "group_id": group}
    stage.answers["get_msg"] = back if isinstance(back, Exception) else same if back == "same" else {**same, **back}
    answers = await stage.hear(event)
    return "".join(answers), await standing(author)


@pytest.mark.parametrize("role", ["owner", "admin"])
async def test_admins_may(stage: Stage, group: int, role: str) -> None:
    """An owner or admin of the group, as the platform states now, may forget others' words."""
    answer, left = await attempt(stage, group, new_id(), role)
    assert "忘掉了" in answer
    assert not left


@pytest.mark.parametrize("role", ["member", "", None, "ADMIN"])
async def test_members_may_not(stage: Stage, group: int, role: object) -> None:
    """A member is refused, whatever role the event claims, and nothing is changed."""
    claims = {"user_id": 1, "nickname": "管理员(1000001)", "card": "群主", "role": "owner"}
    answer, left = await attempt(stage, group, new_id(), role, sender=claims)
    assert "不是你说的" in answer
    assert len(left) == 1


async def test_a_platform_that_does_not_tell(stage: Stage, group: int) -> None:
    """Where the platform does not tell who is an admin, the answer says so, and nothing is changed."""
    answer, left = await attempt(stage, group, new_id(), REFUSED)
    assert "平台没有告诉我" in answer
    assert len(left) == 1


async def test_anonymous_admins_may_not(stage: Stage, group: int) -> None:
    """An anonymous member is refused, even with an admin's role."""
    anonymous = {"id": 1, "name": "匿名", "flag": "x"}
    answer, left = await attempt(stage, group, ANON, "admin", anonymous=anonymous)
    assert "匿名" in answer
    assert len(left) == 1


@pytest.mark.parametrize(
    "back",
    [
        {"sender": {"user_id": 2999998}},
        {"sender": None},
        {"message": "早上好"},
        {"message": None},
        {"message_type": "private"},
        {"group_id": 99999},
    ],
)
@pytest.mark.parametrize("user", [SUPERUSER, 2888888])
async def test_forged_events_change_nothing(stage: Stage, group: int, back: Any, user: int) -> None:
    """A message that the platform does not confirm changes nothing of others."""
    answer, left = await attempt(stage, group, user, "owner", back=back)
    assert len(left) == 1
    assert "核实" in answer


@pytest.mark.parametrize(
    ("config", "may"),
    [
        ({"host": "127.0.0.1"}, True),
        ({"host": "::1"}, True),
        ({"host": "0.0.0.0"}, False),
        ({"host": "0.0.0.0", "onebot_v11_secret": "s", "onebot_v11_access_token": "t"}, True),
        ({"host": "0.0.0.0", "onebot_secret": "s", "onebot_access_token": "t"}, True),
        ({"host": "0.0.0.0", "onebot_v11_secret": "s"}, False),
        ({"host": "0.0.0.0", "onebot_v11_access_token": "t"}, False),
    ],
)
async def test_where_messages_cannot_be_read_back(
    stage: Stage, group: int, config: dict[str, str], may: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without get_msg an event is trusted only if no stranger could have posted it."""
    for key, value in config.items():
        monkeypatch.setattr(stage.bot.config, key, value, raising=False)
    answer, left = await attempt(stage, group, new_id(), "owner", back=REFUSED)
    assert (not left) is may
    assert ("忘掉了" in answer) is may


@pytest.mark.parametrize(("config", "may"), [({}, False), ({"onebot_v11_access_token": "t"}, True)])
async def test_a_platform_that_anybody_can_be(
    stage: Stage, group: int, config: dict[str, str], may: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where anybody may connect as the platform, what it confirms is worth nothing."""
    for key, value in {"host": "0.0.0.0", **config}.items():
        monkeypatch.setattr(stage.bot.config, key, value, raising=False)
    answer, left = await attempt(stage, group, new_id(), "owner")
    assert (not left) is may
    assert ("核实" in answer) is not may


async def test_the_remedy_is_named(stage: Stage, group: int, monkeypatch: pytest.MonkeyPatch, log: list[str]) -> None:
    """If a request could not be confirmed, the log names the .env line that prevents forgeries."""
    from nonebot_plugin_cognitive_memory import limits

    monkeypatch.setattr(limits, "_warned", limits.Lasting(60.0, 100))
    monkeypatch.setattr(stage.bot.config, "host", "0.0.0.0")
    await attempt(stage, group, new_id(), "owner", back=REFUSED)
    assert len([line for line in log if "ONEBOT_V11_ACCESS_TOKEN" in line]) == 1
    monkeypatch.setattr(stage.bot.config, "onebot_v11_access_token", "t", raising=False)
    await attempt(stage, group, new_id(), "owner", back=REFUSED)
    assert len([line for line in log if "ONEBOT_V11_SECRET" in line]) == 1


async def test_one_may_always_forget_oneself(stage: Stage, group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person's own words are forgotten without asking the platform, even where events could be forged."""
    monkeypatch.setattr(stage.bot.config, "host", "0.0.0.0")
    user = new_id()
    here = core.Scene.group(str(group), str(user))
    await told(here, f"阿棠({user}) 怕猫")
    await stage.ask("/记忆 列表", user, group)
    assert "忘掉了" in await stage.ask("/记忆 忘掉 1", user, group)
    assert {api for api, _ in stage.calls} == {"send_msg"}
