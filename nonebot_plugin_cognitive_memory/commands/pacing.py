"""What a person must wait for: the rate of commands, and the second call that confirms a destructive one."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from math import ceil

from nonebot.adapters import Event

import cognitive_memory_core as core

CALLS, PAGES = 10, 60  # within the window: commands, and pages of lists beside them
WINDOW = 60.0  # seconds
MOST_CALLERS = 2_000


@dataclass
class RecentCalls:
    """The instants of one person's last calls, and the end of the wait that they were told."""

    times: deque[float]
    told: float = 0.0


class CommandRate:
    """Ten commands a minute per person; the eleventh is answered with the seconds to wait, later ones are ignored."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start without calls; ``clock`` returns seconds of a monotonic clock."""
        self._clock = clock
        self._calls: OrderedDict[Hashable, RecentCalls] = OrderedDict()

    def wait(self, who: Hashable, *, is_page: bool = False) -> int | None:
        """Count a call that may be carried out and return 0; else the seconds until one may, None if told already."""
        now, most = self._clock(), PAGES if is_page else CALLS
        calls = self._calls.setdefault((who, is_page), RecentCalls(deque(maxlen=most)))
        self._calls.move_to_end((who, is_page))
        if len(self._calls) > MOST_CALLERS:
            self._calls.popitem(last=False)
        ends = calls.times[0] + WINDOW if len(calls.times) == most else now
        if ends <= now:
            calls.times.append(now)
            return 0
        if calls.told == ends:
            return None
        calls.told = ends
        return ceil(ends - now)


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
