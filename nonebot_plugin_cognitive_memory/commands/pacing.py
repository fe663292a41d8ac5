"""What is kept of earlier calls for a while: how many there were, what is to be confirmed, which lists were shown."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from math import ceil
from typing import TYPE_CHECKING

import cognitive_memory_core as core

from ..bounded_maps import Lasting, Newest

if TYPE_CHECKING:
    Listed = core.Event | core.Pin | core.Belief | core.Suggestion

CALLS, PAGES = 10, 60  # within the window: commands, and pages of lists beside them
WINDOW = 60.0  # seconds
MOST_CALLERS = 2_000


class CommandRate:
    """Ten commands a minute per person; the eleventh is answered with the seconds to wait, later ones are ignored."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start without calls; ``clock`` returns seconds of a monotonic clock."""
        self._clock = clock
        self._calls: Newest[Hashable, tuple[deque[float], float]] = Newest(MOST_CALLERS)

    def wait(self, who: Hashable, *, is_page: bool = False) -> int | None:
        """Count a call that may be carried out and return 0; else the seconds until one may, None if told already."""
        now, most = self._clock(), PAGES if is_page else CALLS
        times, told = self._calls.get((who, is_page)) or (deque[float](maxlen=most), 0.0)
        ends = times[0] + WINDOW if len(times) == most else now
        if ends <= now:
            times.append(now)
        self._calls[who, is_page] = times, ends
        return 0 if ends <= now else None if told == ends else ceil(ends - now)


to_confirm: Lasting[tuple[core.Scene, str], tuple[Hashable, str]] = Lasting(60.0, 1_000)
"""What people were asked to confirm by calling a command again, and the id of the message that called it."""


def is_confirmed(scene: core.Scene, command: str, content: Hashable, call_id: str) -> bool:
    """Return whether this call confirms an earlier one with the same content; if not, it is stored to be confirmed.

    ``content`` identifies everything that the command would change. ``call_id`` is the id of the calling message: a
    message that is delivered twice confirms nothing.
    """
    asked = to_confirm.find((scene, command))
    to_confirm.drop((scene, command))
    if asked is not None and asked[0] == content and asked[1] != call_id:
        return True
    to_confirm.put((scene, command), (content, call_id))
    return False


shown: Lasting[tuple[core.Scene, str], dict[int, str]] = Lasting(600.0, 1_000)
"""The ids by number of the list of each kind that each person was shown last in each scene."""


def show(scene: core.Scene, kind: str, items: Sequence[Listed], first: int = 1) -> None:
    """Store a list as shown, numbered from ``first``; what its numbers mean is read on use, as it may be forgotten."""
    shown.put((scene, kind), {number: item.id for number, item in enumerate(items, first)})


def shown_id(scene: core.Scene, kind: str, number: int | None) -> str | None:
    """Return the id of the item with this number in the list shown last; None if there is none, or no longer."""
    return (shown.find((scene, kind)) or {}).get(number or 0)
