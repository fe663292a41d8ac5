"""Tests that OneBot v12 is served as v11 is, and of what differs: names, roles and files are asked for."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from typing import Any

import pytest
from nonebot.adapters.onebot import v12

import cognitive_memory_core as core

from .stage import BOT, Stage, message, new_id, texts, told, twelve, twelve_message
from .test_commands import standing

WHO = {"get_group_member_info": {"user_name": "小棠", "user_displayname": "阿棠"}, "get_user_info": {"user_name": "棠"}}


@pytest.fixture
def person(app: object) -> str:
    """Return the id of somebody who never spoke."""
    return f"wxid_{new_id()}"


@pytest.fixture
def club(app: object) -> str:
    """Return the id of a group in which nothing was said."""
    return f"{new_id()}@chatroom"


@pytest.fixture
async def asked(twelve_stage: Stage) -> Any:
    """Return a function that lets the platform be asked for everybody who waits."""
    from nonebot_plugin_cognitive_memory.scene import platform_names

    return platform_names.ask_waiting


async def logged(scene: core.Scene) -> list[core.Message]:
    """Return the log of a place."""
    from nonebot_plugin_cognitive_memory import get_memory

    return await get_memory().recent_messages(scene)


def parts(*segments: v12.MessageSegment) -> list[dict[str, Any]]:
    """Return segments as the platform sends them."""
    return [{"type": part.type, "data": part.data} for part in segments]


def said(user: str, group: str | None, *segments: v12.MessageSegment, **fields: Any) -> Any:
    """Return a message of segments."""
    event = twelve_message("", user, group).model_dump(exclude={"message", "original_message", "alt_message"})
    kept = {key: event[key] for key in ("message_id", "user_id", "group_id") if key in event}
    return twelve("message", event["detail_type"], message=parts(*segments), alt_message="", **{**kept, **fields})


async def test_names_are_asked_for_once(twelve_stage: Stage, person: str, club: str, asked: Any) -> None:
    """A person's card and the group's name come from the platform, asked once, not for each line."""
    twelve_stage.answers |= {**WHO, "get_group_info": {"group_name": "读书会"}}
    for number in range(3):
        await twelve_stage.hear(twelve_message(f"第 {number} 句", person, club))
        await asked()
    lines = await logged(core.Scene.group(club, person))
    assert [line.scene.user_name for line in lines] == ["阿棠"] * 3
    assert [line.scene.group_name for line in lines[1:]] == ["读书会"] * 2
    assert [api for api, _ in twelve_stage.calls] == ["get_group_member_info", "get_group_info"]
    await twelve_stage.hear(twelve_message("在吗", person))
    await asked()
    assert [line.scene.user_name for line in await logged(core.Scene.private(person))] == ["棠"]


async def test_a_name_not_told_yet_goes_from_what_others_said(twelve_stage: Stage, person: str, club: str) -> None:
    """Somebody who opts out and is forgotten before the platform told their name is not named in others' lines."""
    from nonebot_plugin_cognitive_memory import get_memory
    from nonebot_plugin_cognitive_memory.erasure import erased_person

    memory, here = get_memory(), core.Scene.group(club, person)
    twelve_stage.answers |= {"get_group_member_info": {"user_name": "寒江独钓翁"}}
    other = core.Scene.group(club, f"wxid_{new_id()}")
    await memory.observe(core.Message("m-1", other, "寒江独钓翁和小棠都几点来", datetime.now(timezone.utc)))
    await twelve_stage.hear(twelve_message("早", person, club))
    await memory.drain(30)  # the line is on disk, without a name
    await memory.opt_out(person)
    await erased_person(here, person)
    await memory.opt_in(person)
    assert texts(await logged(here)) == ["某位成员和小棠都几点来"]


