"""Tests of the bridges with the real chat plugins, over a real OneBot WebSocket and a scripted model server."""

from __future__ import annotations

from pathlib import Path

import pytest

from .stage import FACT, KNOWN, SEARCH, UNKNOWN, Chat, companion

LLMCHAT = '{"name": "stub", "api_base": "{url}", "api_key": "k", "model_name": "some-model", "support_mcp": true}'
CHATS = [
    Chat(
        "deepseek",
        "nonebot_plugin_deepseek",
        "nonebot-plugin-deepseek",
        (
            'DEEPSEEK__ENABLE_MODELS=[{"name": "some-model", "base_url": "{url}", "api_key": "k"}]',
            'COMMAND_START=["/"]',
        ),
        calls_tools=False,
        question="/ds 年糕吃什么来着？",
    ),
    Chat(
        "llmchat",
        "nonebot_plugin_llmchat",
        "nonebot-plugin-llmchat",
        (f"LLMCHAT__API_PRESETS=[{LLMCHAT}]", "LLMCHAT__DEFAULT_PRESET=stub", "LLMCHAT__RANDOM_TRIGGER_PROB=0"),
    ),
]
pytestmark = pytest.mark.companions
each = pytest.mark.parametrize("chat", CHATS, ids=lambda chat: chat.name)


@each
async def test_it_answers_by_what_was_said_an_hour_before(tmp_path: Path, chat: Chat) -> None:
    """The prompt has what somebody else said in the group an hour ago, and the model's tool calls are answered."""
    async with companion(tmp_path, chat) as scene:
        assert f"已给 {chat.name}" in scene.bot.log()
        await scene.told_before()
        await scene.is_remembered()
        assert KNOWN in await scene.answer(chat.question)
        assert "罐头" in scene.prompts[0]
        assert scene.called == ([SEARCH] if chat.calls_tools else [])


@each
async def test_it_answers_while_the_memory_is_off(tmp_path: Path, chat: Chat) -> None:
    """With enabled=false the companion still answers, and nothing is recalled."""
    async with companion(tmp_path, chat, ["COGNITIVE_MEMORY__ENABLED=false"]) as scene:
        await scene.told_before()
        assert UNKNOWN in await scene.answer(chat.question)


@each
async def test_its_next_version_is_refused(tmp_path: Path, chat: Chat) -> None:
    """A version with which the bridge was not tried is refused in one line, and the companion still answers."""
    async with companion(tmp_path, chat, version="99.0.0") as scene:
        [line] = [line for line in scene.bot.log().splitlines() if f"没有给 {chat.name} 接上记忆" in line]
        assert "99.0.0" in line
        await scene.told_before()
        assert UNKNOWN in await scene.answer(chat.question)
        assert FACT not in "".join(scene.prompts)
