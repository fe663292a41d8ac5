"""The contract of EventLedger."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from tests.support.builders import GROUP, OPERATOR, OTHER_GROUP, PRIVATE, a_draft, an_event
from tests.support.clock import NOON
from tests.support.ledgers import Ledger, committed, later, shown


async def test_a_job_is_written_once(ledger: Ledger) -> None:
    """Committing a job a second time changes nothing, even if its events differ."""
    draft = a_draft(an_event("甲"), job_id="job")
    assert not await ledger.events.done("job")
    await ledger.events.commit(draft)
    await ledger.events.commit(draft)
    await ledger.events.commit(a_draft(an_event("乙"), job_id="job"))
    assert await ledger.events.done("job")
    assert await shown(ledger, GROUP) == ["甲"]
    assert [event.count for event in await ledger.events.recent(ReadFilter(GROUP), 9)] == [1]


@pytest.mark.parametrize(
    "other",
    [
        an_event("阿棠(2000001) 不喜欢乌龙茶"),
        an_event(sender_id="2000002"),
        an_event(scene=OTHER_GROUP),
        an_event(scene=PRIVATE),
        an_event(scene=Scene.group("10001", "2000001", agent="another")),
    ],
    ids=["another text", "another speaker", "another group", "in private", "another agent"],
)
async def test_only_the_same_statement_of_the_same_person_in_the_same_place_is_a_duplicate(
    ledger: Ledger, other: object
) -> None:
    """A negation, or another speaker, place or agent, makes a separate event."""
    event = an_event()
    await committed(ledger, event, other)
    assert [(await ledger.events.find(one.id)).count for one in (event, other)] == [1, 1]


async def test_an_event_of_withdrawn_messages_alone_comes_in_retired(ledger: Ledger) -> None:
    """An event whose messages were all withdrawn before it was written is stored as retired."""
    await ledger.log.withdraw(GROUP.scope, "m-1", NOON)
    await ledger.log.withdraw(GROUP.scope, "m-2", later(minutes=1))
    gone, half, elsewhere = (
        an_event("甲", message_ids=("m-1", "m-2")),
        an_event("乙", message_ids=("m-1", "m-3")),
        an_event("丙", OTHER_GROUP, message_ids=("m-1",)),
    )
    await committed(ledger, gone, half, elsewhere)
    assert await shown(ledger, OPERATOR) == ["丙", "乙"]
    assert (await ledger.events.find(gone.id)).retired_at == later(minutes=1)


async def test_an_echo_keeps_an_event_standing_when_the_first_message_goes(ledger: Ledger) -> None:
    """An event has the messages of all its repetitions and is retired with the last of them."""
    await committed(ledger, an_event("甲", message_ids=("m-1",)), an_event("甲", message_ids=("m-2",)))
    assert await ledger.log.withdraw(GROUP.scope, "m-1", NOON) == 0
    assert await shown(ledger, GROUP) == ["甲"]
    assert await ledger.log.withdraw(GROUP.scope, "m-2", NOON) == 1
    assert await shown(ledger, GROUP) == []


async def test_events_are_found_by_the_lines_that_they_were_made_of(ledger: Ledger) -> None:
    """Events are found by their source messages, once each, in the same scope, if they are current and readable."""
    tea, trip = an_event("喜欢茶", message_ids=("m-1", "m-2")), an_event("去黄山", message_ids=("m-3",))
    elsewhere = an_event("别处的茶", OTHER_GROUP, message_ids=("m-1",))
    await committed(ledger, tea, trip, elsewhere)
    here, there = GROUP.scope, OTHER_GROUP.scope
    made_of = ledger.events.made_of
    assert await made_of([(here, "m-1"), (here, "m-2")], ReadFilter(GROUP)) == [tea]
    assert await made_of([(here, "m-9"), (there, "m-3")], ReadFilter(OPERATOR)) == []
    assert await made_of([], ReadFilter(OPERATOR)) == []
    both = await made_of([(here, "m-3"), (there, "m-1")], ReadFilter(OPERATOR))
    assert sorted(event.text for event in both) == ["别处的茶", "去黄山"]
    assert await made_of([(there, "m-1")], ReadFilter(GROUP)) == []
    await ledger.eraser.forget(trip.id, NOON)
    assert await made_of([(here, "m-3")], ReadFilter(GROUP)) == []


async def test_what_was_withdrawn_cannot_be_restored(ledger: Ledger) -> None:
    """An event cannot be restored if all its messages were withdrawn; one remaining message is enough."""
    gone, half = an_event("甲", message_ids=("m-1", "m-2")), an_event("乙", message_ids=("m-2", "m-3"))
    forgotten = an_event("丙", message_ids=("m-1",))
    await committed(ledger, gone, half, forgotten)
    await ledger.eraser.forget(half.id, NOON)
    await ledger.eraser.forget(forgotten.id, NOON)
    for number in (1, 2):
        await ledger.log.withdraw(GROUP.scope, f"m-{number}", NOON)
    await ledger.log.prune(later(days=1))
    assert await ledger.events.restore(gone.id) is None
    assert await ledger.events.restore(forgotten.id) is None
    assert await ledger.events.restore(half.id) == half
    assert await shown(ledger, GROUP) == ["乙"]


async def test_the_same_messages_count_once(ledger: Ledger) -> None:
    """The same messages considered again do not raise the count; a new message does."""
    await committed(ledger, an_event("甲", message_ids=("m-1", "m-2")))
    await committed(ledger, an_event("甲。", message_ids=("m-1",)), an_event("甲", message_ids=("m-2", "m-1")))
    (event,) = await ledger.events.recent(ReadFilter(GROUP), 9)
    assert (event.count, event.message_ids) == (1, ("m-1", "m-2"))
    await committed(ledger, an_event("甲", message_ids=("m-2", "m-3")))
    (event,) = await ledger.events.recent(ReadFilter(GROUP), 9)
    assert (event.count, event.message_ids) == (2, ("m-1", "m-2", "m-3"))


@pytest.mark.parametrize("order", [1, -1], ids=["message first", "message last"])
async def test_what_was_said_without_a_message_falls_with_none(ledger: Ledger, order: int) -> None:
    """A statement without a message is not retired by withdrawals of its repetitions, in whatever order they arrive."""
    sourced, independent = an_event("甲", message_ids=("m-1", "m-2")), an_event("甲")
    await committed(ledger, *(sourced, independent)[::order])
    await committed(ledger, an_event("甲", message_ids=("m-3",)), an_event("甲", message_ids=("m-1",)))
    for number in (1, 2, 3):
        assert await ledger.log.withdraw(GROUP.scope, f"m-{number}", NOON) == 0
    (event,) = await ledger.events.recent(ReadFilter(GROUP), 9)
    assert (event.count, event.message_ids) == (3, ())
    await ledger.eraser.forget(event.id, NOON)
    assert await ledger.events.restore(event.id) == event


async def test_a_message_that_was_withdrawn_is_not_counted_again(ledger: Ledger) -> None:
    """A withdrawn message is not counted again by its event, even after the withdrawal mark is pruned."""
    half, gone = an_event("甲", message_ids=("m-1", "m-2")), an_event("乙", message_ids=("m-1",))
    await committed(ledger, half, gone)
    await ledger.log.withdraw(GROUP.scope, "m-1", NOON)
    await committed(ledger, replace(gone, id="again"))
    await ledger.log.prune(later(days=1))
    await committed(ledger, replace(half, id="half again"), replace(gone, id="once more"))
    (event,) = await ledger.events.recent(ReadFilter(GROUP), 9)
    assert (event.id, event.count) == (half.id, 1)
    assert (await ledger.archive.totals()).retired == 1


async def test_a_correction_that_is_not_written_retires_nothing(ledger: Ledger) -> None:
    """The old event is kept if the corrected one cannot be stored, here because its person opted out."""
    old = an_event("群里的规矩是周末不讨论工作", sender_id="2000009")
    await committed(ledger, old)
    await ledger.consent.opt_out("2000001", NOON)
    await ledger.events.commit(replace(a_draft(an_event("阿棠(2000001) 定的规矩")), corrects=old.id))
    assert await shown(ledger, GROUP) == [old.text]