@pytest.mark.parametrize("answer", [v12.ActionFailed(), {}, {"user_name": 7}, "nonsense", {"user_name": "\u202e"}])
async def test_a_platform_that_tells_no_name(
    twelve_stage: Stage, person: str, club: str, asked: Any, answer: Any
) -> None:
    """Without a usable name the line is kept all the same, and the platform is not asked again for each line."""
    twelve_stage.answers |= {"get_group_member_info": answer, "get_group_info": answer}
    for _ in range(3):
        await twelve_stage.hear(twelve_message("早", person, club))
        await asked()
    assert [line.scene.user_name for line in await logged(core.Scene.group(club, person))] == [""] * 3
    assert len(twelve_stage.calls) == 2


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ({"qq.role": "owner"}, "好，这里"),
        ({"role": "member"}, "只有群主"),
        ({"user_name": "阿棠"}, "平台没有告诉我"),
        (v12.ActionFailed(), "平台没有告诉我"),
    ],
)
async def test_admins_are_known_by_what_the_platform_states(
    twelve_stage: Stage, person: str, club: str, answer: Any, sentence: str
) -> None:
    """A command of admins is obeyed by the role stated now; where none is stated, the answer says so."""
    twelve_stage.answers["get_group_member_info"] = answer
    [reply] = await twelve_stage.hear(twelve_message("/记忆 只记", person, club))
    assert sentence in reply


