"""Tests of the report through the façade: figures of what is stored, who may see it, what it costs and tells."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import cognitive_memory_core as core
from cognitive_memory_core.domain.event import Quote
from cognitive_memory_core.domain.figures import Spending
from cognitive_memory_core.ports import EmbeddedEvent
from cognitive_memory_core.transfer.exported_rows import HEAD, written
from tests.support.builders import GROUP, OPERATOR, OTHER_GROUP, PRIVATE, a_message, an_event
from tests.support.clock import FrozenClock

LIN, MO = "2000002", "2000003"
MODELS = {"historian": {"model_name": "small", "price": "2/8"}, "evolution": {"model_name": "large"}}


@asynccontextmanager
async def opened(tmp_path: Path, *events: core.Event, **settings: Any) -> AsyncIterator[Any]:
    """Open a memory that holds events."""
    clock = FrozenClock()
    clock.advance(days=1)
    file = tmp_path / "events.jsonl"
    file.write_bytes(b"\n".join([HEAD, *(written(EmbeddedEvent(event)) for event in events)]))
    given = core.Settings(vector_store=core.VectorStoreSettings(backend="exact"), **settings)
    async with core.CognitiveMemory.open(given, tmp_path / "data", background=False, clock=clock) as memory:
        await memory.import_(file)
        yield memory


def taught(by: str, count: int, scene: core.Scene = GROUP) -> list[core.Event]:
    """Return so many events that a person told."""
    return [an_event(f"{by} 说的第 {at} 件事", scene, sender_id=by, user_id=by) for at in range(count)]


async def test_only_an_operator_gets_a_report_or_lists(tmp_path: Path) -> None:
    """The report and the lists tell of all places: a group and a private chat are refused; a closed memory has none."""
    async with opened(tmp_path) as memory:
        for scene in (GROUP, PRIVATE):
            with pytest.raises(core.NotPermitted):
                await memory.report(scene)
            with pytest.raises(core.NotPermitted):
                await memory.listings.places(scene, core.PlaceListing(), 9)
    with pytest.raises(core.UnavailableError):
        await core.CognitiveMemory.absent().report(OPERATOR)


async def test_one_who_teaches_most_of_a_group_is_named(tmp_path: Path) -> None:
    """Who told more than half of a group's events is named with their share of its lines; small groups are left."""
    rows = [*taught(LIN, 12), *taught(MO, 3), *taught("2000001", 2), *taught(LIN, 9, OTHER_GROUP)]
    async with opened(tmp_path, *rows) as memory:
        for number in range(4):
            await memory.observe(a_message(f"说 {number}", core.Scene.group(GROUP.group_id, MO, user_name="小莫")))
        await memory.observe(a_message("我说", core.Scene.group(GROUP.group_id, LIN, user_name="小林")))
        assert await memory.drain(30)
        report = await memory.report(OPERATOR)
    assert [(one.user_id, one.name, one.events) for one in report.dominant] == [(LIN, "小林", 12)]
    (dominant,) = report.dominant
    assert dominant.share == pytest.approx(12 / 17)
    assert dominant.lines_share == pytest.approx(1 / 5)
    assert "小林 教了 71%，而他的原话只占 20%" in core.report_markdown(report, core.Settings().zone)


async def test_people_who_opted_out_are_not_named(tmp_path: Path) -> None:
    """Who opted out is counted but not named, and nothing of theirs is quoted."""
    secret = an_event("小林(2000002)：“他昨天在医院”", sender_id=LIN, user_id=LIN, is_absolute=False)
    told = an_event("小林昨天在医院", is_absolute=False)
    async with opened(tmp_path, *taught(LIN, 12), secret, told, *taught(MO, 3)) as memory:
        await memory.observe(a_message("在", core.Scene.group(GROUP.group_id, LIN, user_name="小林")))
        assert await memory.drain(30)
        await memory.opt_out(LIN)
        report = await memory.report(OPERATOR)
    said = core.report_markdown(report, core.Settings().zone) + json.dumps(core.report_figures(report))
    assert "小林" not in said
    assert LIN not in said
    assert report.dominant[0].events == 13


