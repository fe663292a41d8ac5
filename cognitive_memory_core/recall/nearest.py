"""Which of two indexes a question goes to: exact search over one place, or the store over what is wider."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Protocol

from ..domain.event import Event
from ..domain.hit import Reading
from ..errors import BadArgument, UnavailableError
from ..ports.ledger import EventLedger
from ..ports.models import Vector
from ..ports.vectors import NearbyEvents, VectorIndex


class ExactSearch(NearbyEvents, Protocol):
    """Compares with every vector, and says where that is a lot of work."""

    async def is_wide(self, reading: Reading) -> bool:
        """Tell whether what would be compared does not fit into memory."""
        ...


class NearestVectors:
    """NearbyEvents over both; the store being away makes an answer slower and never smaller."""

    def __init__(self, exact: ExactSearch, wide: VectorIndex, events: EventLedger) -> None:
        """Ask the exact index, and for what is too much for it the wide one, whose ids ``events`` knows."""
        self._exact = exact
        self._wide = wide
        self._events = events

    async def nearest(self, vector: Vector, reading: Reading, limit: int) -> list[tuple[Event, float]]:
        """Give events with their cosine, best first; an id that the ledger does not know is passed over.

        A graph of neighbours may pass over rows that hide behind many equal ones: what comes back short is asked again.
        """
        if await self._exact.is_wide(reading):
            with contextlib.suppress(UnavailableError, BadArgument):
                found = await self._wide.nearest(vector, reading, limit)
                if len(found) >= limit:
                    return await self._known(found)
        return await self._exact.nearest(vector, reading, limit)

    async def _known(self, found: Sequence[tuple[str, float]]) -> list[tuple[Event, float]]:
        events = {event.id: event for event in await self._events.fetch([event_id for event_id, _ in found])}
        return [(events[event_id], cosine) for event_id, cosine in found if event_id in events]
