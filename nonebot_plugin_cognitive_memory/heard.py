"""What was heard and answered lately, in memory only.

Names of people, for mentions without them; who said which line; what lay before the model for an answer of the bot.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import cognitive_memory_core as core

from .bounded_maps import Lasting, Newest
from .erasure import on_erased

HOUR = 3_600.0
PROMPT = 300.0  # seconds within which an answer follows its context
Sources = tuple[str, ...]
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


class AnswerSources:
    """Binds the sources of contexts to the messages that the bot sent then, each in its place."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start empty; ``clock`` returns seconds of a monotonic clock."""
        self._clock = clock
        self._built: Newest[tuple[core.Scope, str], tuple[Sources, float]] = Newest(1_000)
        self._answers: Lasting[tuple[core.Scope, str], Sources] = Lasting(HOUR, 10_000, clock)

    def built(self, scene: core.Scene, asked_id: str, context: core.Context) -> None:
        """Note the context that was built for a message."""
        self._built[scene.scope, asked_id] = context.sources, self._clock()

    def sent(self, scene: core.Scene, asked_id: str, answer_id: str) -> None:
        """Bind a message that the bot sent, while it handled the message ``asked_id``, to that message's context.

        A chat plugin may answer in a task of its own: if the message had no context, the only one of this place in the
        last five minutes is taken; of several it cannot be told which one it was.
        """
        since, scope = self._clock() - PROMPT, scene.scope
        recent = {key: sources for key, (sources, at) in self._built.items() if key[0] == scope and at >= since}
        if (scope, asked_id) in recent:
            self._answers.put((scope, answer_id), recent[scope, asked_id])
        elif len(recent) == 1:
            self._answers.put((scope, answer_id), *recent.values())

    def find(self, scene: core.Scene, answer_id: str) -> Sources | None:
        """Return the ids of what lay before the model for a message of the bot; None if it is not known."""
        return self._answers.find((scene.scope, answer_id))


answer_sources = AnswerSources()
