"""Tests of searching the message log."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cognitive_memory_core.domain.answer import Hit
from cognitive_memory_core.domain.instants import Interval
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import PermanentError, StorageRefused, TransientError, UnavailableError
from cognitive_memory_core.recall.one_pass import SearchPass, hit_of
from cognitive_memory_core.recall.recall import Recall, SearchResult
from cognitive_memory_core.settings.schema import Decay, Settings
from cognitive_memory_core.store.database.database import Snapshot
from cognitive_memory_core.store.search.lines import NUMBER, OF_SEARCH, FoundLines, LineSearch
from cognitive_memory_core.text.query import Query
from tests.support.builders import GROUP, OPERATOR, a_message
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import Ledger, a_ledger
from tests.support.ports import Away, a_recall

MAN = Scene.group("10001", "2000002", user_name="小满", group_name="读书会")


def a_line(text: str, minutes: float = 0.0, scene: Scene = GROUP, **fields: Any) -> Message:
    """Return a message sent so many minutes after noon."""
    return a_message(text, scene, NOON + timedelta(minutes=minutes), **fields)


async def a_log(*lines: Message) -> Ledger:
    """Return a ledger whose log has these messages."""
    ledger = a_ledger(clock=FrozenClock())
    await ledger.log.append(lines)
    return ledger


async def hanging(*_: object) -> Any:
    """Never return."""
    await asyncio.Event().wait()


async def searched(
    ledger: Ledger,
    question: str | Query,
    read_filter: ReadFilter | Scene = GROUP,
    *,
    top_k: int = 50,
    decay: Decay | None = None,
    clock: FrozenClock | None = None,
    words: Any = None,
) -> FoundLines:
    """Search a ledger's log as a search does; raises if the log is away."""
    where = ReadFilter(read_filter) if isinstance(read_filter, Scene) else read_filter
    query = Query.of(question, where.scene, NOON) if isinstance(question, str) else question
    recall = a_recall(ledger, clock=clock or FrozenClock(NOON + timedelta(days=1)), words=words)
    asked = SearchPass(recall.sources, where, query, Settings(), recall.sources.clock.now())
    reach, found = OF_SEARCH._replace(candidates=max(top_k, OF_SEARCH.candidates)), list[FoundLines]()

    def read(begun: SearchPass, on: Snapshot) -> None:
        with begun.part("lines", "lexical"):
            search = LineSearch(query, where, top_k, asked.now, reach, decay)
            lines, scores = recall.sources.ledger.corpora.found_lines(on, search)
            found.append(FoundLines(shown := [*lines], scores))
            recall.sources.ledger.corpora.surround(on, shown, where)

    assert (await recall._carried_out(asked, read)).degraded == ()
    return found[0]


async def found(ledger: Ledger, question: str | Query, *args: Any, **parts: Any) -> list[Hit]:
    """Return the hits of :func:`searched`."""
    return [hit_of(one) for one in (await searched(ledger, question, *args, **parts)).lines]


def of_recall(ledger: Ledger, **parts: Any) -> Recall:
    """Return a recall whose clock stands a day later."""
    return a_recall(ledger, clock=FrozenClock(NOON + timedelta(days=1)), **parts)


LINES_ONLY = ReadFilter(GROUP, kinds=("message",))


def texts(hits: Sequence[Hit]) -> list[str]:
    """Return the texts of the hits."""
    return [hit.event.text for hit in hits]


def round_it(hit: Hit) -> list[str]:
    """Return the texts of the messages around a hit."""
    return [line.text for line in hit.neighbours]


async def test_a_line_is_found_by_its_words_with_the_talk_round_it() -> None:
    """Hits are events of kind message, best first, with adjacent messages; a message beside a match is found too."""
    ledger = await a_log(a_line("有人去学陶艺吗"), a_line("我去", 1, MAN, id="me"), a_line("面条", 600))
    hits = await found(ledger, "学陶艺")
    assert texts(hits) == ["有人去学陶艺吗", "我去"]
    assert round_it(hits[0]) == ["我去"]
    assert round_it(hits[1]) == ["有人去学陶艺吗"]
    assert (hits[1].event.kind, hits[1].event.id, hits[1].event.sender_id) == ("message", "me", "2000002")


@pytest.mark.parametrize(
    ("narrowing", "left"),
    [
        ({"user_id": "2000002"}, ["我也学陶艺"]),
        ({"user_id": "2000009"}, []),
        ({"window": Interval(NOON, NOON + timedelta(minutes=1))}, ["陶艺课开了"]),
        ({"kinds": ("message",)}, ["陶艺课开了", "我也学陶艺"]),
        ({"kinds": ("event",)}, []),
        ({"group_id": "10002"}, []),
    ],
)
async def test_a_narrow_reading_narrows_hits_and_not_the_lines_round_them(
    narrowing: dict[str, Any], left: list[str]
) -> None:
    """Messages excluded by person, time or kind are no hits, but still appear around hits."""
    ledger = await a_log(a_line("陶艺课开了"), a_line("我也学陶艺", 1, MAN))
    hits = await found(ledger, "陶艺", ReadFilter(GROUP, **narrowing))
    assert sorted(texts(hits)) == sorted(left)
    for hit in hits:
        assert len(round_it(hit)) == 1


