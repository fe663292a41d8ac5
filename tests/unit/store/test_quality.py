"""The contract of QualityLedger: figures of the whole ledger, and counters that accumulate."""

from __future__ import annotations

from datetime import date

from cognitive_memory_core.domain.figures import Spending
from cognitive_memory_core.domain.quality import PlaceQuality
from tests.support.builders import GROUP, OTHER_GROUP, an_event
from tests.support.clock import NOON
from tests.support.ledgers import Ledger, committed

TODAY, TOMORROW = date(2026, 3, 4), date(2026, 3, 5)
LIN = "2000002"


async def test_events_are_counted_by_place_and_kind(ledger: Ledger) -> None:
    """Active events are counted with how many are absolute and were shown; retired ones are left out."""
    tea, again = an_event("喜欢乌龙茶", id="e1"), an_event("喜欢乌龙茶", id="e2")
    vague = an_event("他去过那里", id="e3", is_absolute=False)
    known = an_event("服务器在机房", id="e4", kind="knowledge", sender_id=LIN)
    await committed(ledger, tea, vague, known, an_event("忘掉的", id="e5"), an_event("桌游", OTHER_GROUP, id="e6"))
    await committed(ledger, again)
    await ledger.eraser.forget("e5", NOON)
    await ledger.quality.tally(TODAY, {}, {"e1": 3, "gone": 1}, NOON)
    assert await ledger.quality.places(None) == [
        PlaceQuality(GROUP.scope, 0, 3, {"event": 2, "knowledge": 1}, 2, 1),
        PlaceQuality(OTHER_GROUP.scope, 0, 1, {"event": 1}, 1, 0),
    ]
    assert await ledger.quality.places("another") == []


async def test_counts_accumulate_by_day(ledger: Ledger) -> None:
    """Counts and spending add up by day and are read from a day on."""
    await ledger.quality.tally(TODAY, {"gate:time": 2, "retry": 1}, {}, NOON)
    await ledger.quality.tally(TODAY, {"gate:time": 1}, {}, NOON)
    await ledger.quality.tally(TOMORROW, {"retry": 4}, {}, NOON)
    assert await ledger.quality.tallies(TODAY) == [(TODAY, "gate:time", 3), (TODAY, "retry", 1), (TOMORROW, "retry", 4)]
    assert await ledger.quality.tallies(TOMORROW) == [(TOMORROW, "retry", 4)]
    await ledger.housekeeping.spend(TODAY, Spending("merge", 1, 100, answered=40))
    await ledger.housekeeping.spend(TOMORROW, Spending("merge", 2, 50))
    assert await ledger.quality.spent(TODAY) == [
        (TODAY, Spending("merge", 1, 100, answered=40)),
        (TOMORROW, Spending("merge", 2, 50)),
    ]
