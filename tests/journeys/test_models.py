"""Tests of the chat model rows of the fault table; nightly, the size of ``python -m benchmarks faults F14 ... A17``."""

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

LONG = pytest.mark.nightly  # rows that wait as long as a model demands


def _name(row: Callable[[Extent], Row]) -> str:
    return row.__name__


@pytest.mark.timeout(sized(240, 3600))
@pytest.mark.parametrize("row", [f14, *(pytest.param(row, marks=LONG) for row in (f15, f16)), f17, f18], ids=_name)
def test_a_bad_model_costs_no_memory(row: Callable[[Extent], Row]) -> None:
    """A chat model that hangs, breaks, is rate limited or returns nonsense loses, doubles and blocks no memory."""
    found = row(EXTENT)
    assert not found.is_bad, found


@pytest.mark.timeout(sized(240, 3600))
@pytest.mark.parametrize("row", [a6, a7, a8, a9, a10, a11, a12, a17, a18], ids=_name)
def test_a_model_that_obeys_the_attacker_wins_nothing(row: Callable[[Extent], Row]) -> None:
    """Names, instructions, rumours and endless texts change nothing of other people, even if the model obeys them."""
    found = row(EXTENT)
    assert not found.is_bad, found
