"""Tests of the chat model rows of the fault table; nightly, the size of ``python -m benchmarks faults F14 ... A17``."""

from __future__ import annotations

import pytest

from benchmarks.fault_row import Extent
from benchmarks.faults.rows import run_row
from tests.support.sizes import IS_NIGHTLY, sized

EXTENT = Extent(quick=not IS_NIGHTLY)

LONG = pytest.mark.nightly  # rows that wait as long as a model demands


@pytest.mark.timeout(sized(240, 3600))
@pytest.mark.parametrize("row", ["F14", *(pytest.param(row, marks=LONG) for row in ("F15", "F16")), "F17", "F18"])
def test_a_bad_model_costs_no_memory(row: str) -> None:
    """A chat model that hangs, breaks, is rate limited or returns nonsense loses, doubles and blocks no memory."""
    found = run_row(row, EXTENT)
    assert not found.is_bad, found


@pytest.mark.timeout(sized(240, 3600))
@pytest.mark.parametrize("row", ["A6", "A7", "A8", "A9", "A10", "A11", "A12", "A17", "A18"])
def test_a_model_that_obeys_the_attacker_wins_nothing(row: str) -> None:
    """Names, instructions, rumours and endless texts change nothing of other people, even if the model obeys them."""
    found = run_row(row, EXTENT)
    assert not found.is_bad, found
