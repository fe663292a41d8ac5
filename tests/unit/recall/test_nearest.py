"""Tests of choosing between exact vector search and the vector store."""

from __future__ import annotations

from typing import Any

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.read_filter import ReadFilter
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.ports.models import Vector
from cognitive_memory_core.recall.nearest import NearestVectors
from tests.support.builders import GROUP, OPERATOR, an_event
from tests.support.clock import NOON
from tests.support.ledgers import a_vector
from tests.support.ports import Away, ListedEvents

ASKED = a_vector(1.0, 0.0)


EXACT, WIDE = (an_event(name, id=name) for name in ("exact", "wide"))


class Exact:
    """An exact index that returns one event."""

    async def is_wide(self, read_filter: ReadFilter) -> bool:
        """Return whether an operator reads."""
        return read_filter.scene.kind == "operator"

    async def nearest(self, vector: Vector, read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Return the event."""
        return [(EXACT, 1.0)]


class Wide:
    """A vector store that returns ids or is unavailable."""

    def __init__(self, *ids: str, is_away: bool = False) -> None:
        """Have these ids, nearest first."""
        self.ids = ids or ("wide",)
        self.is_away = is_away

    async def nearest(self, vector: Vector, read_filter: ReadFilter, limit: int) -> list[tuple[str, float]]:
        """Return the ids, or fail."""
        if self.is_away:
            raise UnavailableError("away")
        return [(one, 1.0 - rank / 10) for rank, one in enumerate(self.ids)]


async def answers(wide: Wide, read_filter: ReadFilter, limit: int = 1, events: Any = None) -> list[tuple[str, float]]:
    """Return the ids of the found events with their cosines."""
    vectors = NearestVectors(Exact(), wide, events or ListedEvents(EXACT, WIDE))
    return [(event.id, cosine) for event, cosine in await vectors.nearest(ASKED, read_filter, limit)]


async def answered(wide: Wide, read_filter: ReadFilter, limit: int = 1) -> str:
    """Return which index answered."""
    [(event_id, _)] = await answers(wide, read_filter, limit)
    return event_id


async def test_a_place_is_searched_exactly() -> None:
    """A search that exact search can cover does not use the vector store."""
    assert await answered(Wide(), ReadFilter(GROUP)) == "exact"


async def test_what_is_wide_goes_to_the_store() -> None:
    """A search too large for exact search uses the vector store."""
    assert await answered(Wide(), ReadFilter(OPERATOR)) == "wide"


async def test_a_store_that_is_away_makes_no_answer_smaller() -> None:
    """While the vector store is unavailable, exact search answers everything."""
    assert await answered(Wide(is_away=True), ReadFilter(OPERATOR)) == "exact"


async def test_what_the_store_answers_short_is_asked_again() -> None:
    """If the vector store returns fewer results than asked for, exact search is used."""
    assert await answered(Wide(), ReadFilter(OPERATOR), limit=5) == "exact"


async def test_the_store_s_ids_become_events_in_their_order() -> None:
    """The store's ids become events in order with their cosines; unknown and withdrawn ones are skipped."""
    gone = an_event("gone", id="gone", retired_at=NOON)
    found = await answers(
        Wide("lost", "wide", "gone", "exact"), ReadFilter(OPERATOR), 4, ListedEvents(EXACT, gone, WIDE)
    )
    assert found == [("wide", 0.9), ("exact", 0.7)]


async def test_a_ledger_that_is_away_for_a_moment_costs_nothing() -> None:
    """If the ids of the store cannot be read from the ledger, exact search answers."""
    assert await answers(Wide(), ReadFilter(OPERATOR), 1, Away()) == [("exact", 1.0)]
