"""Tests of the counters behind the report: in memory at once, written in batches, kept while the ledger is away."""

from __future__ import annotations

from datetime import date, timezone

from cognitive_memory_core.errors import StorageRefused
from cognitive_memory_core.store.quality import QualityTally
from tests.support.builders import an_event
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import Ledger, a_ledger, committed

TODAY = NOON.astimezone(timezone.utc).date()


class Counted:
    """The quality ledger of a state that counts its writes, and refuses them while ``is_full``."""

    def __init__(self, ledger: Ledger) -> None:
        """Count the writes of a ledger."""
        self.ledger = ledger
        self.writes = 0
        self.is_full = False

    async def tally(self, day: date, counts: object, recalled: object, at: object) -> None:
        """Write unless the disk is full."""
        self.writes += 1
        if self.is_full:
            raise StorageRefused("full")
        await self.ledger.quality.tally(day, dict(counts), dict(recalled), NOON)  # type: ignore[call-overload]  # counts


async def test_turns_cost_no_write() -> None:
    """A thousand turns are written in one transaction."""
    ledger = a_ledger()
    await committed(ledger, an_event(id="e1"))
    counted = Counted(ledger)
    tally = QualityTally(counted, FrozenClock(), timezone.utc)  # type: ignore[arg-type]  # what a tally uses of it
    for _ in range(1_000):
        tally.recalled(["e1", "gone"])
        tally.count("gate:time")
    assert counted.writes == 0
    await tally.flush()
    await tally.flush()
    assert counted.writes == 1
    assert await ledger.quality.tallies(TODAY) == [(TODAY, "gate:time", 1_000), (TODAY, "recalls", 1_000)]
    (place,) = await ledger.quality.places(None)
    assert place.recalled == 1


async def test_counts_wait_for_the_ledger() -> None:
    """What could not be written is written with the next try, once, and the trouble is told meanwhile."""
    counted = Counted(a_ledger())
    tally = QualityTally(counted, FrozenClock(), timezone.utc)  # type: ignore[arg-type]  # the same
    counted.is_full = True
    tally.count("retry", 2)
    await tally.flush()
    assert tally.loop.trouble.error == "full"
    counted.is_full = False
    tally.count("retry")
    await tally.flush()
    assert await counted.ledger.quality.tallies(TODAY) == [(TODAY, "retry", 3)]
    assert not tally.loop.trouble.error
