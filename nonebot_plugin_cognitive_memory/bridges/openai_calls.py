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
from collections.abc import AsyncIterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from nonebot import get_loaded_plugins
from nonebot.adapters import Bot, Event
from nonebot.matcher import Matcher, current_bot, current_event, current_matcher
from nonebot.message import event_preprocessor

import cognitive_memory_core as core

from .. import replies
from ..event_message import plain_text
from ..scene import find_scene
from .bridged_turn import BridgedTurn, current_turn, turn_of
from .companions import Companion, NotAttachedError, part_of

NAME = "openai"
_FREE: Mapping[str, tuple[object, ...]] = {"tool_choice": (None, "auto", "none"), "response_format": (None,)}
"""What a request for an answer says; with another value it asks for data."""
_UNSET = ("NotGiven", "Omit")  # the SDK's marks of an argument that is not passed
KEPT, FRESH = 5_000, 600.0  # messages heard, and for how many seconds one of them may be asked about
LONG = 5  # characters of words; a shorter text must be equal to the request
_NO_WORD = re.compile(r"\W+")
_allowed: set[str] = set()
_last_heard: deque[HeardMessage] = deque(maxlen=KEPT)
_last: ContextVar[tuple[Event, BridgedTurn] | None] = ContextVar("cognitive_memory_openai_turn", default=None)


@dataclass(frozen=True)
class HeardMessage:
    """A message that the bot received: its place, None if it has no scene, and its words, whole and in parts."""

    place: core.Scope | None
    texts: frozenset[str]
    at: float = field(default_factory=time.monotonic)


async def note_heard(bot: Bot, event: Event) -> None:
    """Remember a message, whichever plugin handles it: a named plugin may collect it without running a handler."""
    text = plain_text(event)
    if text:
        parts = (str(part) for part in event.get_message() if part.is_text())
        lines = (line for part in parts for line in part.splitlines())
        scene = find_scene(bot, event)
        texts = frozenset(map(_words, (text, *lines))) - {""}
        _last_heard.append(HeardMessage(scene.scope if scene else None, texts))


def _words(text: str) -> str:
    """Return a text without blanks and signs, which plugins add, escape and leave out."""
    return _NO_WORD.sub("", text)


def _fits(heard: str, said: str) -> bool:
    """Return whether a request that ends in ``said`` may answer ``heard``; a short text must be equal to it."""
    return heard == said or (min(len(heard), len(said)) >= LONG and (heard in said or said in heard))


def _is_allowed(matcher: Matcher) -> bool:
    return (matcher.plugin_id or "").split(":")[0] in _allowed


def _may_be_of_another_place(place: core.Scope, said: str) -> bool:
    recent = (one for one in _last_heard if one.place != place and one.at > time.monotonic() - FRESH)
    return any(_fits(text, said) for one in recent for text in one.texts)


def allow(plugin: str) -> str:
    """Give the memory to the chat plugin of this name; return the version of OpenAI's SDK.

    Raises NotAttachedError if the plugin is not loaded, or if the SDK is missing or of an untried version.
    """
    if plugin not in {one.name for one in get_loaded_plugins()}:
        raise NotAttachedError(replies.bridges.not_loaded(plugin))
    version = COMPANION.checked_versions()
    if not _allowed:
        attach()
    _allowed.add(plugin)
    return version


def attach() -> None:
    """Wrap ``AsyncCompletions.create`` to add the context and record the turn; observe the messages of all places."""
    event_preprocessor(note_heard)
    place = "openai.resources.chat.completions"
    completions = part_of(place, "AsyncCompletions")
    create = part_of(place, "AsyncCompletions.create", ("messages", "model", "stream"))

    async def create_with_memory(self: Any, *given: Any, **named: Any) -> Any:
        turn = await _turn(named)
        if turn is None:
            return await create(self, *given, **named)
        block = await turn.block()
        answered = await create(self, *given, **{**named, "messages": _with_block(named["messages"], block)})
        return await _record_answer(turn, answered)

    completions.create = create_with_memory


async def _turn(named: Mapping[str, Any]) -> BridgedTurn | None:
    """Return the turn that a request answers; None outside handlers of named plugins, or if it answers no event."""
    bot, event, matcher = current_bot.get(None), current_event.get(None), current_matcher.get(None)
    if current_turn() is not None:  # a bridge of its own has it
        return None
    if bot is None or event is None or matcher is None or not _is_allowed(matcher):
        return None
    said, heard = _last_said(named.get("messages")), plain_text(event).strip()
    if not said or not heard or not all(_is_free(named.get(key), free) for key, free in _FREE.items()):
        return None
    scene = find_scene(bot, event)
    if scene is None or not _fits(_words(heard), _words(said)) or _may_be_of_another_place(scene.scope, _words(said)):
        return None
    known = _last.get()
    if known is not None and known[0] is event:
        return known[1]
    turn = await turn_of(bot, event, said if said in heard else None)
    if turn is not None:
        _last.set((event, turn))
    return turn


def _is_free(value: object, free: tuple[object, ...]) -> bool:
    return type(value).__name__ in _UNSET or ((value is None or isinstance(value, str)) and value in free)


def _last_said(messages: object) -> str:
    """Return the text of the last user message, "" if there is none with text."""
    told = [one for one in messages if isinstance(one, Mapping)] if isinstance(messages, Sequence) else []
    said = next((one.get("content") for one in reversed(told) if one.get("role") == "user"), "")
    if isinstance(said, str):
        return said.strip()
    parts = [one.get("text") for one in said if isinstance(one, Mapping)] if isinstance(said, Sequence) else []
    return "\n".join(part for part in parts if isinstance(part, str)).strip()


def _with_block(messages: Sequence[Any], block: str) -> list[Any]:
    """Return the messages with the context appended to a leading system message of text, else in a new one."""
    if not block:
        return [*messages]
    first, *others = messages
    if isinstance(first, Mapping) and first.get("role") == "system" and isinstance(first.get("content"), str):
        return [{**first, "content": f"{first['content']}\n\n{block}"}, *others]
    return [{"role": "system", "content": block}, *messages]


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
        said.extend(map(_text_of_choice, getattr(chunk, "choices", None) or ()))
        yield chunk
    await turn.answered("".join(said))


def _text_of_choice(choice: Any) -> str:
    """Return the text of a choice in a chunk of a stream; "" for one without text, which some providers send."""
    content = getattr(getattr(choice, "delta", None), "content", None)
    return content if isinstance(content, str) else ""


COMPANION = Companion(NAME, "", {"openai": ">=1.109,<4"}, attach)
