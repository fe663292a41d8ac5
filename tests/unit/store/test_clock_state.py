"""The contract of ClockBook."""

from __future__ import annotations

from tests.support.clock import NOON
from tests.support.ledgers import Ledger, later


async def test_only_what_lies_after_is_brought_back(ledger: Ledger) -> None:
    """Tombstones dated after an instant are redated; earlier ones are unchanged."""
    await ledger.eraser.forget_person("2000001", later(days=730), str)
    await ledger.eraser.forget_person("2000009", NOON, str)
    assert await ledger.housekeeping.redate_tombstones(later(days=1), later(seconds=-5)) == 1
    assert await ledger.housekeeping.redate_tombstones(later(days=1), later(seconds=-5)) == 0
    tombstones = await ledger.eraser.tombstones()
    assert tombstones.covers_person("2000001", later(seconds=-5))
    assert not tombstones.covers_person("2000001", NOON)
    assert tombstones.covers_person("2000009", NOON)
