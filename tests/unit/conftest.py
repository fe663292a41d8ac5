"""Fixtures of the tests of stores."""

from __future__ import annotations

import pytest

from tests.support.clock import FrozenClock
from tests.support.ledgers import Ledger, a_ledger


@pytest.fixture
def clock() -> FrozenClock:
    """Return a clock that stands at noon."""
    return FrozenClock()


@pytest.fixture
def ledger(clock: FrozenClock) -> Ledger:
    """Open a ledger."""
    return a_ledger(clock=clock)
