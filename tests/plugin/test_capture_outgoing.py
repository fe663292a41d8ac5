"""Tests of what the bot itself says."""

from __future__ import annotations

import pytest
from nonebot.adapters.onebot import v11

import cognitive_memory_core as core

from .stage import BOT, Stage, message, new_id, texts


async def logged(scene: core.Scene) -> list[core.Message]:
    """Return the log of a place."""
    from nonebot_plugin_cognitive_memory import get_memory

    return await get_memory().recent_messages(scene)


async def test_an_answer_stands_beside_its_question(stage: Stage, group: int) -> None:
    """A chat plugin's answer is logged as the bot's, in the scene of its addressee."""
    from .companion import Companion, listening

    with listening(Companion(says="你好呀")):
        await stage.hear(message("你好", 2000001, group))
    question, answer = await logged(core.Scene.group(str(group), "2000001"))
    assert (answer.text, answer.is_bot, answer.sender_id) == ("你好呀", True, "")
    assert answer.scene == question.scene


async def test_unasked_words_stand_in_the_place(stage: Stage, group: int) -> None:
    """An unprompted message of the bot is logged in its place, without a person."""
    await stage.bot.send_group_msg(group_id=group, message="[CQ:at,qq=2000001]早安")
    [line] = await logged(core.Scene.group(str(group), str(BOT)))
    assert (line.text, line.is_bot, line.scene.user_id) == ("@QQ(2000001) 早安", True, str(BOT))
    user = new_id()
    await stage.bot.send_private_msg(user_id=user, message=v11.Message("晚安"))
    assert texts(await logged(core.Scene.private(str(user)))) == ["晚安"]
    await stage.bot.call_api("send_group_forward_msg", group_id=group, messages=[])
    assert texts(await logged(core.Scene.group(str(group), str(BOT))))[-1] == "[合并转发]"


async def test_nothing_is_kept_that_answers_an_incognito_line(stage: Stage, group: int) -> None:
    """What the bot says to an incognito line is not logged, however late it says it and whether it is asked or not."""
    from .companion import Companion, listening

    await stage.ask("/记忆 无痕 30", 2000001, group)
    question = message("悄悄话", 2000001, group)
    with listening(Companion(says="悄悄话我懂")):
        await stage.ask("/记忆 无痕 0", 2000001, group)
        await stage.hear(question)
    reply = v11.MessageSegment.reply(question.message_id)
    await stage.bot.send_group_msg(group_id=group, message=reply + "悄悄话想好了")
    await stage.ask("/记忆 无痕 30", 2000001, group)
    await stage.bot.send_group_msg(group_id=group, message="[CQ:at,qq=2000001]悄悄话再说")
    await stage.bot.send_group_msg(group_id=group, message="大家早安")
    assert texts(await logged(core.Scene.group(str(group), str(BOT)))) == ["大家早安"]


async def test_another_group_is_not_the_askers(stage: Stage, group: int) -> None:
    """A message to another group during an answer is logged in that group."""
    from .companion import Companion, listening

    other = group + 300_000
    with listening(Companion(says="转告大家", says_in=other)):
        await stage.hear(message("帮我转告", 2000001, group))
    assert texts(await logged(core.Scene.group(str(group), "2000001"))) == ["帮我转告"]
    [line] = await logged(core.Scene.group(str(other), "2000001"))
    assert line.scene.user_id == str(BOT)


async def test_own_answers_to_commands_are_left_out(stage: Stage, group: int) -> None:
    """Neither a command nor our reply to it is logged."""
    user = new_id()
    assert await stage.ask("/记忆 帮助", user, group)
    assert await stage.ask("/记忆 列表 x", user, group)
    assert not await logged(core.Scene.group(str(group), str(user)))


@pytest.mark.parametrize("said", [None, 3, {"type": 7}, [["x"]], object()])
async def test_strange_calls_cost_nothing(stage: Stage, group: int, said: object) -> None:
    """A message of an unknown form is still sent."""
    await stage.bot.send_group_msg(group_id=group, message=said)
    assert stage.calls[-1][0] == "send_group_msg"
