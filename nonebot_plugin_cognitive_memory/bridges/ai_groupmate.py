"""The bridge to nonebot-plugin-ai-groupmate: registers the memory's tools there, with the context as instructions.

AI Groupmate also has a memory of its own, which the bridge leaves alone: notes that its model makes, relations of
people, and a summary of the group.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

import cognitive_memory_core as core

from ..lifecycle import get_memory
from .bridged_turn import BridgedTurn, current_turn, quietly, taking, turn_of
from .companions import Companion, part_of

MODULE = "nonebot_plugin_ai_groupmate"
_LINES = 6  # newest lines of the place among which the answer is


def attach() -> None:
    """Register the memory's tools and context with AI Groupmate, and wrap its function that answers a message."""
    register = part_of(f"{MODULE}.agent", "register_agent_tool", ("factory",))
    bundle = part_of(f"{MODULE}.agent", "AgentToolBundle", ("tools", "instructions"))
    tool = part_of("langchain_core.tools", "StructuredTool")
    answer = part_of(MODULE, "choice_response_strategy", ("bot", "event"))
    at = [*_parameters(answer)].index("bot")

    async def answer_with_memory(*given: Any, **named: Any) -> Any:
        bot, event = _found(given, named, at, "bot"), _found(given, named, at + 1, "event")
        turn = await turn_of(bot, event) if bot and event else None
        with taking(turn):
            answered = await answer(*given, **named)
        if turn:
            await turn.answered(await _answer_of(turn))
        return answered

    async def build_tools(_: Any) -> Any:
        turn = current_turn()
        if turn is None:
            return bundle()
        block = await turn.block(with_tools=True)
        return bundle(tools=[_tool(tool, turn, one["function"]) for one in turn.tools], instructions=[block])

    register(build_tools)
    plugin: Any = import_module(MODULE)
    plugin.choice_response_strategy = answer_with_memory


def _tool(kind: Any, turn: BridgedTurn, function: core.tools.Schema) -> Any:
    return kind.from_function(
        name=function["name"],
        description=function["description"],
        args_schema=function["parameters"],
        coroutine=_call(turn, function["name"]),
    )


def _call(turn: BridgedTurn, name: str) -> Callable[..., Awaitable[str]]:
    async def call(**arguments: Any) -> str:
        return await turn.call(name, arguments)

    return call


async def _answer_of(turn: BridgedTurn) -> str:
    """Return the bot's newest lines in the log: AI Groupmate sends its answer by a tool and does not return it."""
    lines = await quietly(get_memory().recent_messages(turn.scene, _LINES), [])
    said: list[str] = []
    for line in reversed(lines):
        if not line.is_bot:
            break
        said.insert(0, line.text)
    return " ".join(said)


def _parameters(function: Any) -> tuple[str, ...]:
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def _found(given: tuple[Any, ...], named: dict[str, Any], at: int, name: str) -> Any:
    return given[at] if at < len(given) else named.get(name)


COMPANION = Companion("ai-groupmate", MODULE, {"nonebot-plugin-ai-groupmate": "==2.5.*"}, attach)
