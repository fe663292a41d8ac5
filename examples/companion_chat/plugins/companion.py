"""A chat plugin with a long-term memory, in one file: any model with an OpenAI-compatible API, set in ``.env``.

The memory gives three things: the block ``context`` for the prompt, the tools that the model may call, and the log of
the place, from which the last lines are taken; the context does not quote those again. What a turn was worth the model
itself records with the tool ``end``.
"""

from __future__ import annotations

from typing import Any

from nonebot import get_plugin_config, logger, on_message, require
from nonebot.adapters import Event
from nonebot.plugin import PluginMetadata
from nonebot.rule import to_me
from openai import AsyncOpenAI, OpenAIError
from pydantic import BaseModel, Field

import cognitive_memory_core as core

require("nonebot_plugin_cognitive_memory")

from nonebot_plugin_cognitive_memory import (  # noqa: E402  # after its require()
    TOOL_GUIDE,
    CurrentScene,
    Memory,
    MemoryTools,
    RecordEnd,
)

ROUNDS = 6  # requests to the model per turn; in the last one it cannot call tools
NO_MODEL = "还没有接上模型：在 .env 里写 COMPANION__API_URL 和 COMPANION__MODEL_NAME。"
OUT_OF_REACH = "模型现在连不上，等一会儿再叫我吧。"
SPEECHLESS = "……"


class Companion(BaseModel):
    """The settings; each is ``COMPANION__`` and its name in ``.env``."""

    api_url: str = ""
    api_key: str = "none"  # local servers need none
    model_name: str = ""
    persona: str = "你是群里的一员，叫小忆。说话简短、自然，不用 Markdown。"
    history: int = 12
    timeout_seconds: float = 60.0


class Config(BaseModel):
    """The part of the bot's configuration that belongs to this plugin."""

    companion: Companion = Field(default_factory=Companion)


__plugin_meta__ = PluginMetadata(
    name="有记忆的聊天搭子",
    description="接一个兼容 OpenAI 的模型，记得住人，也会自己翻记忆",
    usage="@机器人 说话，或者私聊",
    config=Config,
)

settings = get_plugin_config(Config).companion
model = AsyncOpenAI(
    base_url=settings.api_url or None, api_key=settings.api_key, timeout=settings.timeout_seconds, max_retries=1
)
chat = on_message(rule=to_me(), priority=50, block=True)


@chat.handle()
async def turn(
    event: Event,
    scene: CurrentScene,
    memory: Memory,
    tools: MemoryTools,
    record_end: RecordEnd,
) -> None:
    """Answer what was said to the bot, and hand in the turn."""
    said = event.get_plaintext().strip()
    if not said:
        await chat.finish()
    if not settings.model_name:
        await chat.finish(NO_MODEL)
    answered = str(getattr(event, "message_id", ""))
    lines = await memory.recent_messages(scene, settings.history + 1)
    earlier = [line for line in lines if line.id != answered][-settings.history :]
    context = await memory.context(scene, said, shown=[answered, *(line.id for line in earlier)])
    prompt = [
        {"role": "system", "content": f"{settings.persona}\n\n{TOOL_GUIDE}\n{context.text}"},
        *map(as_prompt, earlier),
        {"role": "user", "content": f"{label(scene)}：{said}"},
    ]
    try:
        answer, has_ended = await converse(prompt, tools)
    except OpenAIError as failure:
        logger.warning(f"聊天搭子：{type(failure).__name__}")
        await chat.finish(OUT_OF_REACH)
    await chat.send(answer or SPEECHLESS)
    if not has_ended:
        await record_end(f"回答了 {label(scene)}：{answer[:60]}")


def as_prompt(line: core.Message) -> dict[str, Any]:
    """Return a logged line as a message of the prompt."""
    if line.is_bot:
        return {"role": "assistant", "content": line.text}
    return {"role": "user", "content": f"{label(line.scene)}：{line.text}"}


async def converse(prompt: list[Any], tools: MemoryTools) -> tuple[str, bool]:
    """Ask the model until it has answered, running the tools it calls.

    Returns the answer, and whether the model ended the turn itself. Each tool answers with JSON text, also if the model
    called it wrongly, and never leaves the place of the event.
    """
    answer, has_ended = "", False
    for count in range(ROUNDS):
        is_last = count == ROUNDS - 1
        offered: dict[str, Any] = {} if is_last else {"tools": tools.schemas}
        completion = await model.chat.completions.create(model=settings.model_name, messages=prompt, **offered)
        if not completion.choices:
            break
        reply = completion.choices[0].message
        answer = (reply.content or "").strip() or answer
        calls = [call for call in reply.tool_calls or () if call.type == "function"]
        if not calls:
            break
        prompt.append(reply.model_dump(exclude_none=True))
        for call in calls:
            told = await tools.call(call.function.name, call.function.arguments)
            prompt.append({"role": "tool", "tool_call_id": call.id, "content": told})
            has_ended |= call.function.name == "end"
        if has_ended and answer:
            break
    return answer, has_ended


def label(scene: core.Scene) -> str:
    """Return a person as the memory writes them: the name with the id."""
    return f"{scene.user_name or 'QQ'}({scene.user_id})"
