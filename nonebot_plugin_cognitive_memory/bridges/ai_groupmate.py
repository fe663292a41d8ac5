"""The bridge to nonebot-plugin-ai-groupmate: registers the memory's tools there, with the context as instructions.

AI Groupmate also has a memory of its own, which the bridge leaves alone: notes that its model makes, relations of
people, and a summary of the group.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from itertools import takewhile
from typing import Any

import cognitive_memory_core as core

from ..lending import lent_by
from ..lifecycle import get_memory
from .shared import BridgedTurn, current, part_of, quietly, taking, turn_of

MODULE = "nonebot_plugin_ai_groupmate"
TRIED = {"nonebot-plugin-ai-groupmate": "==2.5.*"}
_RERANKER = "BAAI/bge-reranker-v2-m3"  # what it always asks for
_LINES = 6  # newest lines of the place among which the answer is


def attach() -> None:
    """Register the memory's tools and context with AI Groupmate, and wrap its function that answers a message."""
    register = part_of(f"{MODULE}.agent", "register_agent_tool", ("factory",))
    bundle = part_of(f"{MODULE}.agent", "AgentToolBundle", ("tools", "instructions"))
    tool = part_of("langchain_core.tools", "StructuredTool")
    answer = part_of(MODULE, "choice_response_strategy", ("bot", "event"))
    at = answer.__code__.co_varnames[: answer.__code__.co_argcount].index("bot")

    async def answer_with_memory(*given: Any, **named: Any) -> Any:
        bot, event = [*given[at : at + 2], *(named.get(name) for name in ("bot", "event")[len(given[at : at + 2]) :])]
        turn = await turn_of(bot, event) if bot and event else None
        with taking(turn):
            answered = await answer(*given, **named)
        if turn:  # AI Groupmate sends its answer by a tool and does not return it: the bot's newest lines are it
            lines = await quietly(get_memory().recent_messages(turn.scene, _LINES), [])
            said = [line.text for line in takewhile(lambda line: line.is_bot, reversed(lines))]
            await turn.answered(" ".join(reversed(said)))
        return answered

    async def build_tools(_: Any) -> Any:
        turn = current.get()
        if turn is None:
            return bundle()
        block = await turn.block(with_tools=True)
        return bundle(tools=[_tool(tool, turn, one["function"]) for one in turn.tools], instructions=[block])

    register(build_tools)
    plugin: Any = import_module(MODULE)
    plugin.choice_response_strategy = answer_with_memory


def _tool(kind: Any, turn: BridgedTurn, function: core.tools.Schema) -> Any:
    async def call(**arguments: Any) -> str:
        return await turn.call(function["name"], arguments)

    return kind.from_function(
        name=function["name"],
        description=function["description"],
        args_schema=function["parameters"],
        coroutine=call,
    )


async def lent() -> core.LentModel | None:
    """Return the model of summaries if the operator set one up, else that of the chat; never a group's own.

    With it go the models for embedding and reranking, if they have keys.
    """
    config = import_module(f"{MODULE}.runtime_config").get_runtime_config()
    key, fields = config.llm_api_key or config.qwen_token, type(config).model_fields
    is_named = config.summary_model != fields["summary_model"].default
    if config.summary_api_key or is_named or config.llm_base_url == fields["llm_base_url"].default:
        address = config.summary_base_url or config.llm_base_url
        chat = lent_by("ai-groupmate", address, config.summary_api_key or key, config.summary_model)
    elif config.chat_api_format == "openai":
        address, model = config.chat_base_url or config.llm_base_url, config.chat_model or config.base_model
        chat = lent_by("ai-groupmate", address, config.chat_api_key or key, model)
    else:
        return None
    return chat and replace(
        chat,
        embedding=lent_by(chat.lender, config.embedding_base_url, config.embedding_api_key, config.embedding_model),
        rerank=lent_by(chat.lender, config.rerank_api_url, config.rerank_api_key, _RERANKER),
    )
