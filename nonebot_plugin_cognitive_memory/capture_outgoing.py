"""Records messages that the bot sends, except replies to ``/memory`` commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timezone
from typing import Any
from uuid import uuid4

from nonebot.adapters import Bot, Event
from nonebot.compat import type_validate_python
from nonebot.matcher import current_bot, current_event

import cognitive_memory_core as core

from . import heard, replies
from .announcing import announce
from .auto_consider import considerer
from .event_message import sent_at
from .lifecycle import get_memory, lifetime
from .lines_of_several_accounts import line_copies
from .message_text import FORWARDED, Wording, worded
from .onebot import v11, v12
from .scene import agent_of, find_scene, is_captured, line_id, qq_id, scene_at, text_id
from .throttled_log import complain

SENDING = frozenset({"send_msg", "send_group_msg", "send_private_msg", "send_message"})
FORWARDING = frozenset({"send_forward_msg", "send_group_forward_msg", "send_private_forward_msg"})
_unrecorded: ContextVar[bool] = ContextVar("cognitive_memory_unrecorded", default=False)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Record no message that the bot sends during the ``with`` block."""
    token = _unrecorded.set(True)
    try:
        yield
    finally:
        _unrecorded.reset(token)


@Bot.on_called_api
async def record_sent(bot: Bot, exception: Exception | None, api: str, data: dict[str, Any], result: Any) -> None:
    """Record a message that the bot sent; ignores failed and other API calls. Never raises."""
    if exception is not None or api not in SENDING | FORWARDING or _unrecorded.get() or not lifetime.is_listening:
        return
    try:
        message = find_own_message(bot, api, data, result)
        if message is not None and await _may_be_kept(bot, message, data):
            await _hear(bot, message)
    except Exception as unforeseen:  # noqa: BLE001  # capture must never cost a reply
        complain(replies.log.NOT_CAPTURED.format(reason=type(unforeseen).__name__))


async def _may_be_kept(bot: Bot, message: core.Message, data: Mapping[str, Any]) -> bool:
    """Return whether everybody whom a message of the bot answers or mentions may be recorded.

    The time of the answered line counts, not of the answer: the answer to an incognito line may come after incognito
    has ended, from another task, or as a reply.
    """
    memory = get_memory()
    if not memory.is_running:
        return True
    return all([await memory.may_record(scene, at) for scene, at in _addressees(bot, message, data)])


def _addressees(bot: Bot, message: core.Message, data: Mapping[str, Any]) -> Iterator[tuple[core.Scene, datetime]]:
    asker, event = _asker(bot), current_event.get(None)
    if asker is not None and asker.scope == message.scene.scope and isinstance(event, v11.Event | v12.Event):
        yield asker, sent_at(event)
    wording = _wording(bot, data.get("message"))
    answered_id = line_copies.known_id(message.scene, line_id(wording.reply_to or ""))
    answered = heard.find_line(message.scene, answered_id)
    if answered is not None:
        yield answered
    for user_id in wording.mentioned:
        mentioned = scene_at(message.scene.agent, message.scene.group_id, user_id)
        if mentioned is not None and message.scene.group_id:
            yield mentioned, message.sent_at


async def _hear(bot: Bot, message: core.Message) -> None:
    if not message.text or not is_captured(message.scene):
        return
    await get_memory().observe(message)
    considerer.note(message)
    event = current_event.get(None)
    if event is not None and message.scene == _asker(bot):
        with unrecorded():
            await announce(bot, event, message.scene)


def find_own_message(bot: Bot, api: str, data: Mapping[str, Any], result: object) -> core.Message | None:
    """Return the message that an API call sent; None if the call names no place."""
    scene = _addressed(bot, data)
    if scene is None:
        return None
    text = FORWARDED if api in FORWARDING else _wording(bot, data.get("message")).text
    message_id = result.get("message_id") if isinstance(result, Mapping) else None
    own_id = line_id(message_id) if message_id else f"bot-{uuid4().hex}"
    return core.Message(own_id, scene, text, _now(bot), is_bot=True)


def _addressed(bot: Bot, data: Mapping[str, Any]) -> core.Scene | None:
    """Return the scene of the asker if the message goes to the asker's place, else of the place that it goes to."""
    place, asker = _place(bot, data), _asker(bot)
    is_answer = place is not None and asker is not None and asker.scope == place.scope
    return asker if is_answer else place


def _asker(bot: Bot) -> core.Scene | None:
    event: Event | None = current_event.get(None)
    return find_scene(bot, event) if event is not None and current_bot.get(None) is bot else None


def _place(bot: Bot, data: Mapping[str, Any]) -> core.Scene | None:
    identify = text_id if isinstance(bot, v12.Bot) else qq_id
    if data.get("channel_id") or data.get("guild_id"):
        return None
    is_private = "private" in (data.get("message_type"), data.get("detail_type"))
    if is_private or not data.get("group_id"):
        return scene_at(agent_of(bot), "", identify(data.get("user_id")))
    return scene_at(agent_of(bot), identify(data["group_id"]), bot.self_id)


def _now(bot: Bot) -> datetime:
    """Return the current time, like OneBot v11's event times in whole seconds, so that answers sort after questions."""
    now = datetime.now(timezone.utc)
    return now if isinstance(bot, v12.Bot) else now.replace(microsecond=0)


def _wording(bot: Bot, message: object) -> Wording:
    kind = v12.Message if isinstance(bot, v12.Bot) else v11.Message
    return worded(type_validate_python(kind, () if message is None else message))
