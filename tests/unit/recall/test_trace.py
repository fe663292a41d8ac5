"""Tests of the record of a search, from which each candidate's score is taken apart."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognitive_memory_core.domain.instants import Interval
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.recall.one_pass import SearchPass
from cognitive_memory_core.recall.ranking import Candidate
from cognitive_memory_core.settings.schema import Decay, QuerySettings, Settings
from cognitive_memory_core.store.database.database import Snapshot
from cognitive_memory_core.text.query import Query
from cognitive_memory_core.text.terms import query_terms
from tests.support.builders import GROUP, an_event
from tests.support.clock import NOON
from tests.support.ports import ListedEvents, ListedVectors, ListedWords, a_recall

TEA = an_event("阿棠(2000001) 喜欢乌龙茶", id="tea", sender_id="2000001", happened_at=NOON)
AGAIN = an_event("阿棠(2000001) 喜欢乌龙茶", id="again", sender_id="2000002", happened_at=NOON)
HILL = an_event("大家周六去爬山", id="hill", happened_at=NOON - timedelta(days=9))
RAIN = an_event("昨天下雨了", id="rain", happened_at=NOON)
SAID = "阿棠今天说喜欢什么茶"
ASKED = Query(
    SAID, tuple(query_terms(SAID)), people=frozenset({"2000001"}), windows=(Interval(NOON, NOON + timedelta(days=1)),)
)
DECAY = Decay(14.0, 0.2, 0.1)


async def traced(query: Query = ASKED, **settings: object) -> tuple[dict[str, Candidate], list[str]]:
    """Search as for an explanation; return the candidates by id, and the ids of the result."""
    recall = a_recall(
        events=ListedEvents(TEA, AGAIN, HILL, RAIN),
        words=ListedWords([(TEA, 3.0), (AGAIN, 3.0)]),
        vectors=ListedVectors((TEA, 0.7), (AGAIN, 0.6), (HILL, 0.5), (RAIN, 0.3)),
    )
    given = Settings(query=QuerySettings(**{"lexical_weight": 0.5, "diversity": 0.5, **settings}))  # type: ignore[arg-type]
    asked = SearchPass(recall.sources, ReadFilter(GROUP), query, given, NOON, True, missing={"vectors": "vectors"})

    def read(search: SearchPass, on: Snapshot) -> None:
        search.hits = [one.hit for one in search.best_events(on, 2, DECAY, 0.2)]

    search = await recall._carried_out(asked, read)
    found = sorted(search.candidates, key=lambda one: (one.rank == 0, one.rank))
    return {one.event.id: one for one in found}, [hit.event.id for hit in search.hits]


async def test_the_parts_of_a_score_multiply_to_it() -> None:
    """The relevance of a candidate times its factors is its score, and the result's order is that of the search."""
    candidates, found = await traced()
    for one in candidates.values():
        product = one.relevance
        for _, factor in one.factors:
            product *= factor
        assert product == pytest.approx(one.score)
    assert [one.event.id for one in candidates.values() if one.rank] == found == ["tea", "hill"]
    tea = candidates["tea"]
    assert tea.relevance == pytest.approx(0.5 * tea.similarity + 0.5 * tea.lexical)
    assert dict(tea.factors)["people"] > 1 < dict(tea.factors)["age"]
    assert dict(candidates["hill"].factors)["time"] == pytest.approx(0.3)


async def test_what_is_left_out_names_the_step() -> None:
    """A candidate that is not in the result names the step that left it out."""
    candidates, _ = await traced()
    assert {name: one.cut for name, one in candidates.items() if one.cut} == {
        "again": "duplicates",
        "rain": "relevance",
    }
