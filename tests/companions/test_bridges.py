"""Tests of the bridges with the real chat plugins, over a real OneBot WebSocket and a scripted model server."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.journeys.test_readme_plugin import LINES, QUESTIONS
from tests.plugin.history_ends import History, chat_of
from tests.support.onebot import GROUP

from .stage import (
    FACT,
    KEY,
    KNOWN,
    NOT_SOON,
    OPERATOR,
    SEARCH,
    UNKNOWN,
    Chat,
    companion,
    everything_in,
    is_the_historians,
)

WEEK = 7 * 24 * 3600  # seconds
TOML = "config/nonebot_plugin_suggarchat/config.toml"
CHATS = [
    Chat("ai-groupmate", "nonebot_plugin_ai_groupmate"),
    Chat("deepseek", "nonebot_plugin_deepseek", calls_tools=False, question="/ds 年糕吃什么来着？"),
    Chat("llmchat", "nonebot_plugin_llmchat"),
    Chat("marshoai", "nonebot_plugin_marshoai"),
    Chat("suggarchat", "nonebot_plugin_suggarchat", files=((TOML, "suggarchat.toml"),)),
]
ANY = [
    Chat(
        "openai",
        "nonebot_plugin_chatgpt_turbo",
        question="/chat 年糕吃什么来着？",
        bridge="openai:nonebot_plugin_chatgpt_turbo",
        tried="openai",
    ),
    *(
        replace(chat, bridge=f"openai:{chat.module}")
        for chat in CHATS  # deepseek asks by httpx; ai-groupmate answers by a tool of its own, which is not read
        if chat.name in ("llmchat", "marshoai", "suggarchat")
    ),
]
pytestmark = pytest.mark.companions
each = pytest.mark.parametrize("chat", CHATS, ids=lambda chat: chat.name)
with_any = pytest.mark.parametrize("chat", [*CHATS, ANY[0]], ids=lambda chat: chat.name)


@each
async def test_it_answers_by_what_was_said_an_hour_before(tmp_path: Path, chat: Chat) -> None:
    """The prompt has what somebody else said in the group an hour ago, and the model's tool calls are answered."""
    async with companion(tmp_path, chat) as scene:
        assert f"已给 {chat.attached}" in scene.bot.log()
        await scene.told_before()
        await scene.is_remembered()
        assert KNOWN in await scene.answer(chat.question)
        assert "罐头" in scene.prompts[0]
        assert (SEARCH in scene.called) is chat.calls_tools


@pytest.mark.parametrize(("chat", "place"), [(CHATS[2], "own"), (CHATS[4], "quoted")], ids=["llmchat", "suggarchat"])
async def test_four_questions_find_what_was_said_five_seconds_before(tmp_path: Path, chat: Chat, place: str) -> None:
    """Each prompt quotes the answer's line; llmchat has it in its own history, and it is not repeated."""
    async with companion(tmp_path, chat, [NOT_SOON]) as scene:
        await scene.told(LINES)
        await asyncio.sleep(5)
        places = [await scene.place_of(LINES[user], question) for question, user in QUESTIONS.items()]
        assert places == [place] * 4


@pytest.mark.parametrize("chat", [CHATS[2], CHATS[4]], ids=lambda chat: chat.name)
async def test_what_was_said_last_week_is_known_after_it_was_taken_in(tmp_path: Path, chat: Chat) -> None:
    """The quickstart with a chat plugin: its key alone, /记忆 补课, and a question about last week is answered."""
    lines = chat_of(GROUP, 60, start=int(time.time()) - WEEK)
    lines[4] |= {"raw_message": FACT, "message": [{"type": "text", "data": {"text": FACT}}]}
    history = History(lines=lines)
    async with companion(tmp_path, chat, borrows=True) as scene:
        client = scene.client
        client.answers["get_group_msg_history"] = history.answer
        await client.say("/记忆 补课 500", user=OPERATOR, group=GROUP)
        while not (said := await scene.next_words()).startswith("补课完了"):
            pass
        assert "新记下 54 句" in said
        assert KNOWN in await scene.answer(chat.question)


