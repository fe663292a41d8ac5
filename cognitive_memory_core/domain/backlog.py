"""The work that the background loops still have to do, for the status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

IndexActivity = Literal["off", "asleep", "waking", "awake"]


@dataclass(frozen=True)
class IndexState:
    """The state of the vector store: the number of the generation in use (0 if none) and how many rows it lacks.

    ``built`` of ``to_build`` rows are in the next generation; both are 0 if none is being built. ``activity`` is "off"
    without a vector store, "asleep" while it is stopped because nothing needs it, "waking" while it starts, and "awake"
    while it answers; in the other states exact search of the ledger answers.
    """

    generation: int = 0
    behind: int = 0
    built: int = 0
    to_build: int = 0
    activity: IndexActivity = "off"


@dataclass(frozen=True)
class MergeState:
    """Counts of ``facts`` that wait for a merge, of their ``profiles``, and of profiles whose last merge failed."""

    profiles: int = 0
    facts: int = 0
    failing: int = 0
    last_error: str = ""
