"""Converts a NoneBot message event to the core's message."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone

from nonebot.adapters import Bot, Event

import cognitive_memory_core as core

from . import heard
from .lines_of_several_accounts import line_copies
from .message_text import worded
from .onebot import v11, v12
from .scene import fields_of, find_scene, line_id

NUMBER_LENGTH = 20  # digits


def find_message(bot: Bot, event: Event) -> core.Message | None:
    """Return the message of an event; None if it has no message or no sender."""
    scene = find_scene(bot, event)
    if scene is None or (not isinstance(event, v11.MessageEvent) and not isinstance(event, v12.MessageEvent)):
        return None
    heard.note_name(scene)
    own_id = str(event.self_id) if isinstance(event, v11.MessageEvent) else event.self.user_id
    wording = worded(event.original_message, own_id, lambda user_id: heard.name_of(scene, user_id))
    return core.Message(
        line_copies.known_id(scene, line_id(event.message_id)),
        scene,
        wording.text,
        sent_at(event),
        reply_to=line_copies.known_id(scene, line_id(wording.reply_to)) if wording.reply_to else None,
        addressed_to_bot=event.is_tome(),
        number=line_number(fields_of(event)) if scene.group_id else "",
    )


def line_number(fields: Mapping[str, object]) -> str:
    """Return the number of a line in its group, which is the same for every account; "" if the platform tells none.

    Some ends fill ``message_seq`` with the id that one account has for the line.
    """
    for number in (fields.get("real_seq"), fields.get("message_seq")):
        text = str(number) if isinstance(number, int | str) else ""
        if text.isdigit() and text.strip("0") and text != str(fields.get("message_id")):
            return text[:NUMBER_LENGTH]
    return ""


def sent_at(event: v11.Event | v12.Event) -> datetime:
    """Return when an event took place, with a zone; a time outside the calendar becomes now."""
    if isinstance(event.time, datetime):
        return event.time if event.time.tzinfo else event.time.replace(tzinfo=timezone.utc)
    try:
        return datetime.fromtimestamp(event.time, tz=timezone.utc)
    except (OverflowError, OSError, ValueError):
        return datetime.now(timezone.utc)


def plain_text(event: Event) -> str:
    """Return the text of an event's message in the form that chat plugins get; "" if there is none."""
    return event.get_plaintext() if event.get_type() == "message" else ""
