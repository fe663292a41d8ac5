"""Tests of what a bridge does in a turn: nothing that fails there costs the companion its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

import cognitive_memory_core as core
from tests.support.waiting import PATIENCE

from .stage import ANON, Stage, message

SEARCH, END = "cm_search_events", "cm_end"


def called(name: str, arguments: str = "{}", says: str | None = None) -> Any:
    """Return a choice of OpenAI's chat API that calls a tool, beside words or without."""
    call = SimpleNamespace(id="c1", function=SimpleNamespace(name=name, arguments=arguments))
    answer = SimpleNamespace(content=says, tool_calls=[call])
    answer.model_dump = lambda **_: {"role": "assistant", "tool_calls": [one.id for one in answer.tool_calls]}
    return SimpleNamespace(message=answer, finish_reason="tool_calls")


async def test_a_turn_has_a_block_and_ends(stage: Stage, group: int) -> None:
    """The block has what was said before, and the answer becomes a memo of the place."""
    from nonebot_plugin_cognitive_memory import get_memory
    from nonebot_plugin_cognitive_memory.bridges.shared import turn_of

    await stage.hear(message("/记忆 记住 周五聚餐", 2000001, group))
    turn = await turn_of(stage.bot, message("周五干什么", 2000001, group))
    assert turn
    assert "cm_end" in await turn.block(with_tools=True)
    assert "cm_end" not in await turn.block()
    assert "周五聚餐" in await turn.block()
    await turn.answered("去聚餐呀")
    await turn.answered("再说一遍")
    memos = await get_memory().memos(turn.scene)
    assert [memo.text for memo in memos] == ["回答了 阿棠(2000001)：去聚餐呀"]


async def test_what_the_companion_shows_is_not_quoted(stage: Stage, group: int) -> None:
    """The message being answered and those that the chat plugin shows its model itself are left out of the block."""
    from nonebot_plugin_cognitive_memory import get_memory
    from nonebot_plugin_cognitive_memory.bridges.shared import turn_of

    lines = [message(said, 2000002, group) for said in ("我对花生过敏", "花生酱也不吃")]
    question = message("谁对花生过敏", 2000001, group)
    for one in (*lines, question):
        await stage.hear(one)
    turn = await turn_of(stage.bot, question, shown=lines[:1])
    assert turn
    assert await get_memory().search_events(turn.scene, "花生", kinds=("message",))  # waits until lines are written
    block = await turn.block()
    assert "花生酱也不吃" in block
    assert "花生过敏" not in block


async def test_a_line_with_a_command_is_recorded_as_it_is_meant(stage: Stage, group: int) -> None:
    """Words after a companion's command are recorded and asked for without the command."""
    from nonebot_plugin_cognitive_memory import get_memory
    from nonebot_plugin_cognitive_memory.bridges.shared import turn_of

    event = message("/ds -r 我喜欢乌龙茶", 2000001, group)
    turn = await turn_of(stage.bot, event, "我喜欢乌龙茶")
    assert turn
    assert turn.said == "我喜欢乌龙茶"
    assert [line.text for line in await get_memory().recent_messages(turn.scene, 5)] == ["我喜欢乌龙茶"]


async def test_no_person_is_no_turn(stage: Stage, group: int) -> None:
    """An anonymous speaker has no turn, so that the companion answers as ever."""
    from nonebot_plugin_cognitive_memory.bridges.shared import turn_of

    event = message("早", ANON, group, anonymous={"id": 1, "name": "匿名", "flag": "x"})
    assert await turn_of(stage.bot, event) is None


