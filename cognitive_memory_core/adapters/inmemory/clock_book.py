"""How far the machine's clock was believed, and what it dated wrongly."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ...ports.ledger import ClockState
from .state import InMemoryState


class InMemoryClockBook:
    """The clock's book, until the process ends."""

    def __init__(self, state: InMemoryState) -> None:
        """Share a state with the other ports."""
        self._state = state
        self._noted: ClockState | None = None

    async def find(self) -> ClockState | None:
        """Return what was noted last; None before the first note."""
        return self._noted

    async def keep(self, state: ClockState) -> None:
        """Note how far the clock is believed."""
        self._noted = state

    async def bring_back(self, after: datetime, to: datetime) -> int:
        """Date tombstones anew that lie after an instant; answers how many."""
        erased = self._state.erased
        wrong = [digest for digest, at in erased.marks.items() if at > after]
        self._state.erased = replace(erased, marks={**erased.marks, **dict.fromkeys(wrong, to)})
        return len(wrong)
