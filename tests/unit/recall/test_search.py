"""Tests of joining events and messages in one search."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.hit import Hit
from cognitive_memory_core.domain.interval import Interval
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.read_filter import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.recall.message_search import MessageSearch
from cognitive_memory_core.recall.query import Query
from cognitive_memory_core.recall.retriever import Retriever, SearchResult
from cognitive_memory_core.recall.search import LINE, TRACED, Search
from cognitive_memory_core.settings import Live, QuerySettings, Settings
from tests.support.builders import GROUP, OTHER_GROUP, a_draft, a_message, an_event
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import a_ledger
from tests.support.ports import Away, CountingEmbedder, ListedVectors, ListedWords

BOTH, LEAST = ("message", "event"), 0.3
LINES = ("陶艺课开了", "周末也有陶艺", "陶艺杯子烧好了", "没人学陶艺")
SETTINGS = Settings(query=QuerySettings(lexical_weight=1.0, diversity=0.0, min_relevance=LEAST))


class Told:
    """A search of events that returns these hits within the read filter and the limit, and records its calls."""

    def __init__(self, *hits: Hit, degraded: Sequence[str] = ()) -> None:
        """Find these hits."""
        self._found = SearchResult(hits, tuple(degraded))
        self.readings: list[ReadFilter] = []

    async def asked(self, text: str, scene: Scene, *, addressed: bool | None = None) -> Query:
        """Return a query of one word."""
        return Query(text, (text,))

    async def search(
        self, read_filter: ReadFilter, query: Query, *, top_k: int, decay: object, floor: float = 0.0
    ) -> SearchResult:
        """Return the hits that the read filter admits."""
        self.readings.append(read_filter)
        admitted = [hit for hit in self._found.hits if read_filter.admits(hit.event)]
        return SearchResult(tuple(admitted[: max(top_k, 0)]), self._found.degraded)


def a_hit(relevance: float = 0.9, event: Event | None = None, **fields: Any) -> Hit:
    """Return a hit of an event."""
    found = event or an_event(f"学陶艺的事 {relevance}", **fields)
    return Hit(found, relevance, lexical=relevance, relevance=relevance)


async def a_search(events: Any, *lines: Message | str, lexical: Any = None, sources: Any = None) -> Search:
    """Return a search over these events and a log of these messages, an hour apart."""
    ledger = a_ledger(clock=FrozenClock())
    said = [
        line if isinstance(line, Message) else a_message(line, sent_at=NOON + timedelta(hours=at))
        for at, line in enumerate(lines)
    ]
    await ledger.log.append(said)

    async def settled() -> None:
        return None

    messages = MessageSearch(lexical or ledger.lexical, FrozenClock(), settled)
    return Search(events, messages, Live(SETTINGS), sources)


def kinds(found: SearchResult) -> list[str]:
    """Return the kinds of the hits, in order."""
    return [hit.event.kind for hit in found.hits]


@pytest.mark.parametrize("named", [(), ("event",), ("preference", "event"), ("knowledge",)])
@pytest.mark.parametrize("relevance", [0.9, LEAST - 0.01])
async def test_events_are_not_followed_by_lines(named: tuple[str, ...], relevance: float) -> None:
    """Without kind message only events are returned, however few they are."""
    search = await a_search(Told(a_hit(relevance)), *LINES, lexical=Away())
    found = await search.find(ReadFilter(GROUP, kinds=named), "陶艺", top_k=12)
    assert kinds(found) == (["event"] if not named or "event" in named else [])
    assert found.degraded == ()


@pytest.mark.parametrize("named", [("message",), ("message", "message")])
async def test_the_log_alone_is_searched_where_it_is_named(named: tuple[str, ...]) -> None:
    """With kind message alone only messages are returned, newer ones first, and events are not searched."""
    told = Told(a_hit())
    found = await (await a_search(told, *LINES)).find(ReadFilter(GROUP, kinds=named), "陶艺", top_k=12)
    assert kinds(found) == ["message"] * len(LINES)
    assert told.readings == []
    assert found.hits[0].score == pytest.approx(found.hits[0].relevance * (1 + SETTINGS.query.time_decay_boost))


async def test_lines_and_events_named_together_are_both_searched() -> None:
    """If both kinds are named, messages are added even to enough events, and only events of that kind."""
    told = Told(*(a_hit(0.9 - at / 100) for at in range(4)), a_hit(kind="preference"))
    found = await (await a_search(told, *LINES)).find(ReadFilter(GROUP, kinds=BOTH), "陶艺", top_k=12)
    assert sorted(kinds(found)) == ["event"] * 4 + ["message"] * 4
    assert [read_filter.kinds for read_filter in told.readings] == [("event",)]


async def test_a_reading_narrows_lines_too() -> None:
    """Person, time and excluded people apply to messages as to events."""
    man = Scene.group("10001", "2000002", user_name="小满")
    lines = [a_message("陶艺一", sent_at=NOON), a_message("陶艺二", man, NOON + timedelta(hours=2))]
    search = await a_search(Told(), *lines)
    for read_filter in (
        ReadFilter(GROUP, user_id="2000002", kinds=BOTH),
        ReadFilter(GROUP, window=Interval(NOON + timedelta(hours=1), NOON + timedelta(hours=3)), kinds=BOTH),
        ReadFilter(GROUP, without=frozenset({"2000001"}), kinds=BOTH),
    ):
        found = await search.find(read_filter, "陶艺", top_k=12)
        assert [hit.event.text for hit in found.hits] == ["陶艺二"]


async def test_lines_that_a_found_event_was_made_of_are_left_out() -> None:
    """Messages that are sources of a found event are left out; one of another scope with the same id is kept."""
    event = an_event("阿棠在学陶艺", message_ids=("m1", "m2"))
    lines = [a_message(f"陶艺{at}", sent_at=NOON + timedelta(hours=at), id=f"m{at}") for at in range(4)]
    search = await a_search(Told(a_hit(0.9, event)), *lines, a_message("陶艺别处", OTHER_GROUP, id="m1"))
    found = await search.find(ReadFilter(GROUP, kinds=BOTH), "陶艺", top_k=12)
    assert [hit.event.text for hit in found.hits] == ["阿棠在学陶艺", "陶艺0", "陶艺3"]
    everywhere = await search.find(ReadFilter(Scene.operator(), kinds=BOTH), "陶艺", top_k=12)
    assert sorted(hit.event.text for hit in everywhere.hits) == ["阿棠在学陶艺", "陶艺0", "陶艺3", "陶艺别处"]


async def test_an_event_is_found_through_a_line_that_it_was_made_of() -> None:
    """An event replaces a found message that it was made from, with most of that message's score."""
    event = an_event("小满在南门上课", message_ids=("m1",))
    lines = [a_message("陶艺课在南门", sent_at=NOON, id="m1"), a_message("陶艺", sent_at=NOON + timedelta(hours=3))]
    ledger = a_ledger(clock=FrozenClock())
    await ledger.events.commit(a_draft(event))
    plain = await (await a_search(Told(), *lines)).find(ReadFilter(GROUP, kinds=("message",)), "陶艺", top_k=12)
    worth = next(hit.score for hit in plain.hits if hit.event.id == "m1")
    for told in (Told(), Told(a_hit(0.01, event)), Told(a_hit(0.9, event))):
        search = await a_search(told, *lines, sources=ledger.events)
        found = await search.find(ReadFilter(GROUP, kinds=BOTH), "陶艺", top_k=12)
        assert [hit.event.text for hit in found.hits] == ["小满在南门上课", "陶艺"]
        assert found.hits[0].score == pytest.approx(max(TRACED * worth, found.hits[0].lexical))
    narrow = await search.find(ReadFilter(GROUP, kinds=("message", "preference")), "陶艺", top_k=12)
    assert "小满在南门上课" not in [hit.event.text for hit in narrow.hits]


