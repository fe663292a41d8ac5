"""The contract of Eraser: a forgotten event's lines are hidden until it is restored or erased for good."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.read_filter import ReadFilter
from cognitive_memory_core.ports.vectors import EmbeddedEvent
from cognitive_memory_core.store.erasure.eraser import ErasedRows
from cognitive_memory_core.text.terms import query_terms
from tests.support.beliefs import a_belief, begun
from tests.support.builders import GROUP, OPERATOR, PRIVATE, a_draft, a_message, an_event
from tests.support.clock import NOON
from tests.support.ledgers import Ledger, a_fact, archived, committed, later
from tests.support.lines import lines_with

SOURCE = a_message("我要搬去上海", id="m-1")
RECITAL = a_message("阿棠要搬去上海啦", id="b-1", sent_at=later(minutes=1), is_bot=True)
OTHER = a_message("上海今天下雨", id="m-2", sent_at=later(minutes=2))
LINES = (SOURCE, RECITAL, OTHER)
MOVING = an_event("阿棠(2000001) 要搬去上海", message_ids=("m-1",))


async def told(ledger: Ledger) -> list[Message]:
    """Write lines and an event, then forget the event."""
    await ledger.log.append(LINES)
    await committed(ledger, MOVING)
    await ledger.eraser.forget(MOVING.id, NOON)
    return await ledger.log.recent(GROUP.scope, 9)


async def seen(ledger: Ledger) -> set[str]:
    """Return the ids of the lines that any port shows."""
    found = await lines_with(ledger.corpora, query_terms("搬去上海"), ReadFilter(OPERATOR), 9)
    passages = await ledger.log.around([OTHER], ReadFilter(GROUP), 5)
    rows = [row for row in await archived(ledger) if isinstance(row, Message)]
    lines = (*(line for line, _ in found), *(line for passage in passages for line in passage), *rows)
    recent = await ledger.log.recent(GROUP.scope, 9)
    by_id = await ledger.log.find(GROUP.scope, [line.id for line in LINES])
    return {line.id for line in (*lines, *recent, *by_id, *await ledger.log.shown(LINES))}


async def test_lines_are_hidden_until_it_is_restored(ledger: Ledger) -> None:
    """Lines that tell a forgotten event are hidden by every port until the event is restored."""
    assert await told(ledger) == [OTHER]
    assert await seen(ledger) == {"m-2"}
    assert await ledger.events.restore(MOVING.id) == MOVING
    assert await seen(ledger) == {"m-1", "b-1", "m-2"}


async def test_a_line_that_two_events_hide_waits_for_both(ledger: Ledger) -> None:
    """A line hidden by two events is shown only after both are restored."""
    flat = an_event("阿棠(2000001) 在找房子", message_ids=("m-1",))
    await committed(ledger, flat)
    await told(ledger)
    await ledger.eraser.forget(flat.id, NOON)
    await ledger.events.restore(MOVING.id)
    assert await seen(ledger) == {"b-1", "m-2"}
    await ledger.events.restore(flat.id)
    assert await seen(ledger) == {"m-1", "b-1", "m-2"}


async def test_lines_that_come_later_are_hidden_too(ledger: Ledger) -> None:
    """Lines that arrive after an event was forgotten are hidden too, unless an equal event is active."""
    await committed(ledger, MOVING)
    await ledger.eraser.forget(MOVING.id, NOON)
    assert await ledger.log.shown(LINES) == [OTHER]
    await ledger.log.append(LINES)
    assert await seen(ledger) == {"m-2"}
    again = an_event(MOVING.text, message_ids=("m-9",))
    await committed(ledger, again)
    late = replace(RECITAL, id="b-2", sent_at=later(minutes=9))
    await ledger.log.append([late])
    assert [line.id for line in await ledger.log.recent(GROUP.scope, 9)] == ["m-2", "b-2"]


async def test_an_equal_event_that_stands_shows_the_lines_again(ledger: Ledger) -> None:
    """If an equal event is active, restoring returns that one, and the hidden lines are shown."""
    await told(ledger)
    again = an_event(MOVING.text, message_ids=("m-9",))
    await committed(ledger, again)
    assert await ledger.events.restore(MOVING.id) == again
    assert await seen(ledger) == {"m-1", "b-1", "m-2"}
    assert await ledger.eraser.unrepeatable() == []


async def test_what_may_not_be_told_is_what_was_forgotten_or_withdrawn(ledger: Ledger) -> None:
    """Events that may not be told are those forgotten or withdrawn, not those retired for another reason."""
    withdrawn, retired, stands = (an_event(f"第{n}件", message_ids=(f"w-{n}",)) for n in range(3))
    await committed(ledger, withdrawn, retired, stands)
    await told(ledger)
    await ledger.log.withdraw(GROUP.scope, "w-0", later(minutes=5))
    await ledger.eraser.forget(retired.id, NOON, "correction")
    assert {event.id for event in await ledger.eraser.unrepeatable()} == {MOVING.id, withdrawn.id}
    expired = await ledger.eraser.expired(later(minutes=1))
    assert {event.id for event in expired} == {MOVING.id, retired.id, withdrawn.id}  # the last needs no 30 days


async def test_a_corrected_event_is_erased_with_its_lines(ledger: Ledger) -> None:
    """Erasing an event that a correction retired erases the lines that it came from, and no other."""
    await ledger.log.append([a_message("我要搬去上海了", id="m-1"), a_message("养猫", id="m-2")])
    await committed(ledger, MOVING)
    new = replace(MOVING, id="new", text="阿棠(2000001) 要搬去厦门")
    await ledger.events.commit(replace(a_draft(new), corrects=MOVING.id))
    wiped = await ledger.eraser.erase([MOVING.id], later(days=31))
    assert wiped == ErasedRows(events=1, messages=1, event_ids=(MOVING.id,))
    assert [one.id for one in await ledger.log.recent(GROUP.scope, 9)] == ["m-2"]
    assert await ledger.events.find("new") == new


async def test_what_is_erased_is_gone_with_its_lines_and_stays_out(ledger: Ledger) -> None:
    """Erasing a forgotten event removes it with its facts and hidden lines, and nothing brings it back."""
    await told(ledger)
    fact = a_fact(MOVING)
    stands = an_event("养猫")
    await ledger.events.commit(replace(a_draft(stands), facts=(a_fact(stands),)))
    wiped = await ledger.eraser.erase([MOVING.id, stands.id, "nobody"], later(days=31))
    assert wiped == ErasedRows(events=1, messages=2, event_ids=(MOVING.id,))
    assert (await ledger.eraser.purge_due()).erased_at == later(days=31)
    assert await ledger.events.find(MOVING.id) is None
    assert await ledger.events.find(stands.id) == stands
    await ledger.log.append(LINES)
    await ledger.events.commit(replace(a_draft(MOVING), facts=(fact,)))
    await ledger.archive.import_rows([EmbeddedEvent(MOVING), *LINES])
    assert await seen(ledger) == {"m-2"}
    assert await ledger.events.find(MOVING.id) is None
    assert await ledger.eraser.expired(later(days=99)) == []


@pytest.mark.parametrize("is_purged", [True, False])
async def test_erasing_nothing_is_due_for_no_purge(ledger: Ledger, is_purged: bool) -> None:
    """If nothing was erased, no purge becomes due."""
    if is_purged:
        await ledger.eraser.purge(NOON)
    await ledger.eraser.forget("nobody", NOON)
    assert await ledger.eraser.erase(["nobody"], NOON) == ErasedRows()
    assert (await ledger.eraser.purge_due()).erased_at is None


async def test_what_a_person_forgot_is_listed(ledger: Ledger) -> None:
    """What a person said and had forgotten is listed with the latest first, until it is restored or erased."""
    other = an_event("豆沙(2000002) 怕猫", sender_id="2000002", user_id="2000002")
    private = an_event("阿棠(2000001) 打算辞职", PRIVATE, sender_id="")
    events = {"moving": MOVING, "tea": an_event(), "private": private, "other": other, "admin": an_event("怕鹅")}
    for event in events.values():
        await committed(ledger, event)
    for minutes, name in enumerate(("tea", "moving", "other", "private")):
        await ledger.eraser.forget(events[name].id, later(minutes=minutes))
    await ledger.eraser.forget(events["admin"].id, later(minutes=9), "other")

    async def listed(since: float = 0) -> list[str]:
        found = await ledger.eraser.forgotten(MOVING.sender_id, later(minutes=since))
        assert all(event.retired_at is not None for event in found)
        return [next(name for name, one in events.items() if one.id == event.id) for event in found]

    assert await listed() == ["private", "moving", "tea"]
    assert await listed(since=1) == ["private", "moving"]
    await ledger.events.restore(MOVING.id)
    await ledger.eraser.erase([events["tea"].id], later(days=31))
    assert await listed() == ["private"]


async def test_what_was_corrected_or_withdrawn_is_not_listed(ledger: Ledger) -> None:
    """Events that a correction retired, and those all of whose messages were withdrawn, are left out."""
    await ledger.log.append(LINES)
    await committed(ledger, MOVING)
    await ledger.eraser.forget(MOVING.id, NOON)
    await ledger.log.withdraw(GROUP.scope, "m-1", later(minutes=1))
    tea = an_event()
    await committed(ledger, tea)
    await ledger.eraser.forget(tea.id, NOON, "correction")
    assert await ledger.eraser.forgotten(MOVING.sender_id, NOON) == []


async def test_what_is_erased_supports_no_belief(ledger: Ledger) -> None:
    """A belief keeps the lines of a forgotten event while it can be restored, and loses them when it is erased."""
    await told(ledger)
    both, alone = a_belief("多去上海", message_ids=("m-1", "m-2")), a_belief("搬去上海", "b2", message_ids=("m-1",))
    await ledger.beliefs.commit([begun(both), begun(alone)])
    assert (await ledger.beliefs.page(GROUP.scope, "active", 9)).total == 2
    await ledger.eraser.erase([MOVING.id], later(days=31))
    assert [one.message_ids for one in (await ledger.beliefs.page(GROUP.scope, "active", 9)).beliefs] == [("m-2",)]
    assert [one.id for one in (await ledger.beliefs.page(GROUP.scope, "deprecated", 9)).beliefs] == ["b2"]
