"""The contract of ClockBook."""

from __future__ import annotations

from cognitive_memory_core.store.housekeeping import ClockState
from tests.support.clock import NOON
from tests.support.ledgers import Ledger, later


async def test_the_last_note_stands(ledger: Ledger) -> None:
    """The last state written is returned, None before the first; a state with an untrusted clock counts too."""
    assert await ledger.housekeeping.clock() is None
    await ledger.housekeeping.keep_clock(ClockState(None, NOON, 0.5))
    assert await ledger.housekeeping.clock() == ClockState(None, NOON, 0.5)
    await ledger.housekeeping.keep_clock(ClockState(NOON, later(days=3), 86_400.0))
    assert await ledger.housekeeping.clock() == ClockState(NOON, later(days=3), 86_400.0)


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
