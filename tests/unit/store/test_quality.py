"""The contract of QualityLedger: figures of the whole ledger, and counters that accumulate."""

from __future__ import annotations

from datetime import date

from cognitive_memory_core.domain.figures import Spending
from tests.support.clock import NOON
from tests.support.ledgers import Ledger

TODAY, TOMORROW = date(2026, 3, 4), date(2026, 3, 5)


async def test_counts_accumulate_by_day(ledger: Ledger) -> None:
    """Counts and spending add up by day and are read from a day on."""
    await ledger.quality.tally(TODAY, {"gate:time": 2, "retry": 1}, {}, NOON)
    await ledger.quality.tally(TODAY, {"gate:time": 1}, {}, NOON)
    await ledger.quality.tally(TOMORROW, {"retry": 4}, {}, NOON)
    assert await ledger.quality.tallies(TODAY) == [(TODAY, "gate:time", 3), (TODAY, "retry", 1), (TOMORROW, "retry", 4)]
    assert await ledger.quality.tallies(TOMORROW) == [(TOMORROW, "retry", 4)]
    await ledger.housekeeping.spend(TODAY, Spending("merge", 1, 100, answered=40))
    await ledger.housekeeping.spend(TOMORROW, Spending("merge", 2, 50))
    assert await ledger.housekeeping.spent(TODAY) == [
        (TODAY, Spending("merge", 1, 100, answered=40)),
        (TOMORROW, Spending("merge", 2, 50)),
    ]
