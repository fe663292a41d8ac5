"""The contract of WordIndex."""

from __future__ import annotations

import pytest

from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.store.search.lines import LineSearch, Reach
from cognitive_memory_core.text.query import Query
from cognitive_memory_core.text.terms import query_terms
from tests.support.builders import GROUP, OTHER_GROUP, a_message, an_event
from tests.support.ledgers import Ledger, committed, events_with, later


async def found(ledger: Ledger, query: str, read_filter: ReadFilter | Scene, limit: int = 50) -> list[str]:
    """Return the texts of the events that a query finds."""
    asked = ReadFilter(read_filter) if isinstance(read_filter, Scene) else read_filter
    return [event.text for event, _ in await events_with(ledger.corpora, query_terms(query), asked, limit)]


async def test_rarity_is_that_of_the_place_that_is_asked(ledger: Ledger) -> None:
    """The rarity of a word is that of the queried place, so that other groups do not affect its ranking."""
    here = [an_event(f"乌龙茶 第{number}杯", sender_id=f"3{number}") for number in range(10)]
    await committed(ledger, *here, an_event("红茶 第九杯"))
    await committed(ledger, *(an_event(f"红茶 第{n}杯", OTHER_GROUP, sender_id=f"3{n}") for n in range(50)))
    ranked = await events_with(ledger.corpora, ["乌龙", "红茶"], ReadFilter(GROUP), 20)
    assert ranked[0][0].text == "红茶 第九杯"
    assert len(ranked) == 11
    assert all(score > 0 for _, score in await events_with(ledger.corpora, ["杯"], ReadFilter(GROUP), 20))


@pytest.mark.parametrize("query", ["乌龙", "茶", "ＣＯＦＦＥＥ", "阿棠", "2026-03-04", "3月4日", "漏雨"])
async def test_an_event_is_found_by_text_speaker_date_and_detail(ledger: Ledger, query: str) -> None:
    """An event is found by a single character of its text, its speaker, its date or its details."""
    event = an_event("乌龙茶配coffee", sender_name="阿棠", pain="漏雨", kind="experience")
    await committed(ledger, event)
    assert await found(ledger, query, GROUP) == [event.text]


async def test_a_narrow_reading_is_filled_however_many_better_matches_lie_outside(ledger: Ledger) -> None:
    """A narrow search returns the best matches inside it, however many better ones lie outside."""
    outside = [an_event("乌龙茶" * 5, sender_id=f"3{number}", kind="event") for number in range(60)]
    inside = [an_event(f"乌龙茶 里面{number}", sender_id="2000002", kind="knowledge") for number in range(3)]
    await committed(ledger, *outside, *inside)
    wanted = {event.text for event in inside}
    assert set(await found(ledger, "乌龙茶", ReadFilter(GROUP, user_id="2000002"), 3)) == wanted
    assert set(await found(ledger, "乌龙茶", ReadFilter(GROUP, kinds=("knowledge",)), 5)) == wanted
    others = frozenset(event.sender_id for event in outside)
    assert set(await found(ledger, "乌龙茶", ReadFilter(GROUP, without=others), 5)) == wanted


async def test_lines_that_may_not_be_read_take_no_place_beside_a_line(ledger: Ledger) -> None:
    """Beside a line stand the nearest two that may be read, however many others lie between, within the session."""
    others = [a_message("别人说", Scene.group(GROUP.group_id, "2000002"), later(minutes=at)) for at in range(1, 6)]
    asked, near, far = (
        a_message(text, GROUP, later(minutes=at)) for text, at in (("陶艺", 0), ("好", 6), ("晚了", 50))
    )
    await ledger.log.append([asked, *others, near, far])
    read_filter = ReadFilter(GROUP, without=frozenset({"2000002"}))
    search = LineSearch(Query("", ("陶艺",)), read_filter, 1, later(days=1), Reach(9, 0))
    [found] = (await ledger.database.read(ledger.corpora.found_lines, search)).lines
    await ledger.database.read(ledger.corpora.surround, [found], read_filter)
    assert [line.text for line in found.after] == ["好"]
