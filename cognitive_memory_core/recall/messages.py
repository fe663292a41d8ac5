"""A line of the log in the form in which everything else is found."""

from __future__ import annotations

from ..domain.event import Event
from ..domain.message import Message


def as_event(message: Message) -> Event:
    """Give a message as an Event of kind "message" whose id is the message's.

    A bot's own line speaks of the person it was said to, so that it is left out with them.
    """
    scene = message.scene
    return Event(
        message.id,
        message.text,
        "message",
        user_id=scene.user_id,
        group_id=scene.group_id,
        sender_id=message.sender_id,
        subjects=(scene.user_id,) if message.is_bot else (),
        message_ids=(message.id,),
        request_type="private" if scene.kind == "private" else "group",
        happened_at=message.sent_at,
        agent=scene.agent,
        sender_name="" if message.is_bot else scene.user_name,
    )