async def test_a_time_of_the_tool_counts_lines_round_it_that_lie_outside() -> None:
    """A message inside the window is found because of a question just before it."""
    ledger = await a_log(a_line("谁去学陶艺", -1), a_line("我去陶艺", 0, MAN), a_line("行", 1))
    hits = await found(ledger, "陶艺", ReadFilter(GROUP, window=Interval(NOON, NOON + timedelta(hours=1))))
    assert texts(hits) == ["我去陶艺", "行"]
    assert round_it(hits[0]) == ["谁去学陶艺", "行"]


async def test_what_the_time_and_the_person_named_hold_is_fetched_among_many() -> None:
    """Messages of the named time and person are candidates even if 200 others match better."""
    crowd = [a_line(f"学陶艺课{number}", -60 * number - 3 * 24 * 60) for number in range(200)]
    hers, late = "学陶艺的是我呀，周末两天都在那边待着没出门", "听人讲学陶艺要好几个月才能烧出一个像样的杯子"
    apart = [a_line("早", minutes) for minutes in (-30 * 24 * 60 + 60, -2 * 24 * 60) for _ in range(OF_SEARCH.around)]
    ledger = await a_log(*crowd, *apart, a_line(late, -24 * 60), a_line(hers, -30 * 24 * 60, MAN))
    query = Query.of("学陶艺课", OPERATOR, NOON)
    (yesterday,) = Query.of("昨天", GROUP, NOON).windows
    assert not {late, hers} & set(texts(await found(ledger, query, top_k=120)))
    named = texts(await found(ledger, replace(query, windows=(yesterday,)), top_k=5))
    assert (named[0], len(named)) == (late, 5)
    assert hers not in named
    spoken = texts(await found(ledger, replace(query, people=frozenset({"2000002"})), top_k=5))
    assert (spoken[0], len(spoken)) == (hers, 5)
    assert late not in spoken


@pytest.mark.parametrize(
    ("narrowing", "asked"),
    [
        ({}, [("", True), ("2000001", False), ("2000002", False)]),
        ({"user_id": "2000001"}, [("2000001", True)]),
        ({"window": Interval(NOON, NOON + timedelta(days=1))}, [("2000001", True), ("2000002", True)]),
    ],
)
def test_what_the_tool_narrows_the_question_does_not_widen(
    narrowing: dict[str, Any], asked: list[tuple[str, bool]]
) -> None:
    """A time or person given to the search is not widened by those in the question."""
    read_filter, window = ReadFilter(GROUP, **narrowing), Interval(NOON - timedelta(days=1), NOON)
    searches = list(read_filter.narrowed([window], {"2000001", "2000002"}))
    assert sorted((one.user_id, one.window is not None) for one in searches) == sorted(asked)
    assert all(one.window in (read_filter.window, read_filter.window or window) for one in searches)


FAILURES: list[Exception | None] = [
    UnavailableError("away"),
    TransientError(),
    PermanentError(),
    StorageRefused(),
    None,
]


@pytest.mark.parametrize("error", FAILURES[:-1])
async def test_an_index_that_is_away_is_named(error: Exception) -> None:
    """If the index fails, the answer is empty and names it."""
    answer = await of_recall(a_ledger(), words=Away(error)).search(LINES_ONLY, "陶艺", top_k=5)
    assert answer == SearchResult((), ("lexical",))


@pytest.mark.parametrize("error", FAILURES)
async def test_a_log_that_cannot_be_written_is_read(error: Exception | None) -> None:
    """If pending messages cannot be written, or writing hangs, the written ones are searched."""
    ledger = await a_log(a_line("陶艺"))
    flush = Away(error).settle if error else hanging
    recall = of_recall(ledger, flush=flush, patience=2.0 if error is None else 5.0)
    answer = await recall.search(LINES_ONLY, "陶艺", top_k=5)
    assert [hit.event.text for hit in answer.hits] == ["陶艺"]


async def test_of_several_times_named_each_counts() -> None:
    """Lines of any time that a question names keep their score; those between two of them have 0.3 of it."""
    ledger = await a_log(*(a_line(f"陶艺 {day}", 60 * 24 * day) for day in (-9, -7, -5)))
    query = Query.of("陶艺", GROUP, NOON)
    windows = tuple(Interval(NOON + timedelta(days=day - 0.5), NOON + timedelta(days=day + 0.5)) for day in (-9, -5))
    lines = (await searched(ledger, replace(query, windows=windows))).lines
    assert {one.line.text: dict(one.factors)["time"] for one in lines} == {
        "陶艺 -9": 1.0,
        "陶艺 -7": 0.3,
        "陶艺 -5": 1.0,
    }


async def test_a_question_for_a_number_raises_lines_with_one() -> None:
    """Of two lines that share as much with a question, the one with a number comes first if a number is asked for."""
    talk = (a_line("陶艺课的票今年又贵了", id="dear"), a_line("陶艺课的票今年58元", 600, id="price"))
    for lines in (talk, talk[::-1]):
        ledger = await a_log(*lines)
        assert (await found(ledger, "陶艺课的票多少钱"))[0].event.id == "price"
    query = Query.of("陶艺课的票多少钱", GROUP, NOON)
    told = await searched(ledger, query, top_k=5)
    factors = {one.line.id: dict(one.factors)["numbers"] for one in told.lines}
    assert factors == {"price": 1.0 + NUMBER, "dear": 1.0}
