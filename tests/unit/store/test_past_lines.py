"""The contract of past lines: which of them the log takes, and how the same line is recognised."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cognitive_memory_core.domain.consent import Incognito, PlaceSwitch
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.scope import Scene
from tests.support.builders import GROUP, OTHER_GROUP, a_message, an_event
from tests.support.ledgers import Ledger, committed, later

OTHER = Scene.group("10001", "2000002", user_name="小林")


async def texts(ledger: Ledger, scene: Scene = GROUP) -> list[str]:
    """Return the texts of the log of a scene's place, oldest first."""
    return [message.text for message in await ledger.log.recent(scene.scope, 1000)]


async def outcomes(ledger: Ledger, *messages: Message) -> list[str]:
    """Return what became of past lines."""
    return await ledger.log.backfill(messages)


@pytest.mark.parametrize(
    ("known", "again"),
    [
        (a_message("甲", id="m1"), a_message("乙", id="m1")),
        (a_message("甲", number="77"), a_message("甲", number="77")),
        (a_message("甲", sent_at=later(microseconds=5)), a_message("甲", number="77")),
        (a_message("甲", number="77"), a_message("甲", sent_at=later(microseconds=5))),
    ],
    ids=["id", "number", "words", "words, number known"],
)
async def test_the_same_line_twice_gives_nothing_new(ledger: Ledger, known: Message, again: Message) -> None:
    """A line is known by its id, its number, or by the same words of the same person in the same second."""
    await ledger.log.append([known])
    assert await outcomes(ledger, again) == ["known"]
    assert await texts(ledger) == [known.text]
    await ledger.log.append([again])
    if again.id == known.id or again.number == known.number:
        assert await texts(ledger) == [known.text]


@pytest.mark.parametrize(
    "another",
    [
        a_message("甲", number="78"),
        a_message("甲", OTHER),
        a_message("甲", sent_at=later(seconds=1)),
        a_message("甲", OTHER_GROUP, number="77"),
        a_message("乙", sent_at=later(seconds=3), number="77"),
        a_message("乙", OTHER, number="77"),
    ],
    ids=[
        "another number",
        "another person",
        "another second",
        "another place",
        "a number later",
        "a number of another",
    ],
)
async def test_another_line_is_taken(ledger: Ledger, another: Message) -> None:
    """A line with another number, person, second or place is another one; so is the same number later."""
    await ledger.log.append([a_message("甲", number="77")])
    assert await outcomes(ledger, another) == ["taken"]


@pytest.mark.parametrize("is_live_first", [True, False])
async def test_a_withdrawal_finds_a_line_by_either_id(ledger: Ledger, is_live_first: bool) -> None:
    """Both ids of a line are kept, so that a withdrawal by either removes it, whichever came first."""
    live, past = a_message("甲", id="m1", number="77"), a_message("甲", id="h1", number="77")
    first, second = (live, past) if is_live_first else (past, live)
    await outcomes(ledger, first)
    await (outcomes(ledger, second) if is_live_first else ledger.log.append([second]))
    await committed(ledger, an_event(message_ids=(first.id,)))
    assert await ledger.log.known_id(GROUP.scope, second.id) == first.id
    assert await ledger.log.withdraw(GROUP.scope, second.id, later(minutes=1)) == 1
    assert await texts(ledger) == []
    for line in (live, past, replace(past, id="h2"), replace(past, id="h3", number="")):
        assert await outcomes(ledger, line) == ["withdrawn"]


async def test_a_line_withdrawn_unheard_stays_out_under_every_name(ledger: Ledger) -> None:
    """A line that was withdrawn before it was known stays out by its id, and from then on under every other one."""
    line = a_message("甲", id="m1", number="77")
    await ledger.log.withdraw(GROUP.scope, "m1", later(minutes=1))
    assert await outcomes(ledger, line) == ["withdrawn"]
    assert await outcomes(ledger, replace(line, id="file-7")) == ["withdrawn"]


async def test_an_erased_line_of_a_forgotten_event_stays_out(ledger: Ledger) -> None:
    """A line that went with its forgotten event does not come back from history, under another id either."""
    line = a_message("我怕狗", id="m1", number="77")
    event = an_event("阿棠怕狗", message_ids=("m1",))
    await ledger.log.append([line])
    await committed(ledger, event)
    await ledger.eraser.forget(event.id, later(minutes=1))
    assert await outcomes(ledger, line) == ["known"]
    await ledger.eraser.erase([event.id], later(days=31))
    past = [replace(line, id="h1"), replace(line, id="h2", number=""), a_message("别的", sent_at=later(seconds=9))]
    assert await outcomes(ledger, *past) == ["withdrawn", "withdrawn", "taken"]


async def test_nothing_older_than_the_last_change_of_consent_is_taken(ledger: Ledger) -> None:
    """What was said before a person opted in again, a switch was set back, or a kept period was deleted stays out."""
    here = GROUP.scope
    await ledger.consent.opt_out("2000001", later(minutes=1))
    assert await outcomes(ledger, a_message()) == ["opted_out"]
    await ledger.consent.opt_in("2000001", later(minutes=10))
    lines = [a_message("甲", sent_at=later(minutes=at)) for at in (0, 5, 9, 10)]
    assert await outcomes(ledger, *lines) == ["unknown", "unknown", "unknown", "taken"]
    assert await outcomes(ledger, a_message("甲", OTHER)) == ["taken"]
    await ledger.consent.set_switch(PlaceSwitch(here, "record_only"), later(minutes=20))
    await ledger.consent.set_switch(PlaceSwitch(here, "off"), later(minutes=30))
    await ledger.consent.set_switch(PlaceSwitch(here), later(minutes=40))
    lines = [a_message("乙", OTHER, later(minutes=at)) for at in (5, 35, 40)]
    assert await outcomes(ledger, *lines) == ["unknown", "unknown", "taken"]
    await ledger.consent.set_switch(PlaceSwitch(here, "off", later(minutes=50)), later(minutes=45))
    assert await outcomes(ledger, a_message("丙", OTHER, later(minutes=49))) == ["unknown"]
    assert await outcomes(ledger, a_message("丙", OTHER, later(minutes=50))) == ["taken"]
    elsewhere = OTHER_GROUP.scope
    period = Incognito(elsewhere, "2000001", later(hours=1), later(hours=2))
    await ledger.consent.keep_incognito(period)
    await ledger.consent.drop_incognito(later(hours=3))
    lines = [a_message("丁", OTHER_GROUP, later(minutes=at)) for at in (59, 90, 120)]
    assert await outcomes(ledger, *lines) == ["unknown", "unknown", "taken"]
    await ledger.consent.keep_incognito(replace(period, starts_at=later(hours=4), ends_at=later(hours=5)))
    await ledger.consent.erase_incognito([replace(period, starts_at=later(hours=4))], later(hours=6))
    assert await outcomes(ledger, a_message("戊", OTHER_GROUP, later(hours=4.5))) == ["unknown"]


async def test_pruned_withdrawals_leave_nothing_older_to_be_taken(ledger: Ledger) -> None:
    """Once the record of a withdrawal is deleted, nothing of its place from before it is taken."""
    await ledger.log.withdraw(GROUP.scope, "m1", later(days=1))
    await ledger.log.prune(later(days=200))
    lines = [a_message("甲", id="m1"), a_message("乙", sent_at=later(days=2)), a_message("丙", OTHER_GROUP)]
    assert await outcomes(ledger, *lines) == ["unknown", "taken", "taken"]
