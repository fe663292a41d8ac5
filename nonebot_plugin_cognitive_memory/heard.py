"""What was heard lately, in memory only: names of people, for mentions without them, and who said which line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import cognitive_memory_core as core

from .bounded_maps import Newest
from .erasure import on_erased

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
