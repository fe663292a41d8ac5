"""Messages of events; and in memory, of what was heard lately, people's names and who said which line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timezone

from nonebot.adapters import Bot, Event

import cognitive_memory_core as core

from .erasure import on_erased
from .limits import Newest
from .line_copies import line_copies
from .onebot import v11, v12, worded
from .scene import fields_of, find_scene, line_id

NUMBER_LENGTH = 20  # digits of a line's number
_names: Newest[tuple[core.Scope, str], core.Scene] = Newest(10_000)
_lines: Newest[tuple[core.Scope, str], tuple[str, datetime]] = Newest(2_000)  # person, time


def note_name(scene: core.Scene) -> None:
    """Store the name of a scene's person in this place."""
    if scene.user_name:
        _names[scene.scope, scene.user_id] = scene


def name_of(scene: core.Scene, user_id: str) -> str:
    """Return the name of a person in the scene's place; "" if the person was not heard there lately."""
    known = _names.get((scene.scope, user_id))
    return known.user_name if known else ""


def note_line(message: core.Message) -> None:
    """Store the sender and time of a message, recorded or not, while the bot may still answer it."""
    _lines[message.scene.scope, message.id] = message.scene.user_id, message.sent_at


def find_line(scene: core.Scene, message_id: str) -> tuple[core.Scene, datetime] | None:
    """Return the scene (place and sender) and the time of a message; None if it is not among the last lines."""
    said_by, sent_at = _lines.get((scene.scope, message_id), ("", None))
    nameless = replace(scene, user_id=said_by, user_name="", nickname="", is_admin=False) if said_by else None
    return (nameless, sent_at) if nameless and sent_at else None


async def forget(is_erased: Callable[[core.Scene], bool]) -> None:
    """Drop the names heard in a scene for which ``is_erased`` is true."""
    for key in [key for key, scene in _names.items() if is_erased(scene)]:
        del _names[key]


on_erased(forget)


def find_message(bot: Bot, event: Event) -> core.Message | None:
    """Return the message of an event; None if it has no message or no sender."""
    scene = find_scene(bot, event)
    if scene is None or (not isinstance(event, v11.MessageEvent) and not isinstance(event, v12.MessageEvent)):
        return None
    note_name(scene)
    own_id = str(event.self_id) if isinstance(event, v11.MessageEvent) else event.self.user_id
    wording = worded(event.original_message, own_id, lambda user_id: name_of(scene, user_id))
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
