"""The bridge to nonebot-plugin-llmchat, which has no hooks and answers in tasks of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nonebot import get_bots
from nonebot.matcher import current_event

from .bridged_turn import BridgedTurn, current_turn, is_ours, taking, turn_of
from .companions import Companion, part_of
from .tool_rounds import end_in_words

MODULE = "nonebot_plugin_llmchat"
_SERVICE = f"{MODULE}.conversation"


def attach() -> None:
    """Wrap the four methods of ``ConversationService`` that make up a turn."""
    service = part_of(_SERVICE, "ConversationService")
    process = _method("_process_snapshot", "context_id", "is_group", "state", "event", "events")
    run_loop = _method("_run_tool_loop", "request_config", "messages")
    complete = _method("_complete", "client", "request_config", "messages", "stream")
    handle_call = _method("_handle_tool_call", "mcp_client", "transcript", "tool_call")

    async def process_with_memory(
        self: Any, where: int, is_group: bool, state: Any, event: Any, events: Any, *rest: Any
    ) -> None:
        bot, earlier = get_bots().get(str(event.self_id)), _still_shown(state)
        shown = [*events, *(one for _, heard in earlier for one in heard)]
        turn = await turn_of(bot, event, shown=shown) if bot else None
        current_event.set(event)  # the task was started by an earlier event, perhaps another person's
        with taking(turn):
            await process(self, where, is_group, state, event, events, *rest)
        said = next((one for one in reversed(state.history) if one.get("role") == "user"), None)
        state.cognitive_memory_shown = [*earlier, (said, events)]
        if turn:
            await turn.answered(_last_answer(state))

    async def loop_with_memory(self: Any, **given: Any) -> Any:
        turn = current_turn()
        return await run_loop(self, **(await _with_block_and_tools(turn, given) if turn else given))

    async def complete_with_memory(self: Any, *given: Any, **named: Any) -> Any:
        completion, turn = await complete(self, *given, **named), current_turn()
        if turn:
            await end_in_words(turn, completion)
        return completion

    async def call_with_memory(self: Any, mcp_client: Any, transcript: Any, tool_call: Any, *rest: Any) -> None:
        turn = current_turn()
        if turn is None or not is_ours(tool_call.function.name):
            return await handle_call(self, mcp_client, transcript, tool_call, *rest)
        told = await turn.call(tool_call.function.name, tool_call.function.arguments)
        transcript.append({"role": "tool", "tool_call_id": tool_call.id, "content": told})
        return None

    service._process_snapshot = process_with_memory  # noqa: SLF001  # the plugin has no other place
    service._run_tool_loop = loop_with_memory  # noqa: SLF001  # as above
    service._complete = complete_with_memory  # noqa: SLF001  # as above
    service._handle_tool_call = call_with_memory  # noqa: SLF001  # as above


async def _with_block_and_tools(turn: BridgedTurn, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of LLMChat's tool loop with the context and, if it offers tools, the memory's tools."""
    config, (system, *others) = given["request_config"], given["messages"]
    has_tools = "tools" in config
    block = await turn.block(with_tools=has_tools)
    if has_tools:
        config = {**config, "tools": [*config["tools"], *turn.tools]}
    system = {**system, "content": f"{system['content']}\n\n{block}".strip()}
    return {**given, "messages": [system, *others], "request_config": config}


def _still_shown(state: Any) -> list[tuple[Any, Any]]:
    """Return LLMChat's earlier questions that its history still has, each with the events of which it was made."""
    known = getattr(state, "cognitive_memory_shown", ())
    return [(said, heard) for said, heard in known if any(said is one for one in state.history)]


def _last_answer(state: Any) -> str:
    last = state.history[-1] if state.history else {}
    return str(last.get("content") or "") if last.get("role") == "assistant" else ""


def _method(name: str, *parameters: str) -> Any:
    return part_of(_SERVICE, f"ConversationService.{name}", parameters)


COMPANION = Companion("llmchat", MODULE, {"nonebot-plugin-llmchat": "==0.6.*"}, attach)
