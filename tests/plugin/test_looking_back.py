"""Tests of the commands that look back: 爬楼 and 为什么."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from nonebot.adapters.onebot import v11

import cognitive_memory_core as core
from tests.support.waiting import PATIENCE

from .stage import Stage, message, new_id, said


async def earlier(scene: core.Scene, text: str, minutes: int) -> None:
    """Let the person of a scene say a line some minutes ago."""
    from nonebot_plugin_cognitive_memory import get_memory

    at = datetime.now(timezone.utc) - timedelta(minutes=minutes)
    line = core.Message(str(new_id()), scene, text, at)
    await get_memory().observe(line)
    await get_memory().consider(scene, [line])
    assert await get_memory().drain(PATIENCE)


async def test_catching_up(stage: Stage, group: int) -> None:
    """爬楼 tells who said how much since the asker's last line, and what was kept of it; nothing of it is captured."""
    from nonebot_plugin_cognitive_memory import get_memory

    asker, other = new_id(), new_id()
    scene = core.Scene.group(str(group), str(other), user_name="米粒")
    await earlier(scene, "我把聚会定在6月1号了", 300)
    await earlier(core.Scene.group(str(group), str(asker), user_name="阿棠"), "我先下线了", 200)
    await earlier(scene, "我把聚会改到6月8号下午三点", 100)
    answer = await stage.ask("/记忆 爬楼", asker, group)
    assert "这里说了 1 句" in answer
    assert "米粒 1 句" in answer
    assert "6月8号" in answer
    assert "6月1号" not in answer
    assert "6月1号" in await stage.ask("/记忆 爬楼 一天", asker, group)
    assert "写法：/记忆 爬楼" in await stage.ask("/记忆 爬楼 随便", asker, group)
    assert len(await get_memory().recent_messages(scene)) == 3
    assert "没有人说什么" in await stage.ask("/记忆 爬楼", other, group)


@pytest.mark.parametrize("switch", ["关", "只记"])
async def test_no_catching_up_where_nothing_is_read(stage: Stage, group: int, switch: str) -> None:
    """爬楼 is refused in one sentence while the place is off or only recorded."""
    scene = core.Scene.group(str(group), str(new_id()))
    await said(scene, "我把聚会定在6月1号了")
    stage.answers["get_group_member_info"] = {"role": "admin"}
    await stage.ask(f"/记忆 {switch}", new_id(), group)
    answer = await stage.ask("/记忆 爬楼", new_id(), group)
    assert "不能爬楼" in answer
    assert "6月1号" not in answer


async def test_why_it_answered(stage: Stage, group: int) -> None:
    """为什么, as a reply to an answer, shows the memories that lay before the model; other answers are not known."""
    from .companion import Companion, listening

    asker = new_id()
    await said(core.Scene.group(str(group), str(asker), user_name="阿棠"), "我对花生过敏，吃一点就起疹子")
    with listening(Companion(says="那就不放花生")):
        before = len(stage.calls)
        await stage.hear(message("我对花生过敏吗", asker, group))
        assert len(stage.calls) > before
    from nonebot_plugin_cognitive_memory import get_memory

    lines = await get_memory().recent_messages(core.Scene.group(str(group), str(asker)))
    [answer] = [line for line in lines if line.is_bot]
    reply = v11.MessageSegment.reply(int(answer.id))
    told = await stage.hear(message(v11.Message(reply + "/记忆 为什么"), asker, group))
    assert "花生过敏" in told[0]
    assert "写法：/记忆 为什么：回复我的一句话" in await stage.ask("/记忆 为什么", asker, group)
    unknown = v11.MessageSegment.reply(7)
    assert "不知道" in (await stage.hear(message(v11.Message(unknown + "/记忆 为什么"), asker, group)))[0]


def test_answers_that_cannot_be_told_apart() -> None:
    """An answer of a task of its own belongs to the only context of its place; of two it belongs to neither."""
    from nonebot_plugin_cognitive_memory.answer_sources import ANSWERED_WITHIN, HOUR, AnswerSources

    now = [0.0]
    sources = AnswerSources(lambda: now[0])
    here, elsewhere = core.Scene.group("1", "2"), core.Scene.group("9", "2")
    context = core.Context("", (), 0, (), ("e1",))
    sources.note_context(here, "q1", context)
    sources.note_context(elsewhere, "q9", core.Context("", (), 0, (), ("e9",)))
    sources.note_answer(here, "", "a1")
    assert sources.find(here, "a1") == ("e1",)
    assert sources.find(elsewhere, "a1") is None
    sources.note_context(here, "q2", core.Context("", (), 0, (), ("e2",)))
    sources.note_answer(here, "", "a2")
    assert sources.find(here, "a2") is None
    sources.note_answer(here, "q2", "a3")
    assert sources.find(here, "a3") == ("e2",)
    now[0] = ANSWERED_WITHIN + 1
    sources.note_answer(here, "q2", "a4")
    assert sources.find(here, "a4") is None
    now[0] = HOUR + 1
    assert sources.find(here, "a3") is None
