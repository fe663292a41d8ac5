"""Destructive commands must be sent twice within a minute: the second call confirms the first, for the same content."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from nonebot.adapters import Event

import cognitive_memory_core as core

VALID = 60.0  # seconds
PEOPLE = 1_000


@dataclass(frozen=True)
class PendingConfirmation:
    """What a person has to confirm, and the end of the time for it."""

    content: Hashable
    call_id: str
    ends_at: float


class Confirmations:
    """The open confirmations, one for each person, place and command; ``clock`` returns monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with no open confirmation."""
        self._clock = clock
        self._asked: OrderedDict[tuple[core.Scene, str], PendingConfirmation] = OrderedDict()

    def is_open(self, scene: core.Scene, command: str) -> bool:
        """Return whether a person was asked to confirm a command, and still may."""
        asked = self._asked.get((scene, command))
        return asked is not None and self._clock() <= asked.ends_at

    def is_confirmed(self, scene: core.Scene, command: str, content: Hashable, call_id: str) -> bool:
        """Return whether this call confirms an earlier one with the same content; if not, it is stored to be confirmed.

        ``content`` identifies everything that the command would change. ``call_id`` is the id of the calling message: a
        message that is delivered twice confirms nothing.
        """
        asked = self._asked.pop((scene, command), None)
        is_open = asked is not None and asked.content == content and self._clock() <= asked.ends_at
        if asked is not None and is_open and asked.call_id != call_id:
            return True
        self._asked[scene, command] = PendingConfirmation(content, call_id, self._clock() + VALID)
        if len(self._asked) > PEOPLE:
            self._asked.popitem(last=False)
        return False


confirmations = Confirmations()


def call_id(event: Event) -> str:
    """Return the id of the message that called the command, "" if it has none."""
    return str(getattr(event, "message_id", ""))
