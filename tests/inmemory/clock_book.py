"""The trusted time of the machine's clock, in memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from cognitive_memory_core.ports.ledger import ClockState

from .state import InMemoryState


class InMemoryClockBook:
    """The clock state, in memory."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state
        self._noted: ClockState | None = None

    async def find(self) -> ClockState | None:
        """Return the stored state; None before the first one."""
        return self._noted

    async def keep(self, state: ClockState) -> None:
        """Store how far the clock is trusted."""
        self._noted = state

    async def redate_tombstones(self, after: datetime, to: datetime) -> int:
        """Change the time of tombstones that are dated after an instant; return how many."""
        erased = self._state.erased
        wrong = [digest for digest, at in erased.marks.items() if at > after]
        self._state.erased = replace(erased, marks={**erased.marks, **dict.fromkeys(wrong, to)})
        return len(wrong)
