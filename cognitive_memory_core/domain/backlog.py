"""What background work has still to do, as the status shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

IndexActivity = Literal["off", "asleep", "waking", "awake"]


@dataclass(frozen=True)
class IndexState:
    """``generation`` is the number in use, 0 if none is; ``behind`` rows are not in it yet.

    ``built`` of ``to_build`` rows are in the next generation; both are 0 if none is being built. ``activity`` is "off"
    without a vector store, "asleep" while none is needed, "waking" until it answers, and "awake" while it does; exact
    search answers whenever it does not.
    """

    generation: int = 0
    behind: int = 0
    built: int = 0
    to_build: int = 0
    activity: IndexActivity = "off"


@dataclass(frozen=True)
class MergeState:
    """Counts of waiting ``facts`` and their ``profiles``; ``failing`` of those profiles had a failed merge."""

    profiles: int = 0
    facts: int = 0
    failing: int = 0
    last_error: str = ""
