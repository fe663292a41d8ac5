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
from .event_message import find_message, sent_at
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
        event: Event | None = current_event.get(None)
        asker = find_scene(bot, event) if event is not None and current_bot.get(None) is bot else None
        kind, sent = v12.Message if isinstance(bot, v12.Bot) else v11.Message, data.get("message")
        wording = worded(type_validate_python(kind, () if sent is None else sent))
        message = _own_message(bot, data, result, FORWARDED if api in FORWARDING else wording.text, asker)
        if message is not None:
            asked = find_message(bot, event) if event is not None and asker is not None else None
            heard.answer_sources.sent(message.scene, asked.id if asked else "", message.id)
        if message is None or not await _may_be_kept(message, wording, asker, event):
            return
        if message.text and is_captured(message.scene):
            await get_memory().observe(message)
            considerer.note(message)
            if event is not None and message.scene == asker:
                with unrecorded():
                    await announce(bot, event, message.scene)
    except Exception as unforeseen:  # noqa: BLE001  # capture must never cost a reply
        complain(replies.log.NOT_CAPTURED.format(reason=type(unforeseen).__name__))


def _own_message(
    bot: Bot, data: Mapping[str, Any], result: object, text: str, asker: core.Scene | None
) -> core.Message | None:
    """Return the message that an API call sent; None if the call names no place.

    Its scene is the asker's if it goes to the asker's place, else that of the place. Like OneBot v11's event times, its
    time is in whole seconds there, so that answers sort after questions.
    """
    is_v12 = isinstance(bot, v12.Bot)
    agent, identify = agent_of(bot), text_id if is_v12 else qq_id
    if data.get("channel_id") or data.get("guild_id"):
        return None
    if "private" in (data.get("message_type"), data.get("detail_type")) or not data.get("group_id"):
        scene = scene_at(agent, "", identify(data.get("user_id")))
    else:
        scene = scene_at(agent, identify(data["group_id"]), bot.self_id)
    if scene is None:
        return None
    message_id = result.get("message_id") if isinstance(result, Mapping) else None
    own_id = line_id(message_id) if message_id else f"bot-{uuid4().hex}"
    now = datetime.now(timezone.utc)
    return core.Message(
        own_id,
        asker if asker is not None and asker.scope == scene.scope else scene,
        text,
        now if is_v12 else now.replace(microsecond=0),
        is_bot=True,
    )


async def _may_be_kept(message: core.Message, wording: Wording, asker: core.Scene | None, event: Event | None) -> bool:
    """Return whether everybody whom a message of the bot answers or mentions may be recorded.

    The time of the answered line counts, not of the answer: the answer to an incognito line may come after incognito
    has ended, from another task, or as a reply.
    """
    memory, here = get_memory(), message.scene
    if not memory.is_running:
        return True
    addressed: list[tuple[core.Scene, datetime]] = []
    if asker is not None and asker.scope == here.scope and isinstance(event, v11.Event | v12.Event):
        addressed.append((asker, sent_at(event)))
    if answered := heard.find_line(here, line_copies.known_id(here, line_id(wording.reply_to or ""))):
        addressed.append(answered)
    mentioned = (scene_at(here.agent, here.group_id, user_id) for user_id in wording.mentioned if here.group_id)
    addressed += [(scene, message.sent_at) for scene in mentioned if scene]
    return all([await memory.may_record(scene, at) for scene, at in addressed])
