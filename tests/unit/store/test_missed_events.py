"""Tests of recall failures that an operator noted."""

from __future__ import annotations

from dataclasses import replace

from cognitive_memory_core.domain.event import MissedEvent
from tests.support.builders import GROUP, OTHER_GROUP, a_draft, an_event
from tests.support.clock import NOON
from tests.support.ledgers import Ledger, later

TEA = an_event("阿棠爱喝茶", GROUP, id="tea", sender_id="2000001")
CASE = MissedEvent("1", GROUP.scope, "2000002", "豆沙问阿棠喝什么", "tea", NOON)


async def test_cases_are_kept_once_with_their_event(ledger: Ledger) -> None:
    """A case of a stored event is kept once and read with that event's text, the latest first; it can be dropped."""
    await ledger.events.commit(a_draft(TEA))
    later_case = replace(CASE, id="2", text="再问", noted_at=later(hours=1))
    for case in (CASE, replace(CASE, text="别的"), later_case, replace(CASE, id="3", event_id="unknown")):
        await ledger.quality.note_missed(case)
    wanted = [replace(one, wanted=TEA.text) for one in (later_case, CASE)]
    assert await ledger.quality.missed("default", 9) == wanted == await ledger.quality.missed(None, 9)
    assert await ledger.quality.missed("default", 1, 1) == wanted[1:]
    assert await ledger.quality.missed("another", 9) == []
    await ledger.quality.drop_missed("2")
    await ledger.quality.drop_missed("2")
    assert await ledger.quality.missed("default", 9) == wanted[1:]
    assert await ledger.quality.recalled("tea") == (0, None)


async def test_a_case_goes_with_its_asker_its_place_and_its_event(ledger: Ledger) -> None:
    """Erasing the asker, the place or the event's speaker erases the case; others in its text are hidden."""
    other = an_event("去爬山", OTHER_GROUP, id="hill", sender_id="2000003")
    await ledger.events.commit(a_draft(TEA, other))
    for number, case in enumerate((CASE, replace(CASE, user_id="2000009"), replace(CASE, scope=OTHER_GROUP.scope))):
        await ledger.quality.note_missed(replace(case, id=str(number), text=f"2000007 问 {number}"))
    await ledger.quality.note_missed(replace(CASE, id="4", scope=OTHER_GROUP.scope, user_id="2000009", event_id="hill"))
    await ledger.eraser.forget_person("2000002", NOON, lambda text: text)
    assert [one.id for one in await ledger.quality.missed(None, 9)] == ["4", "1"]
    await ledger.eraser.forget_person("2000007", NOON, lambda text: text.replace("2000007", "某位成员"))
    assert [one.text for one in await ledger.quality.missed(None, 9)][1:] == ["某位成员 问 1"]
    await ledger.eraser.forget_place(OTHER_GROUP.scope, NOON)
    assert [one.id for one in await ledger.quality.missed(None, 9)] == ["1"]
    await ledger.eraser.forget_person("2000001", NOON, lambda text: text)
    assert await ledger.quality.missed(None, 9) == []


async def test_a_forgotten_event_is_not_quoted_by_a_case(ledger: Ledger) -> None:
    """A case of an event that was forgotten is left out until the event is restored."""
    await ledger.events.commit(a_draft(TEA))
    await ledger.quality.note_missed(CASE)
    await ledger.eraser.forget("tea", NOON)
    assert await ledger.quality.missed(None, 9) == []
    assert await ledger.events.restore("tea")
    assert [one.wanted for one in await ledger.quality.missed(None, 9)] == [TEA.text]


async def test_cases_without_people(ledger: Ledger) -> None:
    """A case is left out for whoever asked it, said its event, or is spoken of in it; pages are cut after that."""
    about = an_event("阿棠请豆沙喝茶", GROUP, id="about", sender_id="2000003", subjects=("2000004",))
    await ledger.events.commit(a_draft(TEA, about))
    await ledger.quality.note_missed(CASE)
    await ledger.quality.note_missed(replace(CASE, id="2", event_id="about"))
    for without, left in (
        ((), ["2", "1"]),
        (("2000001",), ["2"]),
        (("2000002",), []),
        (("2000003", "2000009"), ["1"]),
        (("2000004",), ["1"]),
    ):
        for agent in ("default", None):
            assert [one.id for one in await ledger.quality.missed(agent, 9, without=without)] == left
    assert [one.id for one in await ledger.quality.missed("default", 1, without=("2000004",))] == ["1"]
