"""The fault table's rows about chat models, at night at the size of ``python -m benchmarks faults F14 ... A17``."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.fault_row import Extent, Row
from benchmarks.faults.floods import a17
from benchmarks.faults.models import f14, f15, f16, f17, f18
from benchmarks.faults.patterns import a18
from benchmarks.faults.puppets import a6, a7, a8, a9, a10, a11, a12
from tests.support.sizes import IS_NIGHTLY, sized

EXTENT = Extent(quick=not IS_NIGHTLY)

LONG = pytest.mark.nightly  # the rows that wait as long as a model asks for


def _name(row: Callable[[Extent], Row]) -> str:
    return row.__name__


@pytest.mark.timeout(sized(240, 3600))
@pytest.mark.parametrize("row", [f14, *(pytest.param(row, marks=LONG) for row in (f15, f16)), f17, f18], ids=_name)
def test_a_bad_model_costs_no_memory(row: Callable[[Extent], Row]) -> None:
    """A model that hangs, breaks, asks for patience or writes nonsense loses, doubles and blocks nothing."""
    found = row(EXTENT)
    assert not found.is_bad, found


@pytest.mark.timeout(sized(240, 3600))
@pytest.mark.parametrize("row", [a6, a7, a8, a9, a10, a11, a12, a17, a18], ids=_name)
def test_a_model_that_obeys_the_attacker_wins_nothing(row: Callable[[Extent], Row]) -> None:
    """Names, orders, rumours and endless texts change nothing that is not the attacker's, though the model helps."""
    found = row(EXTENT)
    assert not found.is_bad, found