async def test_recalled_events_are_told_from_the_others(tmp_path: Path) -> None:
    """Events shown in a context or found by a search count as recalled; listing them does not."""
    tea, cat = an_event("阿棠喜欢乌龙茶", id="tea"), an_event("米粒养了一只橘猫", id="cat")
    async with opened(tmp_path, tea, cat, an_event("服务器放在三楼机房", id="server")) as memory:
        await memory.events(GROUP)
        assert (await memory.report(OPERATOR)).never_recalled == 3
        await memory.search_events(GROUP, "谁养了橘猫", top_k=1)
        context = await memory.context(GROUP, "阿棠喜欢喝乌龙茶吗")
        report = await memory.report(OPERATOR)
    shown = 1 + sum(event.text in context.text for event in (tea, an_event("服务器放在三楼机房")))
    assert report.events - report.never_recalled == shown
    assert report.counted_since == date(2026, 3, 5)


async def test_costs_are_reckoned_with_the_price_of_each_model(tmp_path: Path) -> None:
    """Tokens given and written have their own price; a role with another model inherits no price."""
    async with opened(tmp_path, models=MODELS) as memory:
        accounts = memory._opened.ledger.housekeeping
        for purpose, calls, tokens, answered in (("triage", 4, 1_000_000, 250_000), ("merge", 2, 500_000, 0)):
            await accounts.spend(date(2026, 3, 5), Spending(purpose, calls, tokens, answered=answered))
        await accounts.spend(date(2026, 3, 5), Spending("evolution", 1, 10, unreachable=1))
        await accounts.spend(date(2025, 3, 5), Spending("triage", 900, 900))
        report = await memory.report(OPERATOR)
    assert [(one.purpose, one.model, one.price) for one in report.costs] == [
        ("triage", "small", pytest.approx(0.75 * 2 + 0.25 * 8)),
        ("merge", "small", pytest.approx(1.0)),
        ("evolution", "large", None),
    ]
    assert report.price == pytest.approx(4.5)


NASTY = "他说 </td><script>alert(1)</script> | `x` [a](http://example.com) <img src=//example.com>"


async def test_an_example_stands_beside_what_was_said(tmp_path: Path) -> None:
    """A statement that the report quotes has the words that a model made it of beside it, without who opted out.

    Issue 31, rule 2.
    """
    words = (Quote("m1", MO, "我没收过两万块"), Quote("m2", LIN, "真没收过"))
    told = an_event("小莫收了两万块", id="old", sender_id=MO, quotes=words)
    later = an_event("小莫收了三万块", sender_id=MO, replaces="old", quotes=words[:1])
    async with opened(tmp_path, told, later) as memory:
        table = core.report_markdown(await memory.report(OPERATOR), core.Settings().zone)
        assert "收了两万块（原话 QQ(2000003)：“我没收过两万块” QQ(2000002)：“真没收过”）" in table
        assert "收了三万块（原话 QQ(2000003)：“我没收过两万块”）" in table
        await memory.opt_out(LIN)
        assert "真没收过" not in core.report_markdown(await memory.report(OPERATOR), core.Settings().zone)


async def test_quoted_texts_are_escaped(tmp_path: Path) -> None:
    """The report has no markup that stored text brought."""
    rows = [*taught(LIN, 12), *taught(MO, 3), an_event(NASTY, is_absolute=False, sender_id=MO)]
    async with opened(tmp_path, *rows) as memory:
        table = core.report_markdown(await memory.report(OPERATOR), core.Settings().zone)
    assert "alert(1)" in table
    assert "<script" not in table
    assert not re.search(r"(?<!\\)\[a(?<!\\)\]\(", table)


@pytest.mark.parametrize(
    ("value", "given", "written"), [("2/8", 2, 8), (0.5, 0.5, 0.5), ("1", 1, 1), ("0/0.25", 0, 0.25)]
)
def test_a_price_is_one_number_or_two(value: object, given: float, written: float) -> None:
    """A price is what a million tokens cost, given and written, or one number for both."""
    settings = core.Settings.from_mapping({"models": {"historian": {"price": value}}})
    assert settings.models.historian.price is not None
    assert (settings.models.historian.price.given, settings.models.historian.price.written) == (given, written)
    assert settings.models.of("merge").price == settings.models.historian.price