@pytest.mark.parametrize("token", ["", "t"])
async def test_an_open_port_needs_the_token_of_version_twelve(
    twelve_stage: Stage, person: str, club: str, log: list[str], monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    """Where strangers reach the port, admins' commands need the access token, and the log names its line of .env."""
    from nonebot_plugin_cognitive_memory import limits

    monkeypatch.setattr(limits, "_warned", limits.Lasting(60.0, 100))
    monkeypatch.setattr(twelve_stage.bot.config, "host", "0.0.0.0")
    monkeypatch.setattr(twelve_stage.bot.config, "onebot_v12_access_token", token, raising=False)
    twelve_stage.answers["get_group_member_info"] = {"role": "owner"}
    [reply] = await twelve_stage.hear(twelve_message("/记忆 只记", person, club))
    assert ("好，这里" in reply) is bool(token)
    assert any("ONEBOT_V12_ACCESS_TOKEN" in line for line in log) is not bool(token)


async def test_what_a_line_replies_to_and_mentions(twelve_stage: Stage, person: str, club: str) -> None:
    """Replies keep their message, mentions of others the name heard, of the bot none; media are short markers."""
    other = f"wxid_{new_id()}"
    first = twelve_message("周三来吗", other, club, sender={"nickname": "小林"}, message_id="m/" + "长" * 60)
    await twelve_stage.hear(first)
    segment = v12.MessageSegment
    answer = said(
        person,
        club,
        segment.reply(first.message_id, user_id=other),
        segment.mention(str(BOT)),
        segment.mention(other),
        segment.text("来"),
        segment.image("f"),
        segment("qq.face", {"id": 1}),
    )
    await twelve_stage.hear(answer)
    _, line = await logged(core.Scene.group(club, person))
    assert (line.reply_to, line.addressed_to_bot) == (first.message_id, True)
    assert line.text == f"@小林({other}) 来[图片][表情]"


async def test_a_message_with_an_endless_id(twelve_stage: Stage, person: str, club: str) -> None:
    """A message whose id is longer than any that the memory takes is kept, found by its replies, and withdrawn."""
    event = twelve_message("说错了", person, club, message_id="m" * 400)
    await twelve_stage.hear(event)
    reply = said(person, club, v12.MessageSegment.reply("m" * 400), v12.MessageSegment.text("见上"))
    await twelve_stage.hear(reply)
    wrong, above = await logged(core.Scene.group(club, person))
    assert above.reply_to == wrong.id
    gone = {"group_id": club, "user_id": person, "operator_id": person, "message_id": "m" * 400}
    await twelve_stage.hear(twelve("notice", "group_message_delete", **gone))
    assert texts(await logged(core.Scene.group(club, person))) == ["见上"]


@pytest.mark.parametrize("is_refused", [False, True])
async def test_people_export_what_is_theirs(twelve_stage: Stage, person: str, club: str, is_refused: bool) -> None:
    """The file is uploaded and sent; where it is not taken, its lines are."""
    await told(core.Scene.group(club, person), f"阿棠({person}) 喜欢乌龙茶")
    call = twelve_stage._call

    async def choosy(bot: object, api: str, **data: Any) -> Any:
        if api == "upload_file" and is_refused:
            raise v12.ActionFailed
        if api == "upload_file":
            twelve_stage.calls.append((api, data))
            return {"file_id": "f-1"}
        return await call(bot, api, **data)

    twelve_stage.bot.adapter._call_api = choosy
    before = len(twelve_stage.calls)
    twelve_stage.heard = None
    await twelve_stage.bot.handle_event(twelve_message("/记忆 导出", person))
    sent = [data["message"] for api, data in twelve_stage.calls[before:] if api == "send_message"]
    said_all = "".join(message.extract_plain_text() for message in sent)
    is_file = [part.data for message in sent for part in message if part.type == "file"]
    assert bool(is_file) is not is_refused
    assert ("喜欢乌龙茶" in said_all) is is_refused
    assert await logged(core.Scene.private(person)) == []


async def test_a_channel_has_no_memory(twelve_stage: Stage, person: str) -> None:
    """In a channel nothing is recorded, a handler gets an empty context, and a command says why it does nothing."""
    from .companion import Companion, listening

    companion = Companion(says="你好呀")
    channel = {"guild_id": "g", "channel_id": "c"}
    from nonebot import on_message

    from nonebot_plugin_cognitive_memory import MemoryContext

    met: list[core.Context] = []
    matcher = on_message(priority=40, block=False)

    async def turn(context: Any) -> None:
        met.append(context)

    turn.__annotations__["context"] = MemoryContext
    matcher.handle()(turn)

    with listening(companion):
        event = twelve(
            "message", "channel", message_id="c1", message=parts(v12.MessageSegment.text("早")), alt_message="早",
            user_id=person, **channel,
        )  # fmt: skip
        await twelve_stage.hear(event)
    matcher.destroy()
    assert [(context.text, context.degraded) for context in met] == [("", ())]
    assert companion.met == {}
    call = twelve(
        "message", "channel", message_id="c2", message=parts(v12.MessageSegment.text("/记忆 列表")),
        alt_message="", user_id=person, **channel,
    )  # fmt: skip
    [reply] = await twelve_stage.hear(call)
    assert "频道" in reply or "分不清" in reply


@pytest.mark.parametrize("protocol", ["v11", "v12"])
async def test_a_day_of_a_person(app: object, protocol: str) -> None:
    """Both versions: said, listed, found, corrected, pinned, incognito, opted out, forgotten, with the same answers."""
    stage = Stage(protocol)
    user, group = new_id(), new_id()

    async def ask(text: str, later: int = 0) -> str:
        at = int(time.time()) + later
        eleven = message(text, user, group, time=at)
        event = eleven if protocol == "v11" else twelve_message(text, str(user), str(group), time=at)
        return "\n".join(await stage.hear(event))

    here = core.Scene.group(str(group), str(user))
    await told(here, f"阿棠({user}) 喜欢乌龙茶")
    assert "乌龙茶" in await ask("/记忆 列表")
    assert "乌龙茶" in await ask("/记忆 搜索 茶")
    await ask("/记忆 列表")
    assert "岩茶" in await ask(f"/记忆 更正 1 阿棠({user}) 喜欢岩茶")
    assert "记住了" in await ask("/记忆 记住 我怕猫") or "我怕猫" in await ask("/记忆 置顶列表")
    await ask("/记忆 无痕 30")
    await ask("悄悄话")
    assert "结束" in await ask("/记忆 无痕 0")
    await ask("光明正大的话", later=5)  # v11 counts whole seconds: the same second is still incognito
    assert texts(await logged(here)) == ["光明正大的话"]
    assert await ask("/记忆 忘记我")
    assert await ask("/记忆 忘记我")
    assert await standing(here) == []
    assert await logged(here) == []
