"""The bridge to nonebot-plugin-marshoai, around the two functions in which it answers and asks its model.

MarshoAI announces each tool call in the chat; therefore the memory's tools are run here, between it and the model.
They are added only to requests in which MarshoAI offers tools itself: a model without tool calls would refuse them.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import cognitive_memory_core as core

from ..lending import lent_by
from .shared import ROUNDS, current, part_of, run_ours, taking, turn_of, with_block

MODULE = "nonebot_plugin_marshoai"
TRIED = {"nonebot-plugin-marshoai": "==1.2.*"}


def attach() -> None:
    """Wrap ``handle_common_chat``, which answers, and ``make_chat_openai``, which asks the model."""
    place = f"{MODULE}.handler"
    handler = part_of(place, "MarshoHandler")
    answer = part_of(place, "MarshoHandler.handle_common_chat", ("user_message", "model_name", "tools_list"))
    ask = part_of(place, "make_chat_openai", ("client", "msg", "model_name", "tools", "stream"))

    async def answer_with_memory(self: Any, *given: Any, **named: Any) -> Any:
        turn = None if current.get() else await turn_of(self.bot, self.event)
        if turn is None:  # it calls itself again after each tool
            return await answer(self, *given, **named)
        with taking(turn):
            answered = await answer(self, *given, **named)
        if answered is not None:
            await turn.answered(str(answered[1].content or ""))
        return answered

    async def ask_with_memory(
        client: Any, msg: Sequence[Any], model_name: str, tools: list[Any] | None = None, stream: bool = False
    ) -> Any:
        turn = current.get()
        if turn is None:
            return await ask(client, msg, model_name, tools, stream)
        messages = with_block(msg, await turn.block(with_tools=bool(tools)))
        offered = [*tools, *turn.tools] if tools else tools
        for _ in range(ROUNDS):
            completion = await ask(client, messages, model_name, offered, stream)
            told = [] if stream else await run_ours(turn, completion.choices[0])
            if not told:
                return completion
            messages += told
        return await ask(client, messages, model_name, tools, stream)

    handler.handle_common_chat = answer_with_memory
    module: Any = import_module(place)
    module.make_chat_openai = ask_with_memory


async def lent() -> core.LentModel | None:
    """Return the bot's model; a superuser changes its name in ``marsho``, while ``instances`` keeps the first one."""
    config = import_module(f"{MODULE}.config").config
    model = import_module(f"{MODULE}.marsho").model_name
    return lent_by("marshoai", config.marshoai_endpoint, config.marshoai_token, model)
