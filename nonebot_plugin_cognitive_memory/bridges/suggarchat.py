"""The bridge to nonebot-plugin-suggarchat, by the hooks and the tool registry of AmritaCore, on which it is built."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import cognitive_memory_core as core

from .. import replies
from ..lifecycle import get_memory
from ..toolbox import tool_schemas
from .bridged_turn import current_turn, running_turn, take
from .companions import PREFIX, Companion, part_of

MODULE = "nonebot_plugin_suggarchat"
_PRIORITY = 10  # the companion's own check of the prompt comes first


def attach() -> None:
    """Register the hooks before and after a completion, and the tools."""
    hooks = "amrita_core.hook.event"
    before = part_of("amrita_core", "on_precompletion", ("priority", "block"))(_PRIORITY, block=False)
    after = part_of("amrita_core", "on_completion", ("priority", "block"))(_PRIORITY, block=False)
    on_tools = part_of("amrita_core.tools.manager", "on_tools", ("data", "custom_run", "enable_if"))
    definition = part_of("amrita_core.tools.models", "FunctionDefinitionSchema")
    part_of("amrita_core.types", "SendMessageWrap.get_train")
    before.append_handler(_typed(remember_before, part_of(hooks, "PreCompletionEvent")))
    after.append_handler(_typed(remember_after, part_of(hooks, "CompletionEvent")))
    for schema in tool_schemas(PREFIX):
        data = definition.model_validate(schema["function"])
        on_tools(data, custom_run=True, enable_if=_has_memory)(_tool(schema))


async def remember_before(event: Any) -> None:
    """Append the memory's context and guide to its tools to the system message, before the model is asked."""
    turn = await running_turn()
    take(turn)  # each conversation runs in a task of its own, and ends with it
    if turn is None:
        return
    train = event.message.train
    block = await turn.block(with_tools=True)
    train.content = f"{train.content}\n\n{block}".strip() if block else train.content


async def remember_after(event: Any) -> None:
    """Record the turn with the model's answer."""
    turn = current_turn()
    if turn:
        await turn.answered(event.model_response)


def _tool(schema: core.tools.Schema) -> Callable[[Any], Awaitable[str]]:
    name = schema["function"]["name"]

    async def run(given: Any) -> str:
        turn = await running_turn()
        return await turn.call(name, given.data) if turn else replies.bridges.TOOL_FAILED

    return run


def _typed(hook: Callable[..., Awaitable[None]], event: Any) -> Callable[..., Awaitable[None]]:
    """Annotate a hook's parameter with its event class, because AmritaCore passes events by their annotation."""
    hook.__annotations__ = {"event": event, "return": None}
    return hook


def _has_memory() -> bool:
    return get_memory().is_running


COMPANION = Companion(
    "suggarchat",
    MODULE,
    {"nonebot-plugin-suggarchat": "==4.0.*", "nonebot-plugin-amrita": "==0.3.*", "amrita-core": "==0.13.*"},
    attach,
)
