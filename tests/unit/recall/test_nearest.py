"""Narrow questions are answered exactly, wide ones by the store, and exactly while that is away."""

from __future__ import annotations

from cognitive_memory_core.domain.hit import Reading
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.ports.models import Vector
from cognitive_memory_core.recall.nearest import NearestVectors
from tests.support.builders import GROUP, OPERATOR
from tests.support.ledgers import a_vector

ASKED = a_vector(1.0, 0.0)


class Index:
    """Answers its own name, or is away."""

    def __init__(self, name: str, *, is_away: bool = False) -> None:
        """Take a name."""
        self.name = name
        self.is_away = is_away

    async def is_wide(self, reading: Reading) -> bool:
        """Find what an operator reads wide."""
        return reading.scene.kind == "operator"

    async def nearest(self, vector: Vector, reading: Reading, limit: int) -> list[tuple[str, float]]:
        """Answer."""
        if self.is_away:
            raise UnavailableError("away")
        return [(self.name, 1.0)]


async def answered(wide: Index, reading: Reading, limit: int = 1) -> str:
    """Tell which index answered."""
    found = await NearestVectors(Index("exact"), wide).nearest(ASKED, reading, limit)
    return found[0][0]


async def test_a_place_is_searched_exactly() -> None:
    """What fits into memory never waits for the store."""
    assert await answered(Index("wide"), Reading(GROUP)) == "exact"


async def test_what_is_wide_goes_to_the_store() -> None:
    """What does not fit is the store's."""
    assert await answered(Index("wide"), Reading(OPERATOR)) == "wide"


async def test_a_store_that_is_away_makes_no_answer_smaller() -> None:
    """While the store is away exact search answers everything."""
    assert await answered(Index("wide", is_away=True), Reading(OPERATOR)) == "exact"


async def test_what_the_store_answers_short_is_asked_again() -> None:
    """Fewer rows than asked for may be all there are, or all that the store came by: exact search knows."""
    assert await answered(Index("wide"), Reading(OPERATOR), limit=5) == "exact"
