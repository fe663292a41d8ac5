"""Tests of several accounts of one bot in one group."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import nonebot
import pytest

import cognitive_memory_core as core

from .stage import BOT, Stage, message, new_id, notice, texts, twelve_message

OTHER = 3850617295


@pytest.fixture
def both(app: object, monkeypatch: pytest.MonkeyPatch) -> tuple[Stage, Stage]:
    """Return two connected accounts."""
    stages = Stage(), Stage(account=OTHER)
    for stage in stages:
        monkeypatch.setitem(nonebot.get_driver()._bots, stage.bot.self_id, stage.bot)
    return stages


async def logged(group: int, agent: str = "default") -> list[core.Message]:
    """Return the log of a group."""
    from nonebot_plugin_cognitive_memory import get_memory

    return await get_memory().recent_messages(core.Scene.group(str(group), "2000001", agent=agent))


async def heard_by(both: tuple[Stage, Stage], content: object, user: int, group: int, **fields: Any) -> list[Any]:
    """Let both accounts hear a line, each with its own number of it; return the events."""
    events = [message(content, user, group, self_id=stage.account, time=1_790_000_000, **fields) for stage in both]
    assert events[0].message_id != events[1].message_id
    for stage, event in zip(both, events, strict=True):
        await stage.hear(event)
    return events


LAUGHS = ((0, 0), (1, 0), (0, 1), (1, 1))  # which account hears which of two laughs


@pytest.mark.parametrize("order", [*permutations(LAUGHS)])
@pytest.mark.parametrize("apart", [0, 5, 50])
async def test_two_laughs_are_two_in_any_order(both: tuple[Stage, Stage], order: Any, apart: int) -> None:
    """Two equal lines that both accounts hear are logged twice, in whatever order and however late they are heard."""
    group = new_id()
    for by, laugh in order:
        at, skew = 1_790_000_000 + laugh * apart, by * 3  # the second account's clock is three seconds off
        await both[by].hear(message("哈哈", 2000001, group, self_id=both[by].account, time=at + skew))
    assert texts(await logged(group)) == ["哈哈", "哈哈"]


async def test_the_number_in_the_group_decides(both: tuple[Stage, Stage], group: int) -> None:
    """Where the platform tells a line's number in its group, it is logged; equal numbers are one line, others not."""
    await both[0].hear(message("哈哈", 2000001, group, time=1_790_000_000, real_seq="7"))
    await both[1].hear(message("哈哈", 2000001, group, self_id=OTHER, time=1_790_000_000, real_seq="8"))
    await both[1].hear(message("哈哈", 2000001, group, self_id=OTHER, time=1_790_000_400, real_seq="7"))
    assert [line.number for line in await logged(group)] == ["7", "8"]