@pytest.mark.parametrize("chat", ANY, ids=lambda chat: chat.module)
async def test_any_plugin_that_uses_the_sdk_answers_by_it_too(tmp_path: Path, chat: Chat) -> None:
    """A named plugin that asks through openai.AsyncOpenAI gets the block, and its turn is recorded."""
    async with companion(tmp_path, chat) as scene:
        assert f"已给 {chat.attached}" in scene.bot.log()
        await scene.told_before()
        await scene.is_remembered()
        assert KNOWN in await scene.answer(chat.question)
        assert "罐头" in scene.prompts[0]
        assert scene.called == []
        await scene.answer(chat.question)
        assert "回答了" in scene.prompts[-1]


@pytest.mark.parametrize("chat", ANY, ids=lambda chat: chat.module)
async def test_a_plugin_that_is_not_named_gets_nothing(tmp_path: Path, chat: Chat) -> None:
    """The memory is given to named plugins only, although all of them use the same SDK."""
    async with companion(tmp_path, replace(chat, bridge="openai:nonebot_plugin_localstore")) as scene:
        assert "已给 openai" in scene.bot.log()
        await scene.told_before()
        await scene.is_remembered()
        assert UNKNOWN in await scene.answer(chat.question)
        assert "罐头" not in "".join(scene.prompts)


@with_any
async def test_it_answers_while_the_memory_is_off(tmp_path: Path, chat: Chat) -> None:
    """With enabled=false the companion still answers, and nothing is recalled."""
    async with companion(tmp_path, chat, ["COGNITIVE_MEMORY__ENABLED=false"]) as scene:
        await scene.told_before()
        assert UNKNOWN in await scene.answer(chat.question)


@with_any
async def test_its_next_version_is_refused(tmp_path: Path, chat: Chat) -> None:
    """A version with which the bridge was not tried is refused in one line, and the companion still answers."""
    async with companion(tmp_path, chat, version="99.0.0") as scene:
        [line] = [line for line in scene.bot.log().splitlines() if f"没有给 {chat.attached} 接上记忆" in line]
        assert "99.0.0" in line
        await scene.told_before()
        assert UNKNOWN in await scene.answer(chat.question)
        assert FACT not in "".join(scene.prompts)


@pytest.mark.parametrize("chat", [ANY[1], CHATS[3]], ids=lambda chat: chat.attached)
async def test_a_streamed_answer_is_recorded_too(tmp_path: Path, chat: Chat) -> None:
    """An answer in a stream has the block before it, and becomes a memo once it has been read."""
    async with companion(tmp_path, chat, ["MARSHOAI_STREAM=true"]) as scene:
        await scene.told_before()
        await scene.is_remembered()
        assert KNOWN in await scene.answer(chat.question)
        assert "罐头" in scene.prompts[0]
        assert KNOWN in await scene.answer(chat.question)
        assert "回答了" in scene.prompts[-1]


@with_any
async def test_the_historian_uses_its_model(tmp_path: Path, chat: Chat) -> None:
    """With one key in its settings and nothing in ours, a statement is written by the model; the key stays there."""
    async with companion(tmp_path, chat, borrows=True) as scene:
        await scene.told_before()
        await scene.is_remembered()
        own = [asked for asked in scene.server.asked if is_the_historians(asked)]
        assert own[0].body["model"] == "some-model"
        assert own[0].headers["authorization"] == f"Bearer {KEY}"
        assert f"用 {chat.attached} 的模型 some-model" in await scene.status()
        log = scene.bot.log()
        assert f"用 {chat.attached} 的模型 some-model（127.0.0.1" in log
    assert KEY not in log
    assert KEY.encode() not in everything_in(tmp_path / "data" / "nonebot_plugin_cognitive_memory")
