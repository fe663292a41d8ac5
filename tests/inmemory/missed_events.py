"""Cases of recall that an operator noted, in memory."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from cognitive_memory_core.domain.missed_event import MissedEvent

from .state import InMemoryState


class InMemoryMissed:
    """The cases of a state."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state

    async def note(self, case: MissedEvent) -> None:
        """Store a case of a stored event."""
        if case.event_id in self._state.events:
            self._state.missed.setdefault(case.id, case)

    async def cases(
        self, agent: str | None, limit: int, offset: int = 0, *, without: Collection[str] = ()
    ) -> list[MissedEvent]:
        """Return an agent's cases of active events, the latest first."""
        start, events = max(offset, 0), self._state.events
        found = [one for one in self._state.missed.values() if agent in (None, one.scope.agent)]
        told = [
            replace(one, wanted=event.text)
            for one in found[::-1]
            if (event := events.get(one.event_id))
            and event.retired_at is None
            and not {one.user_id, event.sender_id, *event.subjects}.intersection(without)
        ]
        return told[start : start + max(limit, 0)]

    async def drop(self, case_id: str) -> None:
        """Delete a case."""
        self._state.missed.pop(case_id, None)

    async def recalled(self, event_id: str) -> tuple[int, datetime | None]:  # not counted in memory
        """Return that nothing was counted."""
        return 0, None
