"""The contract of measured calibrations."""

from __future__ import annotations

from cognitive_memory_core.ports.models import Calibration
from tests.support.ledgers import Ledger


async def test_each_fingerprint_has_its_own(ledger: Ledger) -> None:
    """Each fingerprint has its own calibration, the last one written; an unmeasured fingerprint has none."""
    assert await ledger.housekeeping.calibration("bge-m3/native") is None
    await ledger.housekeeping.keep_calibration("bge-m3/native", Calibration(0.5, 0.6))
    await ledger.housekeeping.keep_calibration("bge-m3/native", Calibration(-0.125, 1 / 3))
    await ledger.housekeeping.keep_calibration("另一个/8", Calibration(0.0, 0.0))
    assert await ledger.housekeeping.calibration("bge-m3/native") == Calibration(-0.125, 1 / 3)
    assert await ledger.housekeeping.calibration("另一个/8") == Calibration(0.0, 0.0)
    assert await ledger.housekeeping.calibration("bge-m3/8") is None
