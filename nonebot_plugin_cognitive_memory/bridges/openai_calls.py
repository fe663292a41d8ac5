"""The bridge for any chat plugin that asks its model through ``openai.AsyncOpenAI`` inside a handler; experimental.

Only plugins that the operator names get the memory's context, and only in a request that answers the event being
handled: its last user message contains the event's text or the other way round. A handler or task may ask for somebody
in another place, although NoneBot still names the old event as the current one. Therefore a request gets nothing if a
recent message of another place fits it, too. The memory's own requests are not affected, because the core does not post
them through ``chat.completions``.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextvars import ContextVar
from importlib import import_module
from typing import Any

from nonebot import get_loaded_plugins
from nonebot.adapters import Bot, Event
from nonebot.matcher import current_bot, current_event, current_matcher
from nonebot.message import event_preprocessor

import cognitive_memory_core as core

from .. import replies
from ..heard import plain_text
from ..lending import OPENAI, lent_by
from ..scene import find_scene
from .shared import BridgedTurn, NotAttachedError, checked, current, part_of, turn_of, with_block

TRIED = {"openai": ">=1.109,<4"}
_FREE: Mapping[str, tuple[object, ...]] = {"tool_choice": (None, "auto", "none"), "response_format": (None,)}
"""What a request for an answer says; with another value it asks for data."""
_UNSET = ("NotGiven", "Omit")  # the SDK's marks of an argument that is not passed
KEPT, FRESH = 5_000, 600.0  # messages heard, and for how many seconds one of them may be asked about
LONG = 5  # characters of words; a shorter text must be equal to the request
_NO_WORD = re.compile(r"\W+")  # blanks and signs, which plugins add, escape and leave out
_allowed: set[str] = set()
_last_heard: deque[tuple[core.Scope | None, frozenset[str], float]] = deque(maxlen=KEPT)
"""Messages that the bot received: the place, None without a scene; the words, whole and in parts; and when."""
_last: ContextVar[tuple[Event, BridgedTurn] | None] = ContextVar("cognitive_memory_openai_turn", default=None)


def allow(plugin: str) -> str:
    """Give the memory to the chat plugin of this name; return the version of OpenAI's SDK.

    Raises NotAttachedError if the plugin is not loaded, or if the SDK is missing or of an untried version.
    """
    if not plugin:
        raise NotAttachedError(replies.chat_plugins.OPENAI_WITHOUT_PLUGIN)
    if plugin not in {one.name for one in get_loaded_plugins()}:
        raise NotAttachedError(replies.chat_plugins.NOT_LOADED.format(module=plugin))
    version = checked("", TRIED)
    if not _allowed:  # wrap what asks the model, once for all plugins
        event_preprocessor(note_heard)
        place = "openai.resources.chat.completions"
        completions = part_of(place, "AsyncCompletions")
        create = part_of(place, "AsyncCompletions.create", ("messages", "model", "stream"))

        async def create_with_memory(self: Any, *given: Any, **named: Any) -> Any:
            turn = await _turn(named)
            if turn is None:
                return await create(self, *given, **named)
            messages = with_block(named["messages"], await turn.block())
            return await _record_answer(turn, await create(self, *given, **{**named, "messages": messages}))

        completions.create = create_with_memory
    _allowed.add(plugin)
    return version


async def lent(plugin: str) -> core.LentModel | None:
    """Return the model of a plugin whose settings are known here; None of any other."""
    find = _SETTINGS.get(plugin)
    found = find(plugin) if find else None
    return lent_by(f"openai:{plugin}", *found) if found else None


def _of_turbo(plugin: str) -> tuple[object, ...]:
    config = import_module(plugin).plugin_config
    return config.oneapi_url or OPENAI, config.oneapi_key, config.oneapi_model


def _of_aitalk(plugin: str) -> tuple[object, ...] | None:
    place = import_module(f"{plugin}.config")
    models = {one.name: one for one in place.api_list}
    model = models.get(place.default_model) or next(iter(models.values()), None)
    return model and (model.api_url, model.api_key, model.model_name, place.proxy)


def _of_moellmchats(plugin: str) -> tuple[object, ...] | None:
    """Return the selected model with the first of its keys: the plugin's own choice differs from call to call."""
    selector = import_module(f"{plugin}.model_selector").model_selector
    model = selector.models.get(selector.model_config.get("selected_model"))
    if not model:
        return None
    keys = model.get("keys") or model.get("key")
    key = keys[0] if isinstance(keys, list) and keys else keys
    return model.get("url"), str(key or "").removeprefix("Bearer "), model.get("model"), model.get("proxy")


