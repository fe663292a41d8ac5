"""The contract of Archive."""

from __future__ import annotations

from cognitive_memory_core.domain.consent import OptOut, PlaceSwitch, Shared
from cognitive_memory_core.domain.people import Alias
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.ports import EmbeddedEvent
from cognitive_memory_core.store.archive import ArchiveRow
from tests.support.builders import GROUP, OPERATOR, PRIVATE, a_message, an_event
from tests.support.clock import NOON
from tests.support.ledgers import (
    MODEL,
    Ledger,
    a_memo,
    a_pin,
    a_vector,
    archived,
    committed,
    later,
    shown,
)

EMBEDDED = EmbeddedEvent(an_event("乌龙茶", subjects=("2000001",), message_ids=("m-1",)), MODEL, a_vector(1, 0))
ROWS: list[ArchiveRow] = [
    OptOut("2000009", NOON),
    Shared("2000001", later(hours=2)),
    PlaceSwitch(GROUP.scope, "off", later(hours=3)),
    PlaceSwitch(PRIVATE.scope, "record_only"),
    Alias(GROUP.scope, "2000001", "阿棠", NOON, later(hours=1)),
    EMBEDDED,
    EmbeddedEvent(an_event("红茶", PRIVATE)),
    a_message("乌龙茶真香", reply_to="m0"),
    a_message("机器人说", is_bot=True),
    a_memo(user_id="2000001"),
    a_pin(owner_id="2000001"),
]


async def test_what_is_absorbed_is_streamed_again(ledger: Ledger) -> None:
    """Rows that were imported are exported unchanged, vectors included, with consent rows first."""
    assert await ledger.archive.import_rows(ROWS) == len(ROWS)
    rows = await archived(ledger)
    assert rows[:4] == ROWS[:4]
    assert sorted(rows, key=repr) == sorted(ROWS, key=repr)


async def test_nobody_who_opted_out_is_absorbed(ledger: Ledger) -> None:
    """An opt-out excludes all rows of and about that person, even if it comes after them in the same batch."""
    theirs = Scene.group("10001", "2000009")
    rows: list[ArchiveRow] = [
        EmbeddedEvent(an_event("他说", theirs)),
        EmbeddedEvent(an_event("说他", subjects=("2000009",))),
        a_message("他说", theirs),
        a_message("对他说", theirs, is_bot=True),
        a_memo(user_id="2000009"),
        EmbeddedEvent(an_event("在他那里", Scene.private("2000009"), sender_id="")),
        a_memo(scene=Scene.private("2000009"), user_id=""),
        a_pin(owner_id="2000009"),
        Alias(GROUP.scope, "2000009", "他", NOON, NOON),
        Shared("2000009", NOON),
        PlaceSwitch(Scene.private("2000009").scope, "off"),
        OptOut("2000009", NOON),
    ]
    assert await ledger.archive.import_rows(rows) == 1
    assert await archived(ledger) == [OptOut("2000009", NOON)]


async def test_what_was_retired_or_withdrawn_here_does_not_come_back(ledger: Ledger) -> None:
    """An import does not bring back a retired event or a withdrawn message."""
    forgotten = an_event("忘掉", message_ids=("m-9",))
    await committed(ledger, forgotten)
    await ledger.eraser.forget(forgotten.id, NOON)
    await ledger.log.withdraw(GROUP.scope, "m-1", NOON)
    withdrawn = a_message("撤回", id="m-1")
    assert await ledger.archive.import_rows([EmbeddedEvent(forgotten), EMBEDDED, withdrawn]) == 1
    assert await shown(ledger, OPERATOR) == []
    assert await archived(ledger) == []


async def test_a_stream_longer_than_a_page_is_whole_while_others_write(ledger: Ledger) -> None:
    """An export gives every row that existed at its start exactly once, while events are added and removed."""
    events = [an_event(f"第{number}件") for number in range(1234)]
    await committed(ledger, *events)
    seen: list[str] = []
    async for page in ledger.archive.pages():
        if not seen:
            await committed(ledger, an_event("后来的"))
        seen += [row.event.id for row in page]
    assert seen[:1234] == [event.id for event in events]
    assert len(seen) in (1234, 1235)
