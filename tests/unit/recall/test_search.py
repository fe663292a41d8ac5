"""Tests of joining events and messages in one search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.recall.one_pass import TRACED
from cognitive_memory_core.recall.recall import SearchResult
from cognitive_memory_core.settings.schema import Live, QuerySettings, Settings
from tests.support.builders import GROUP, OTHER_GROUP, a_draft, a_message, an_event
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import a_ledger
from tests.support.ports import CountingEmbedder, a_recall

BOTH, LEAST = ("message", "event"), 0.3
LINES = ("陶艺课开了", "周末也有陶艺", "陶艺杯子烧好了", "没人学陶艺")
SETTINGS = Settings(query=QuerySettings(lexical_weight=1.0, diversity=0.0, min_relevance=LEAST))


def lines_of(*lines: Message | str) -> list[Message]:
    """Return messages an hour apart."""
    return [
        line if isinstance(line, Message) else a_message(line, sent_at=NOON + timedelta(hours=at))
        for at, line in enumerate(lines)
    ]


async def search(
    read_filter: ReadFilter,
    text: str = "陶艺",
    *,
    top_k: int = 12,
    events: Sequence[Event] = (),
    lines: Any = (),
    **tables: Any,
) -> SearchResult:
    """Search a ledger with these events and log lines, by words alone."""
    ledger = a_ledger(clock=FrozenClock())
    if events:
        await ledger.events.commit(a_draft(*events))
    await ledger.log.append(lines_of(*lines))
    embedder = CountingEmbedder(UnavailableError("away"))
    recall = a_recall(ledger, embedder, Live(SETTINGS), **tables)
    found = await recall.search(read_filter, text, top_k=top_k)
    return replace(found, degraded=tuple(part for part in found.degraded if part != "embedding"))


def kinds(found: SearchResult) -> list[str]:
    """Return the kinds of the hits, in order."""
    return [hit.event.kind for hit in found.hits]


STUDIES = an_event("阿棠在学陶艺", message_ids=("m1", "m2"))


@pytest.mark.parametrize("named", [("message",), ("message", "message")])
async def test_the_log_alone_is_searched_where_it_is_named(named: tuple[str, ...]) -> None:
    """With kind message alone only messages are returned, newer ones first, and events are not searched."""
    found = await search(ReadFilter(GROUP, kinds=named), events=[STUDIES], lines=LINES)
    assert kinds(found) == ["message"] * len(LINES)
    assert found.hits[0].score == pytest.approx(found.hits[0].relevance * (1 + SETTINGS.query.time_decay_boost))


async def test_lines_and_events_named_together_are_both_searched() -> None:
    """If both kinds are named, messages are added even to enough events, and only events of that kind."""
    events = [*(an_event(f"学陶艺的事{at}") for at in range(4)), an_event("陶艺", kind="preference")]
    found = await search(ReadFilter(GROUP, kinds=BOTH), events=events, lines=LINES)
    assert sorted(kinds(found)) == ["event"] * 4 + ["message"] * 4
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert len((await search(ReadFilter(GROUP, kinds=BOTH), top_k=5, events=events, lines=LINES)).hits) == 5


async def test_a_reranker_of_events_costs_no_line() -> None:
    """Where a reranker judges the events, lines of the log are found beside them as without it."""

    class Judge:
        async def scores(self, _query: str, texts: Sequence[str]) -> list[float]:
            return [0.9 for _ in texts]

    found = await search(ReadFilter(GROUP, kinds=BOTH), events=[an_event("学陶艺")], lines=LINES, reranker=Judge())
    assert sorted(kinds(found)) == ["event"] + ["message"] * 4


async def test_lines_that_a_found_event_was_made_of_are_left_out() -> None:
    """Messages that are sources of a found event are left out; one of another scope with the same id is kept."""
    lines = [a_message(f"陶艺{at}", sent_at=NOON + timedelta(hours=at), id=f"m{at}") for at in range(4)]
    world = {"events": [STUDIES], "lines": [*lines, a_message("陶艺别处", OTHER_GROUP, id="m1")]}
    found = await search(ReadFilter(GROUP, kinds=BOTH), **world)
    assert [hit.event.text for hit in found.hits] == ["阿棠在学陶艺", "陶艺0", "陶艺3"]
    everywhere = await search(ReadFilter(Scene.operator(), kinds=BOTH), **world)
    assert sorted(hit.event.text for hit in everywhere.hits) == ["阿棠在学陶艺", "陶艺0", "陶艺3", "陶艺别处"]


async def test_an_event_is_found_through_a_line_that_it_was_made_of() -> None:
    """An event replaces a found message that it was made from, with most of that message's score."""
    event = an_event("小满在南门上课", message_ids=("m1",))
    lines = [a_message("陶艺课在南门", sent_at=NOON, id="m1"), a_message("陶艺", sent_at=NOON + timedelta(hours=3))]
    plain = await search(ReadFilter(GROUP, kinds=("message",)), lines=lines)
    worth = next(hit.score for hit in plain.hits if hit.event.id == "m1")
    found = await search(ReadFilter(GROUP, kinds=BOTH), events=[event], lines=lines)
    assert [hit.event.text for hit in found.hits] == ["小满在南门上课", "陶艺"]
    assert found.hits[0].score == pytest.approx(TRACED * worth)
    narrow = await search(ReadFilter(GROUP, kinds=("message", "preference")), events=[event], lines=lines)
    assert "小满在南门上课" not in [hit.event.text for hit in narrow.hits]
