"""Sends a query to exact search or, if there are too many vectors, to the vector store."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Protocol

from ..domain.event import Event
from ..domain.read_filter import ReadFilter
from ..errors import BadArgument, UnavailableError
from ..ports.models import Vector
from ..ports.vectors import NearbyEvents, VectorIndex
from ..store.events import EventLedger


class ExactSearch(NearbyEvents, Protocol):
    """Search that compares a query with every vector; :meth:`is_wide` says when an index is likely faster."""

    async def is_wide(self, read_filter: ReadFilter) -> bool:
        """Return whether the filter admits so many vectors that an approximate index is likely faster."""
        ...


class NearestVectors:
    """NearbyEvents over exact search and vector store; without the store a search is slower and finds the same."""

    def __init__(self, exact: ExactSearch, wide: VectorIndex, events: EventLedger) -> None:
        """Create over ``exact`` search and the store ``wide``, which returns ids; ``events`` loads their events."""
        self._exact = exact
        self._wide = wide
        self._events = events

    async def nearest(self, vector: Vector, read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Return the nearest events with their cosines, best first; ids unknown to the ledger are skipped.

        The store may miss rows hidden behind many equal ones, so if it finds fewer than ``limit``, exact search is
        used.
        """
        if await self._exact.is_wide(read_filter):
            with contextlib.suppress(UnavailableError, BadArgument):
                found = await self._wide.nearest(vector, read_filter, limit)
                if len(found) >= limit:
                    return await self._known(found)
        return await self._exact.nearest(vector, read_filter, limit)

    async def _known(self, found: Sequence[tuple[str, float]]) -> list[tuple[Event, float]]:
        events = {event.id: event for event in await self._events.fetch([event_id for event_id, _ in found])}
        return [(events[event_id], cosine) for event_id, cosine in found if event_id in events]
