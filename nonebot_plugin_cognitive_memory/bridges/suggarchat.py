"""The bridge to nonebot-plugin-suggarchat, by the hooks and the tool registry of AmritaCore, on which it is built."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

import cognitive_memory_core as core

from .. import replies
from ..injected import tool_schemas
from ..lending import OPENAI, lent_by
from ..lifecycle import get_memory
from .shared import PREFIX, current, part_of, running_turn

MODULE = "nonebot_plugin_suggarchat"
TRIED = {"nonebot-plugin-suggarchat": "==4.0.*", "nonebot-plugin-amrita": "==0.3.*", "amrita-core": "==0.13.*"}
_PRIORITY = 10  # the companion's own check of the prompt comes first


def attach() -> None:
    """Register the hooks before and after a completion, and the tools."""
    hooks = "amrita_core.hook.event"
    before = part_of("amrita_core", "on_precompletion", ("priority", "block"))(_PRIORITY, block=False)
    after = part_of("amrita_core", "on_completion", ("priority", "block"))(_PRIORITY, block=False)
    on_tools = part_of("amrita_core.tools.manager", "on_tools", ("data", "custom_run", "enable_if"))
    definition = part_of("amrita_core.tools.models", "FunctionDefinitionSchema")
    part_of("amrita_core.types", "SendMessageWrap.get_train")
    for hook, place, kind in (
        (remember_before, before, part_of(hooks, "PreCompletionEvent")),
        (remember_after, after, part_of(hooks, "CompletionEvent")),
    ):
        hook.__annotations__ = {"event": kind, "return": None}  # AmritaCore passes events by their annotation
        place.append_handler(hook)
    for schema in tool_schemas(PREFIX):
        data = definition.model_validate(schema["function"])
        on_tools(data, custom_run=True, enable_if=lambda: get_memory().is_running)(_tool(schema["function"]["name"]))


async def remember_before(event: Any) -> None:
    """Append the memory's context and guide to its tools to the system message, before the model is asked."""
    turn = await running_turn()
    current.set(turn)  # each conversation runs in a task of its own, and ends with it
    if turn and (block := await turn.block(with_tools=True)):
        train = event.message.train
        train.content = f"{train.content}\n\n{block}".strip()


async def remember_after(event: Any) -> None:
    """Record the turn with the model's answer."""
    if turn := current.get():
        await turn.answered(event.model_response)


async def lent() -> core.LentModel | None:
    """Return the preset of the whole bot, if it speaks OpenAI's protocol and the settings are loaded."""
    manager = import_module(f"{MODULE}.config").config_manager
    config = getattr(manager, "config", None)
    preset = await manager.get_preset(config.preset) if config else None
    if preset is None or preset.protocol not in ("__main__", "openai"):
        return None
    return lent_by("suggarchat", preset.base_url or OPENAI, preset.api_key, preset.model)


def _tool(name: str) -> Callable[[Any], Awaitable[str]]:
    async def run(given: Any) -> str:
        turn = await running_turn()
        return await turn.call(name, given.data) if turn else replies.chat_plugins.TOOL_FAILED

    return run
