"""Narrow questions are answered exactly, wide ones by the store, and exactly while that is away."""

from __future__ import annotations

from typing import Any

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.hit import Reading
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
    """Answers one event."""

    async def is_wide(self, reading: Reading) -> bool:
        """Find what an operator reads wide."""
        return reading.scene.kind == "operator"

    async def nearest(self, vector: Vector, reading: Reading, limit: int) -> list[tuple[Event, float]]:
        """Answer."""
        return [(EXACT, 1.0)]


class Wide:
    """Answers ids, or is away."""

    def __init__(self, *ids: str, is_away: bool = False) -> None:
        """Know ids, the nearest first."""
        self.ids = ids or ("wide",)
        self.is_away = is_away

    async def nearest(self, vector: Vector, reading: Reading, limit: int) -> list[tuple[str, float]]:
        """Answer."""
        if self.is_away:
            raise UnavailableError("away")
        return [(one, 1.0 - rank / 10) for rank, one in enumerate(self.ids)]


async def answers(wide: Wide, reading: Reading, limit: int = 1, events: Any = None) -> list[tuple[str, float]]:
    """Tell which events were answered."""
    vectors = NearestVectors(Exact(), wide, events or ListedEvents(EXACT, WIDE))
    return [(event.id, cosine) for event, cosine in await vectors.nearest(ASKED, reading, limit)]


async def answered(wide: Wide, reading: Reading, limit: int = 1) -> str:
    """Tell which index answered."""
    [(event_id, _)] = await answers(wide, reading, limit)
    return event_id


async def test_a_place_is_searched_exactly() -> None:
    """What fits into memory never waits for the store."""
    assert await answered(Wide(), Reading(GROUP)) == "exact"


async def test_what_is_wide_goes_to_the_store() -> None:
    """What does not fit is the store's."""
    assert await answered(Wide(), Reading(OPERATOR)) == "wide"


async def test_a_store_that_is_away_makes_no_answer_smaller() -> None:
    """While the store is away exact search answers everything."""
    assert await answered(Wide(is_away=True), Reading(OPERATOR)) == "exact"


async def test_what_the_store_answers_short_is_asked_again() -> None:
    """Fewer rows than asked for may be all there are, or all that the store came by: exact search knows."""
    assert await answered(Wide(), Reading(OPERATOR), limit=5) == "exact"


async def test_the_store_s_ids_become_events_in_their_order() -> None:
    """Each comes with its own cosine; an id that the ledger does not know, or knows as retired, is passed over."""
    gone = an_event("gone", id="gone", retired_at=NOON)
    found = await answers(Wide("lost", "wide", "gone", "exact"), Reading(OPERATOR), 4, ListedEvents(EXACT, gone, WIDE))
    assert found == [("wide", 0.9), ("exact", 0.7)]


async def test_a_ledger_that_is_away_for_a_moment_costs_nothing() -> None:
    """Where the ids of the store cannot be read, exact search answers."""
    assert await answers(Wide(), Reading(OPERATOR), 1, Away()) == [("exact", 1.0)]
