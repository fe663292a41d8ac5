"""The bridge to nonebot-plugin-deepseek: adds the memory's context as a system message when it asks its model.

That plugin sends no tools to its model; therefore the memory's tools are not offered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import cognitive_memory_core as core

from ..lending import lent_by
from .shared import part_of, running_turn

MODULE = "nonebot_plugin_deepseek"
TRIED = {"nonebot-plugin-deepseek": ">=0.2,<0.4"}


def attach() -> None:
    """Wrap ``API.chat`` to add the memory's context and record the turn."""
    api = part_of(f"{MODULE}.apis.request", "API")
    part_of(f"{MODULE}.apis.request", "API.chat", ("message", "model"))
    part_of(f"{MODULE}.schemas", "Message", ("role", "content"))
    chat = api.chat

    async def chat_with_memory(message: Sequence[Mapping[str, Any]], *rest: Any, **named: Any) -> Any:
        said = [str(one.get("content") or "") for one in message if one.get("role") == "user"]
        turn = await running_turn(said[-1] if said else "")
        if turn is None:
            return await chat(message, *rest, **named)
        block = await turn.block()
        completion = await chat([*([{"role": "system", "content": block}] if block else []), *message], *rest, **named)
        await turn.answered(completion.choices[0].message.content or "")
        return completion

    api.chat = staticmethod(chat_with_memory)


async def lent() -> core.LentModel | None:
    """Return the default model, with its own key or that of all models."""
    place = import_module(f"{MODULE}.config")
    model = place.ds_config.get_model_config(place.json_config.default_model)
    return lent_by("deepseek", model.base_url, model.api_key or place.ds_config.api_key, model.name, model.proxy)
