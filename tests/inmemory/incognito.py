"""Periods in which people are not recorded, in memory."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from cognitive_memory_core.domain.incognito import Incognito

from .state import InMemoryState


class InMemoryIncognito:
    """The incognito periods of a state."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state

    async def keep(self, period: Incognito) -> None:
        """Store a period, or the new end of a known one."""
        self._state.incognito[period.scope, period.user_id, period.starts_at] = period

    async def periods(self) -> list[Incognito]:
        """Return all periods, oldest first."""
        return list(self._state.incognito.values())

    async def drop(self, before: datetime) -> None:
        """Delete the periods that ended before an instant."""
        for key, period in list(self._state.incognito.items()):
            if period.ends_at < before:
                del self._state.incognito[key]

    async def erase(self, periods: Collection[Incognito], at: datetime) -> None:
        """Erase periods; a purge is due afterwards."""
        state = self._state
        for period in periods:
            state.incognito.pop((period.scope, period.user_id, period.starts_at), None)
            state.purge_state = replace(state.purge_state, erased_at=min(state.purge_state.erased_at or at, at))