async def test_events_that_cannot_be_traced_are_no_failure() -> None:
    """If the ledger cannot name the events made from messages, the found hits are returned."""
    search = await a_search(Told(a_hit()), *LINES[:1], sources=Away())
    assert kinds(await search.find(ReadFilter(GROUP, kinds=BOTH), "陶艺", top_k=12)) == ["event", "message"]


async def test_a_line_counts_less_than_an_event() -> None:
    """A message comes before an event only if its score is twice as high."""
    plain = await (await a_search(Told(), *LINES[:1])).find(ReadFilter(GROUP, kinds=("message",)), "陶艺", top_k=12)
    line = plain.hits[0].score
    for share, order in ((LINE + 0.05, ["event", "message"]), (LINE - 0.05, ["message", "event"])):
        search = await a_search(Told(a_hit(line * share)), *LINES[:1])
        found = await search.find(ReadFilter(GROUP, kinds=BOTH), "陶艺", top_k=12)
        assert kinds(found) == order
        (said,) = (hit for hit in found.hits if hit.event.kind == "message")
        assert said.score == pytest.approx(line * LINE)
        assert said.relevance == plain.hits[0].relevance


async def test_the_mixed_list_is_in_order_and_bounded() -> None:
    """The joined list is ordered by score and has the best of both."""
    search = await a_search(Told(a_hit(0.02), a_hit(0.01)), *LINES)
    found = await search.find(ReadFilter(GROUP, kinds=BOTH), "陶艺", top_k=5)
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert kinds(found) == ["message"] * 4 + ["event"]


@pytest.mark.parametrize(
    ("known", "said", "named"),
    [
        (("vectors",), False, ("vectors",)),
        ((), True, ("lexical",)),
        (("vectors", "lexical"), True, ("vectors", "lexical")),
        (("embedding",), True, ("embedding", "lexical")),
    ],
)
async def test_what_was_away_is_named_once(known: tuple[str, ...], said: bool, named: tuple[str, ...]) -> None:
    """Parts missing in either search are named together, each once, and the rest is returned."""
    search = await a_search(Told(a_hit(), degraded=known), *LINES[:1], lexical=Away() if said else None)
    found = await search.find(ReadFilter(GROUP, kinds=BOTH), "陶艺", top_k=12)
    assert found.degraded == named
    assert kinds(found) == (["event"] if said else ["event", "message"])


async def test_a_real_search_of_events_is_joined() -> None:
    """With the real retriever an event and a message with the same words are both found, the event first."""
    event = an_event("阿棠(2000001) 在学陶艺", id="known")
    settings = Live(SETTINGS)
    events = Retriever(
        a_ledger().events,
        ListedWords([(event, 3.0)]),
        ListedVectors(),
        CountingEmbedder(),
        settings,
        FrozenClock(),
    )
    found = await (await a_search(events, *LINES[:1])).find(ReadFilter(GROUP, kinds=BOTH), "谁在学陶艺", top_k=12)
    assert kinds(found) == ["event", "message"]
    assert found.degraded == ()
