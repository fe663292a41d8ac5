"""The bridge to nonebot-plugin-llmchat, which has no hooks and answers in tasks of its own."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from nonebot import get_bots
from nonebot.matcher import current_event

import cognitive_memory_core as core

from ..lending import lent_by
from .shared import current, end_in_words, is_ours, part_of, taking, turn_of, with_block

MODULE = "nonebot_plugin_llmchat"
TRIED = {"nonebot-plugin-llmchat": "==0.6.*"}


def attach() -> None:
    """Wrap the four methods of ``ConversationService`` that make up a turn."""
    place = f"{MODULE}.conversation"
    service = part_of(place, "ConversationService")
    parts = {
        "_process_snapshot": ("context_id", "is_group", "state", "event", "events"),
        "_run_tool_loop": ("request_config", "messages"),
        "_complete": ("client", "request_config", "messages", "stream"),
        "_handle_tool_call": ("mcp_client", "transcript", "tool_call"),
    }
    process, run_loop, complete, handle_call = (
        part_of(place, f"ConversationService.{name}", parameters) for name, parameters in parts.items()
    )

    async def process_with_memory(
        self: Any, where: int, is_group: bool, state: Any, event: Any, events: Any, *rest: Any
    ) -> None:
        bot, known = get_bots().get(str(event.self_id)), getattr(state, "cognitive_memory_shown", ())
        earlier = [(said, heard) for said, heard in known if any(said is one for one in state.history)]
        shown = [*events, *(one for _, heard in earlier for one in heard)]  # also questions that its history still has
        turn = await turn_of(bot, event, shown=shown) if bot else None
        current_event.set(event)  # the task was started by an earlier event, perhaps another person's
        with taking(turn):
            await process(self, where, is_group, state, event, events, *rest)
        said = next((one for one in reversed(state.history) if one.get("role") == "user"), None)
        state.cognitive_memory_shown = [*earlier, (said, events)]
        last = state.history[-1] if state.history else {}
        if turn and last.get("role") == "assistant":
            await turn.answered(str(last.get("content") or ""))

    async def loop_with_memory(self: Any, **given: Any) -> Any:
        turn, config = current.get(), given.get("request_config", {})
        if turn:
            has_tools = "tools" in config  # else its model may know none
            given["messages"] = with_block(given["messages"], await turn.block(with_tools=has_tools))
            if has_tools:
                given["request_config"] = {**config, "tools": [*config["tools"], *turn.tools]}
        return await run_loop(self, **given)

    async def complete_with_memory(self: Any, *given: Any, **named: Any) -> Any:
        completion, turn = await complete(self, *given, **named), current.get()
        if turn:
            await end_in_words(turn, completion)
        return completion

    async def call_with_memory(self: Any, mcp_client: Any, transcript: Any, tool_call: Any, *rest: Any) -> None:
        turn = current.get()
        if turn is None or not is_ours(tool_call):
            return await handle_call(self, mcp_client, transcript, tool_call, *rest)
        told = await turn.call(tool_call.function.name, tool_call.function.arguments)
        transcript.append({"role": "tool", "tool_call_id": tool_call.id, "content": told})
        return None

    wrapped = (process_with_memory, loop_with_memory, complete_with_memory, call_with_memory)
    for name, function in zip(parts, wrapped, strict=True):
        setattr(service, name, function)


async def lent() -> core.LentModel | None:
    """Return the default preset, or the first one while the default is "off", as for a place without a preset."""
    config = import_module(MODULE).plugin_config
    presets = {one.name: one for one in config.api_presets}
    preset = presets.get(config.default_preset) or next(iter(presets.values()), None)
    return preset and lent_by("llmchat", preset.api_base, preset.api_key, preset.model_name, preset.proxy)