async def test_an_account_that_lost_its_connection_stays_the_bots(
    both: tuple[Stage, Stage], group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an account sent before it lost its connection is not logged as a person's line by the other one."""
    from nonebot_plugin_cognitive_memory import scene

    monkeypatch.setattr(scene, "_accounts", set())
    await scene.note_account(both[1].bot)
    monkeypatch.delitem(nonebot.get_driver()._bots, str(OTHER))
    await both[0].hear(message("我先下线了", OTHER, group))
    assert await logged(group) == []


@pytest.mark.parametrize("first", [0, 1])
async def test_a_line_to_one_of_them_is_to_the_bot(
    both: tuple[Stage, Stage], group: int, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that mentions one account is one line, whichever hears it first, and counts as said to the bot."""
    from nonebot_plugin_cognitive_memory.auto_consider import considerer

    only_mentions = core.Settings.from_mapping({"capture": {"auto_consider": "mentions"}}).capture
    monkeypatch.setattr(considerer, "_capture", only_mentions)
    mention = [{"type": "at", "data": {"qq": str(OTHER)}}, {"type": "text", "data": {"text": " 我对花生过敏"}}]
    await heard_by(both if not first else both[::-1], mention, 2000001, group)
    [line] = await logged(group)
    assert "我对花生过敏" in line.text
    pending = considerer._pending[core.Scene.group(str(group), "2000001").scope]
    assert len(pending.lines) == 1


async def test_the_other_accounts_answer_is_the_bots(both: tuple[Stage, Stage], group: int) -> None:
    """What one account answers is one line of the bot, not one more of a person whom the other hears."""
    from .companion import Companion, listening

    with listening(Companion(says="你好呀")):
        await both[1].hear(message("你好", 2000001, group, self_id=OTHER))
    await both[0].hear(message("你好呀", OTHER, group))
    lines = await logged(group)
    assert [(line.text, line.is_bot) for line in lines] == [("你好", False), ("你好呀", True)]


@pytest.mark.parametrize("by", [0, 1])
async def test_a_line_is_withdrawn_by_any_number(both: tuple[Stage, Stage], group: int, by: int) -> None:
    """A withdrawal counts by the number that either account has for the line."""
    events = await heard_by(both, "说错了", 2000001, group)
    gone = {"group_id": group, "user_id": 2000001, "operator_id": 2000001, "message_id": events[by].message_id}
    await both[by].hear(notice("group_recall", self_id=both[by].account, **gone))
    assert await logged(group) == []


async def test_a_reply_finds_its_line_by_any_number(both: tuple[Stage, Stage], group: int) -> None:
    """A reply that is heard by the second account first is linked to the line as it is logged."""
    events = await heard_by(both, "周三来吗", 2000001, group)
    reply = [{"type": "reply", "data": {"id": str(events[1].message_id)}}, {"type": "text", "data": {"text": "来"}}]
    both[1].answers["get_msg"] = Exception  # not asked for: the memory reads the message as it came
    await both[1].bot.handle_event(message(reply, 2000002, group, self_id=OTHER))
    asked, answered = await logged(group)
    assert answered.reply_to == asked.id


async def test_a_turn_ended_by_the_second_account_rests_on_the_line(both: tuple[Stage, Stage], group: int) -> None:
    """A turn that the second account answers names the line under the number that it was logged with."""
    from nonebot_plugin_cognitive_memory import get_memory

    from .companion import Companion, listening

    events = await heard_by(both, "我搬到杭州了", 2000001, group)
    with listening(Companion(ends=("答了", ("阿棠(2000001) 搬到杭州",)))) as companion:
        await both[1].hear(events[1])
    assert companion.ended[0]
    await get_memory().drain(30)
    here = core.Scene.group(str(group), "2000001")
    found = [event for event in await get_memory().events(here) if "杭州" in event.text]
    assert [event.message_ids for event in found] == [(str(events[0].message_id),)]


async def test_isolated_accounts_share_nothing(
    both: tuple[Stage, Stage], group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With isolate_bots each account logs what it hears in a memory of its own, and answers into that alone."""
    from nonebot_plugin_cognitive_memory import config, scene

    from .companion import Companion, listening

    monkeypatch.setattr(scene, "setup", config.Setup(core.Settings(isolate_bots=True), None))
    await heard_by(both, "早上好", 2000001, group)
    with listening(Companion(says="你好呀")):
        await both[0].hear(message("你好", 2000001, group))
    await both[1].hear(message("你好呀", BOT, group, self_id=OTHER))
    assert texts(await logged(group, str(BOT))) == ["早上好", "你好", "你好呀"]
    assert texts(await logged(group, str(OTHER))) == ["早上好"]
    assert await logged(group) == []


async def test_accounts_of_both_versions(app: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """An account of v11 and one of v12 that hear the same line log it once."""
    stages, group = (Stage(), Stage("v12", OTHER)), new_id()
    for stage in stages:
        monkeypatch.setitem(nonebot.get_driver()._bots, stage.bot.self_id, stage.bot)
    await stages[0].hear(message("早", 2000001, group, time=1_790_000_000))
    own = {"platform": "qq", "user_id": str(OTHER)}
    await stages[1].hear(twelve_message("早", "2000001", str(group), self=own, time=1_790_000_000.4))
    assert texts(await logged(group)) == ["早"]
