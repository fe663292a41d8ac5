"""The contract of Eraser: a forgotten event's lines are hidden until it is restored or erased for good."""

from __future__ import annotations

from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.text.terms import query_terms
from tests.support.beliefs import a_belief, begun
from tests.support.builders import GROUP, OPERATOR, a_message, an_event
from tests.support.clock import NOON
from tests.support.ledgers import Ledger, archived, committed, later
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
    talk = await ledger.log.around([OTHER], ReadFilter(GROUP), 5)
    rows = [row for row in await archived(ledger) if isinstance(row, Message)]
    lines = (*(line for line, _ in found), *talk, *rows)
    recent = await ledger.log.recent(GROUP.scope, 9)
    by_id = await ledger.log.find(GROUP.scope, [line.id for line in LINES])
    return {line.id for line in (*lines, *recent, *by_id, *await ledger.log.shown(LINES))}


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


async def test_a_long_line_that_tells_it_at_the_end_is_hidden_too(ledger: Ledger) -> None:
    """A line of the bot is hidden although only its end, whose terms are not stored, tells the forgotten event."""
    filler = "".join(f"第{number}件事办完。" for number in range(100))
    await ledger.log.append([a_message(f"{filler}阿棠要搬去上海啦", id="b-2", sent_at=later(minutes=3), is_bot=True)])
    assert "b-2" not in {line.id for line in await told(ledger)}


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


async def test_what_is_erased_supports_no_belief(ledger: Ledger) -> None:
    """A belief keeps the lines of a forgotten event while it can be restored, and loses them when it is erased."""
    await told(ledger)
    both, alone = a_belief("多去上海", message_ids=("m-1", "m-2")), a_belief("搬去上海", "b2", message_ids=("m-1",))
    await ledger.beliefs.commit([begun(both), begun(alone)])
    assert (await ledger.beliefs.page(GROUP.scope, "active", 9)).total == 2
    await ledger.eraser.erase([MOVING.id], later(days=31))
    assert [one.message_ids for one in (await ledger.beliefs.page(GROUP.scope, "active", 9)).beliefs] == [("m-2",)]
    assert [one.id for one in (await ledger.beliefs.page(GROUP.scope, "deprecated", 9)).beliefs] == ["b2"]
