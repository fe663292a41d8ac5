"""Fixtures that run every contract of the ledger's ports on both ledgers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cognitive_memory_core.store.ledger import SqliteLedger
from tests.inmemory import InMemoryLedger
from tests.support.clock import FrozenClock
from tests.support.ledgers import Ledger


@pytest.fixture
def clock() -> FrozenClock:
    """Return a clock that stands at noon."""
    return FrozenClock()


@pytest.fixture(params=["sqlite", "in memory"])
async def ledger(request: pytest.FixtureRequest, tmp_path: Path, clock: FrozenClock) -> AsyncIterator[Ledger]:
    """Open one ledger of each kind."""
    is_file = request.param == "sqlite"
    ledger = await SqliteLedger.open(tmp_path / "ledger.db", clock=clock) if is_file else InMemoryLedger(clock=clock)
    yield ledger
    await ledger.close()