_SETTINGS: Mapping[str, Callable[[str], tuple[object, ...] | None]] = {
    "nonebot_plugin_chatgpt_turbo": _of_turbo,
    "nonebot_plugin_aitalk": _of_aitalk,
    "nonebot_plugin_moellmchats": _of_moellmchats,
}


async def note_heard(bot: Bot, event: Event) -> None:
    """Remember a message, whichever plugin handles it: a named plugin may collect it without running a handler."""
    if text := plain_text(event):
        lines = (line for part in event.get_message() if part.is_text() for line in str(part).splitlines())
        scene, texts = find_scene(bot, event), {_NO_WORD.sub("", one) for one in (text, *lines)}
        _last_heard.append((scene.scope if scene else None, frozenset(texts) - {""}, time.monotonic()))


def _fits(heard: str, said: str) -> bool:
    """Return whether a request that ends in ``said`` may answer ``heard``; a short text must be equal to it."""
    return heard == said or (min(len(heard), len(said)) >= LONG and (heard in said or said in heard))


async def _turn(named: Mapping[str, Any]) -> BridgedTurn | None:
    """Return the turn that a request answers; None outside handlers of named plugins, or if it answers no event."""
    bot, event, matcher = current_bot.get(None), current_event.get(None), current_matcher.get(None)
    if current.get() is not None:  # a bridge of its own has it
        return None
    if bot is None or event is None or matcher is None or (matcher.plugin_id or "").split(":")[0] not in _allowed:
        return None
    said, heard, scene = _last_said(named.get("messages")), plain_text(event).strip(), find_scene(bot, event)
    if not said or not heard or scene is None:
        return None
    for key, free in _FREE.items():
        value = named.get(key)
        if type(value).__name__ not in _UNSET and not (isinstance(value, str | None) and value in free):
            return None
    words, since = _NO_WORD.sub("", said), time.monotonic() - FRESH
    elsewhere = (texts for place, texts, at in _last_heard if place != scene.scope and at > since)
    if not _fits(_NO_WORD.sub("", heard), words) or any(_fits(text, words) for texts in elsewhere for text in texts):
        return None
    known = _last.get()
    if known is not None and known[0] is event:
        return known[1]
    turn = await turn_of(bot, event, said if said in heard else None)
    if turn is not None:
        _last.set((event, turn))
    return turn


def _last_said(messages: object) -> str:
    """Return the text of the last user message, "" if there is none with text."""
    told = [one for one in messages if isinstance(one, Mapping)] if isinstance(messages, Sequence) else []
    said = next((one.get("content") for one in reversed(told) if one.get("role") == "user"), "")
    if isinstance(said, str):
        return said.strip()
    parts = [one.get("text") for one in said if isinstance(one, Mapping)] if isinstance(said, Sequence) else []
    return "\n".join(part for part in parts if isinstance(part, str)).strip()


async def _record_answer(turn: BridgedTurn, answered: Any) -> Any:
    """Record the turn if the model's answer ends it; an answer in a stream is recorded once the plugin has read it.

    Return what the chat plugin receives.
    """
    choices = getattr(answered, "choices", None)
    message = getattr(choices[0], "message", None) if choices else None
    if message is not None and not getattr(message, "tool_calls", None):
        await turn.answered(getattr(message, "content", None))
    elif hasattr(answered, "_iterator"):
        answered._iterator = _recorded_stream(turn, answered._iterator)  # noqa: SLF001  # plugins check the stream's class
    return answered


async def _recorded_stream(turn: BridgedTurn, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
    said: list[str] = []
    async for chunk in chunks:
        for choice in getattr(chunk, "choices", None) or ():
            content = getattr(getattr(choice, "delta", None), "content", None)
            said += [content] if isinstance(content, str) else []  # some providers send none
        yield chunk
    await turn.answered("".join(said))
