"""The two sizes of the suite: what runs before every change, and what runs at night."""

from __future__ import annotations

import os

SIZE, NIGHTLY = "TEST_SIZE", "nightly"  # the variable of the environment, and its one value
IS_NIGHTLY = os.environ.get(SIZE) == NIGHTLY


def sized(usual: int, nightly: int) -> int:
    """Choose how often something is tried: examples, kills, mutants."""
    return nightly if IS_NIGHTLY else usual
