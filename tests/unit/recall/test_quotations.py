"""Tests of selecting logged messages that a context quotes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.read_filter import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.ports.words import line_key
from cognitive_memory_core.recall.message_search import MessageSearch
from cognitive_memory_core.recall.query import query_of
from cognitive_memory_core.recall.quotations import CANDIDATES, Quotations, QuotationSearch, QuotedLines
from tests.support.builders import GROUP, OPERATOR, OTHER_GROUP, PRIVATE, a_message
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import a_ledger
from tests.support.ports import Away, ListedWords

MAN = Scene.group("10001", "2000002", user_name="小满", group_name="读书会")
WANTED = QuotationSearch(limit=6, shown=("cup", "noodles"))


def a_line(text: str, hours: float = 0.0, scene: Scene = GROUP, **fields: Any) -> Message:
    """Return a message sent so many hours after noon."""
    return a_message(text, scene, NOON + timedelta(hours=hours), **fields)


TALK = (
    a_line("周末去学陶艺吗", id="asked"),
    a_line("去，陶艺课在南门", 1, MAN, id="answered", reply_to="asked"),
    a_line("陶艺杯子烧好了", 2, id="cup"),
    a_line("面条", 3, MAN, id="noodles"),
)


async def found(scene: Scene, question: str, *lines: Message, wanted: QuotationSearch = WANTED, **parts: Any) -> Any:
    """Select quotations from a log with these messages."""
    ledger = a_ledger(clock=FrozenClock())
    await ledger.log.append(lines)

    async def never() -> None:
        raise AssertionError("nothing is written for a context")

    clock = FrozenClock(NOON + timedelta(days=1))
    search = MessageSearch(parts.get("lexical", ledger.lexical), clock, never)
    quotations = Quotations(search, clock)
    read_filter = ReadFilter(scene, without=parts.get("without", frozenset()))
    return await quotations.find(read_filter, query_of(question, scene, NOON), wanted)


def ids(lines: QuotedLines) -> list[str]:
    """Return the ids of the found messages."""
    return [quotation.said.id for quotation in lines.quotations]


async def test_lines_that_the_caller_shows_are_not_quoted() -> None:
    """Messages that the caller shows are left out, and the others are found."""
    assert sorted(ids(await found(GROUP, "陶艺", *TALK))) == ["answered", "asked"]
    whole = await found(GROUP, "陶艺", *TALK, wanted=QuotationSearch(limit=6, shown=()))
    assert {"answered", "asked", "cup"} <= set(ids(whole))


async def test_a_line_brings_along_what_it_replies_to() -> None:
    """A quoted reply includes the message it replies to only if the scene may read it."""
    lines = await found(GROUP, "陶艺课在哪", *TALK)
    replied = {one.said.id: one.replied.id if one.replied else "" for one in lines.quotations}
    assert replied["answered"] == "asked"
    assert replied["asked"] == ""
    own = await found(Scene.private("2000002"), "陶艺课在哪", *TALK)
    assert [(one.said.id, one.replied) for one in own.quotations] == [("answered", None)]


async def test_who_opted_out_is_not_quoted() -> None:
    """A person who opted out is quoted neither as speaker nor as the one replied to."""
    lines = await found(GROUP, "陶艺", *TALK, without=frozenset({"2000001"}))
    assert [(one.said.id, one.replied) for one in lines.quotations] == [("answered", None)]


@pytest.mark.parametrize("scene", [OTHER_GROUP, PRIVATE, Scene.private("2000009")])
async def test_elsewhere_nobody_is_quoted(scene: Scene) -> None:
    """Messages of another group or another person's private chat are not quoted, and a person's own are."""
    lines = await found(scene, "陶艺", *TALK)
    assert set(ids(lines)) == ({"asked", "cup"} if scene is PRIVATE else set())


async def test_an_operator_answers_no_message() -> None:
    """For an operator without a group no messages are left out."""
    lines = await found(OPERATOR, "陶艺", *TALK, wanted=QuotationSearch(limit=6))
    assert {"answered", "asked", "cup"} <= set(ids(lines))


@pytest.mark.parametrize(("question", "limit"), [("陶艺", 0), ("？？", 6)])
async def test_nothing_wanted_asks_nobody(question: str, limit: int) -> None:
    """With a limit of 0, or without a word in the question, no store is called."""
    away = {"lexical": Away(), "log": Away()}
    lines = await found(GROUP, question, *TALK, wanted=QuotationSearch(limit=limit), **away)
    assert lines == QuotedLines()


async def test_the_floor_and_the_limit_hold() -> None:
    """At most the limit of messages is quoted, and none below the minimum relevance."""
    assert len(ids(await found(GROUP, "陶艺", *TALK, wanted=QuotationSearch(limit=1)))) == 1
    assert ids(await found(GROUP, "陶艺", *TALK, wanted=QuotationSearch(limit=6, floor=1.1))) == []


async def test_what_is_away_is_named() -> None:
    """If word search is unavailable, nothing is quoted and it is named."""
    lines = await found(GROUP, "陶艺", *TALK, lexical=Away())
    assert (lines.quotations, lines.degraded) == ((), ("lexical",))


async def test_a_context_looks_at_few_candidates() -> None:
    """However many lines the caller shows, a turn reads a fixed number of lines that share words."""
    words = ListedWords()
    wanted = QuotationSearch(limit=6, shown=[str(number) for number in range(200)])
    await found(GROUP, "陶艺", wanted=wanted, lexical=words)
    assert [search.candidates for search in words.searches] == [CANDIDATES]


async def test_a_line_brings_along_the_next_ones_of_its_session() -> None:
    """The two lines after a hit are kept if they were said within the session and the caller does not show them."""
    talk = (
        a_line("陶艺课是谁在教", 0, id="asked"),
        a_line("南门那家的老师傅", 0.1, MAN, id="next"),
        a_line("每周四上课", 0.2, MAN, id="second"),
        a_line("一节八十", 0.3, MAN, id="third"),
        a_line("陶艺杯子烧好了", 5, id="last"),
        a_line("面条", 9, MAN, id="later"),
    )
    lines = await found(GROUP, "陶艺", *talk, wanted=QuotationSearch(limit=6, shown=()))
    following = {one.said.id: [line.id for line in one.following] for one in lines.quotations}
    assert (following["asked"], following["last"]) == (["next", "second"], [])
    assert lines.scores.keys() >= {line_key(one.said.scope.key, one.said.id) for one in lines.quotations}
    others = await found(GROUP, "陶艺", *talk, wanted=QuotationSearch(limit=6, shown=("second",)))
    assert [[line.id for line in one.following] for one in others.quotations if one.said.id == "asked"] == [["next"]]


async def test_lines_of_one_second_follow_in_the_order_in_which_they_came() -> None:
    """A platform counts whole seconds: of lines with one time, those said earlier do not follow the quoted one."""
    talk = [a_line(text, id=text) for text in ("猫叫年糕", "我对花生过敏", "下个月去重庆")]
    quoted = await found(GROUP, "谁去重庆", *talk, wanted=QuotationSearch(limit=1, shown=()))
    assert [(one.said.id, [line.id for line in one.following]) for one in quoted.quotations] == [("下个月去重庆", [])]
