"""Tests of recording messages and withdrawals."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any

import pytest
from nonebot import on_message, on_notice
from nonebot.adapters import Event

import cognitive_memory_core as core

from .conftest import IGNORED_USER
from .stage import ANON, BOT, Stage, message, new_id, notice, texts


async def logged(group: int, user: int = 2000001) -> list[core.Message]:
    """Return the log of a group."""
    from nonebot_plugin_cognitive_memory import get_memory

    return await get_memory().recent_messages(core.Scene.group(str(group), str(user)))


async def test_a_message_is_logged(stage: Stage, group: int) -> None:
    """A handled message is in the log with its id, time and the id of the line it answers."""
    event = message("我喜欢乌龙茶", 2000001, group)
    await stage.hear(event)
    [line] = await logged(group)
    assert (line.id, line.text, line.sender_id) == (str(event.message_id), "我喜欢乌龙茶", "2000001")
    assert line.sent_at.timestamp() == event.time
    assert not stage.calls


async def test_a_blocking_plugin_hides_nothing(stage: Stage, group: int) -> None:
    """A message that a chat plugin of the usual priority handles and blocks is in the log, and is not hidden by us."""
    seen: list[str] = []

    async def listen(event: Event) -> None:
        seen.append(event.get_plaintext())

    matchers = [on_message(priority=priority, block=True) for priority in (1, 2)]
    for matcher in matchers:
        matcher.handle()(listen)
    await stage.hear(message("我喜欢乌龙茶", 2000001, group))
    for matcher in matchers:
        matcher.destroy()
    assert texts(await logged(group)) == ["我喜欢乌龙茶"]
    assert seen == ["我喜欢乌龙茶"]


@pytest.mark.parametrize(
    ("text", "user"),
    [
        ("/天气 上海", 2000001),
        ("  !roll 1d6", 2000001),
        ("/记忆 记住 我怕猫", new_id()),
        ("/memory nonsense", new_id()),
        ("", 2000001),
        ("我说话了", IGNORED_USER),
        ("我是机器人", BOT),
    ],
)
async def test_not_recorded(stage: Stage, group: int, text: str, user: int) -> None:
    """Commands, empty messages, ignored people and the bot itself are not recorded."""
    await stage.hear(message(text, user, group))
    assert not await logged(group)


async def test_withdrawn_in_a_group(stage: Stage, group: int) -> None:
    """A withdrawn group message leaves the log, also if an admin withdrew it."""
    event = message("说错了", 2000001, group)
    await stage.hear(event)
    await stage.hear(message("留下", 2000001, group))
    gone = {"group_id": group, "user_id": 2000001, "operator_id": 2000009, "message_id": event.message_id}
    await stage.hear(notice("group_recall", **gone))
    assert texts(await logged(group)) == ["留下"]


async def test_a_withdrawal_that_a_plugin_handles_and_blocks_counts(stage: Stage, group: int) -> None:
    """A message whose withdrawal another plugin handles before others, and blocks, leaves the log all the same."""
    event = message("说错了", 2000001, group)
    await stage.hear(event)
    matcher = on_notice(priority=0, block=True)
    await stage.hear(
        notice("group_recall", user_id=2000001, group_id=group, message_id=event.message_id, operator_id=2000001)
    )
    matcher.destroy()
    assert not await logged(group)


async def test_withdrawn_in_private(stage: Stage) -> None:
    """A withdrawn private message leaves the log."""
    from nonebot_plugin_cognitive_memory import get_memory

    user = new_id()
    event = message("说错了", user)
    await stage.hear(event)
    await stage.hear(notice("friend_recall", user_id=user, message_id=event.message_id))
    assert not await get_memory().recent_messages(core.Scene.private(str(user)))


async def test_a_failing_memory_costs_no_event(
    stage: Stage, group: int, monkeypatch: pytest.MonkeyPatch, log: list[str]
) -> None:
    """If recording fails, the bot still handles the event, and one log line without the text reports it."""
    from nonebot_plugin_cognitive_memory import capture, limits

    limits._warned._values.clear()

    def broken(*_: object) -> None:
        raise RuntimeError("canary 我喜欢乌龙茶")

    monkeypatch.setattr(capture, "find_message", broken)
    await stage.hear(message("我喜欢乌龙茶", 2000001, group))
    assert [line for line in log if "RuntimeError" in line]
    assert not [line for line in log if "canary" in line]


async def test_a_line_takes_one_task_of_each_matcher(stage: Stage, group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message takes the one task that NoneBot starts for each matcher, and recording it takes no other (row F37)."""
    import nonebot.message
    from nonebot.matcher import matchers

    monkeypatch.setattr(nonebot.message, "_event_preprocessors", set())  # a bridge that another test set up has one
    started: list[str] = []
    is_heard: ContextVar[bool] = ContextVar("is_heard", default=False)

    def start(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
        if is_heard.get():
            started.append(work.__qualname__)
        return asyncio.Task(work, loop=loop, **options)

    loop = asyncio.get_running_loop()
    is_heard.set(True)
    loop.set_task_factory(start)
    try:
        await stage.hear(message("我喜欢乌龙茶", 2000001, group))
    finally:
        loop.set_task_factory(None)
    assert texts(await logged(group)) == ["我喜欢乌龙茶"]
    assert len(started) == sum(map(len, matchers.values()))


async def test_chat_commands_are_chat(stage: Stage, group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows a command of capture.chat_commands is recorded; other commands and ours are not."""
    from nonebot_plugin_cognitive_memory import capture, config

    settings = core.Settings.from_mapping({"capture": {"chat_commands": ["chat", "问", "记忆"]}})
    monkeypatch.setattr(capture, "setup", config.Setup(settings, None))
    said = ("/chat 我对花生过敏", "/问我住哪儿", "/chatlog 我怕鹅", "/chat", "/天气 上海", "/记忆 记住 我怕猫")
    for text in said:
        await stage.hear(message(text, 2000001, group))
    assert texts(await logged(group)) == ["我对花生过敏", "我住哪儿"]


async def test_what_is_no_chat_is_not_taken_in(stage: Stage, group: int) -> None:
    """Our own commands, ignored people and events without a message are left out, whoever hands them in."""
    from nonebot_plugin_cognitive_memory import observe

    poke = notice("notify", sub_type="poke", user_id=2000001, target_id=2000002, group_id=group)
    anonymous = message("/聊天 早", ANON, group, anonymous={"id": 1, "name": "匿名", "flag": "x"})
    own, ignored = message("/记忆 记住 我怕猫", 2000001, group), message("/聊天 我说话了", IGNORED_USER, group)
    for event in (own, ignored, poke, anonymous):
        await observe(stage.bot, event)
    assert await logged(group) == []


async def test_a_mention_is_recorded_with_the_name(stage: Stage, group: int) -> None:
    """Who is mentioned by id alone is recorded with the name under which they spoke here, not elsewhere."""
    from nonebot_plugin_cognitive_memory import get_memory

    user, other = new_id(), new_id()
    mention = [{"type": "at", "data": {"qq": str(other)}}, {"type": "text", "data": {"text": " 周三来吗"}}]
    await stage.hear(message("大家好", other, group))
    await stage.hear(message(mention, user, group))
    await stage.hear(message(mention, user, group + 500_000))
    for place, name in ((group, "阿棠"), (group + 500_000, "QQ")):
        lines = await get_memory().recent_messages(core.Scene.group(str(place), str(user)), 5)
        assert lines[-1].text == f"@{name}({other})  周三来吗"


async def test_what_is_not_recorded_is_not_gathered(stage: Stage, group: int) -> None:
    """Lines said incognito, by people who opted out, or where the switch forbids it do not count as gathered."""
    from nonebot_plugin_cognitive_memory import get_memory
    from nonebot_plugin_cognitive_memory.auto_consider import considerer

    user = new_id()
    here = core.Scene.group(str(group), str(user))
    await get_memory().incognito(here, 30)
    await stage.hear(message("我在准备惊喜", user, group))
    assert considerer.waiting(here)[0] == 0
    await get_memory().incognito(here, 0)
    await get_memory().set_switch(here, "off")
    await stage.hear(message("没人听见", new_id(), group))
    assert considerer.waiting(here)[0] == 0
    await get_memory().set_switch(here, "on")
    await stage.hear(message("这一句算", new_id(), group))
    assert considerer.waiting(here)[0] == 1
