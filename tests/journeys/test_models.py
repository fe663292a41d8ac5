"""Small twins of the fault table's rows about chat models: ``python -m benchmarks faults F14 ... A17``."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.fault_row import Extent, Row
from benchmarks.faults.floods import a17
from benchmarks.faults.models import f14, f15, f16, f17, f18
from benchmarks.faults.patterns import a18
from benchmarks.faults.puppets import a6, a7, a8, a9, a10, a11, a12

SMALL = Extent(quick=True)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("row", [f14, f15, f16, f17, f18], ids=lambda row: row.__name__)
def test_a_bad_model_costs_no_memory(row: Callable[[Extent], Row]) -> None:
    """A model that hangs, breaks, asks for patience or writes nonsense loses, doubles and blocks nothing."""
    found = row(SMALL)
    assert not found.is_bad, found


@pytest.mark.timeout(240)
@pytest.mark.parametrize("row", [a6, a7, a8, a9, a10, a11, a12, a17, a18], ids=lambda row: row.__name__)
def test_a_model_that_obeys_the_attacker_wins_nothing(row: Callable[[Extent], Row]) -> None:
    """Names, orders, rumours and endless texts change nothing that is not the attacker's, though the model helps."""
    found = row(SMALL)
    assert not found.is_bad, found
