"""Commands on pins: pin a fact for oneself or for the group, and list the pins."""

from __future__ import annotations

from datetime import datetime, timezone

from nonebot.adapters import Bot, Event

import cognitive_memory_core as core

from .. import replies
from ..config import setup
from ..event_message import find_message
from ..lifecycle import get_memory
from ..message_text import worded
from ..onebot import v11, v12
from ..platform_names import name_of
from ..scene import agent_of, find_scene, qq_id, scene_at
from .entry import Call
from .lists import shown_lists


async def add_pin(call: Call) -> str:
    """Pin a fact for the asker or for the whole group; ``add`` without words pins the message that it replies to."""
    scene, for_group = call.here, call.command.name == "pin"
    text = call.text or ("" if for_group else await replied_to(call.bot, call.event))
    if not text:
        return call.usage
    pin = await get_memory().pin(scene, text, for_group=for_group)
    asker = await get_memory().listings.person(core.Scene.operator(scene.agent), scene.user_id)
    is_hidden = asker.has_opted_out and not for_group
    return replies.commands.pinned(pin.text, is_cut=len(pin.text) < len(text), for_group=for_group, is_hidden=is_hidden)


async def list_pins(call: Call) -> str:
    """List the asker's pins here and those of the group."""
    pins = await get_memory().pins(call.here)
    shown_lists.show(call.here, pins)
    return replies.memories.pin_list(pins, setup.settings.zone)


async def replied_to(bot: Bot, event: Event) -> str:
    """Return the message that a command replies to, quoted behind its speaker's name.

    "" if there is none, if it could not be fetched, or if its speaker must not be recorded.
    """
    if isinstance(event, v12.MessageEvent):
        return await _logged_line(bot, event)
    reply = event.reply if isinstance(event, v11.MessageEvent) else None
    if reply is None:
        return ""
    said, speaker = worded(reply.message).text, qq_id(reply.sender.user_id)
    if not said or not speaker or speaker == bot.self_id:
        return said
    here = find_scene(bot, event)
    where = scene_at(agent_of(bot), here.group_id if here else "", speaker)
    at = datetime.fromtimestamp(reply.time, tz=timezone.utc)
    if where is None or not get_memory().is_running or not await get_memory().may_record(where, at):
        return ""
    return f"{name_of(reply.sender) or 'QQ'}({speaker})：“{said}”"


async def _logged_line(bot: Bot, event: v12.MessageEvent) -> str:
    """Return the message replied to from the log, because OneBot v12 sends only its id."""
    asking = find_message(bot, event)
    if asking is None or asking.reply_to is None:
        return ""
    try:
        lines = await get_memory().find_messages(asking.scene, [asking.reply_to])
    except core.CognitiveMemoryError:
        return ""
    said = next(iter(lines), None)
    if said is None or said.is_bot:
        return said.text if said else ""
    return f"{said.scene.user_name or 'QQ'}({said.sender_id})：“{said.text}”"