async def test_a_failing_memory_costs_no_answer(
    stage: Stage, group: int, log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the memory raises what nobody foresaw, the block is empty, tools answer so, and one line tells it."""
    from nonebot_plugin_cognitive_memory.bridges.shared import turn_of
    from nonebot_plugin_cognitive_memory.lifecycle import lifetime

    class Broken(core.CognitiveMemory):
        """A memory in which everything fails."""

        def __getattribute__(self, name: str) -> Any:
            async def fail(*_: Any, **__: Any) -> None:
                raise RuntimeError

            return True if name == "is_running" else fail

    turn = await turn_of(stage.bot, message("周五干什么", 2000001, group))
    assert turn
    monkeypatch.setattr(lifetime, "memory", object.__new__(Broken))
    assert await turn.block() == ""
    assert '"ok": false' in await turn.call(SEARCH, {"query": "周五"})
    await turn.answered("不知道")
    assert [line for line in log if "聊天插件照常回答" in line]


async def test_a_memory_that_does_not_let_go_costs_no_answer(
    stage: Stage, log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that ignores its cancellation, as a write to a disk that hangs does, is not waited for."""
    from nonebot_plugin_cognitive_memory.bridges import shared

    let_go, hung = asyncio.Event(), asyncio.Event()

    async def hang() -> str:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                hung.set()
        return "late"

    monkeypatch.setattr(shared, "PATIENCE", 0.01)
    monkeypatch.setattr(shared, "_late", shared.Lasting(60.0, 1))
    try:
        assert await asyncio.wait_for(asyncio.shield(shared.quietly(hang(), "without")), PATIENCE) == "without"
        await asyncio.wait_for(hung.wait(), PATIENCE)
    finally:
        let_go.set()
    assert [line for line in log if "聊天插件照常回答" in line]


async def test_a_memory_that_was_late_is_waited_for_less(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls of a turn do not each wait the full time for a memory that hangs; a minute later they do again."""
    from nonebot_plugin_cognitive_memory.bridges import shared

    now = [1000.0]
    monkeypatch.setattr(shared, "_late", shared.Lasting(shared.SHORT_FOR, 1, lambda: now[0]))
    with monkeypatch.context() as patch:
        patch.setattr(shared, "PATIENCE", 0.01)
        assert await shared.quietly(asyncio.sleep(3600, "late"), "without") == "without"
    assert shared._late.find("late")
    now[0] += shared.SHORT_FOR + 1
    assert not shared._late.find("late")


async def test_a_memory_that_is_closed_meanwhile_costs_no_answer(stage: Stage) -> None:
    """A call that the memory cancels does not cancel the companion's handler; the handler's own cancellation stays."""
    from nonebot_plugin_cognitive_memory.bridges.shared import quietly

    async def closed() -> str:
        raise asyncio.CancelledError

    assert await quietly(closed(), "without") == "without"
    asking = asyncio.ensure_future(quietly(asyncio.sleep(3600, "late"), "without"))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_our_tools_are_run_between_companion_and_model(stage: Stage, group: int) -> None:
    """Calls of our tools are answered; an end beside words is run and taken out; others are left alone."""
    from nonebot_plugin_cognitive_memory.bridges.shared import run_ours, turn_of

    turn = await turn_of(stage.bot, message("早", 2000001, group))
    assert turn
    assert turn.tools
    asked, answer = await run_ours(turn, called(SEARCH, '{"query": "早"}'))
    assert asked["tool_calls"] == ["c1"]
    assert answer["tool_call_id"] == "c1"
    assert '"ok": true' in answer["content"]
    theirs = called("ob__poke_user")
    assert await run_ours(turn, theirs) == []
    assert theirs.message.tool_calls
    ended = called(END, '{"memo": "问了早"}', says="早呀")
    assert await run_ours(turn, ended) == []
    assert (ended.message.tool_calls, ended.finish_reason, turn.has_ended) == (None, "stop", True)


@contextmanager
def handling(stage: Stage, event: Any) -> Iterator[None]:
    """Let a plugin named "chat", which is given the memory, handle an event."""
    from nonebot.matcher import current_bot, current_event, current_matcher

    from nonebot_plugin_cognitive_memory.bridges import openai_calls

    matcher: Any = SimpleNamespace(plugin_id="chat")
    values = ((current_bot, stage.bot), (current_event, event), (current_matcher, matcher))
    tokens = [(variable, variable.set(value)) for variable, value in values]
    openai_calls._allowed.add("chat")
    try:
        yield
    finally:
        openai_calls._allowed.discard("chat")
        openai_calls._last_heard.clear()
        for variable, token in tokens:
            variable.reset(token)


def asking(words: str) -> dict[str, Any]:
    """Return the arguments of a request whose last user message has these words."""
    return {"messages": [{"role": "user", "content": words}]}


async def test_a_request_outside_a_message_is_handed_on(stage: Stage, group: int) -> None:
    """A plugin that asks its model because somebody poked the bot gets its answer: such an event has no text."""
    from nonebot.adapters.onebot.v11 import PokeNotifyEvent

    from nonebot_plugin_cognitive_memory.bridges import openai_calls

    poke = PokeNotifyEvent.model_validate(
        {
            "time": 1,
            "self_id": 1,
            "post_type": "notice",
            "notice_type": "notify",
            "sub_type": "poke",
            "user_id": 2000001,
            "target_id": 1,
            "group_id": group,
        }
    )
    with handling(stage, poke):
        await openai_calls.note_heard(stage.bot, poke)
        assert await openai_calls._turn(asking("有人戳了戳你")) is None
