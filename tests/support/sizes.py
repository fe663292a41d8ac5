"""The two sizes of the suite: the usual one, and the nightly one."""

from __future__ import annotations

import os

SIZE, NIGHTLY = "TEST_SIZE", "nightly"  # the environment variable and its one value
IS_NIGHTLY = os.environ.get(SIZE) == NIGHTLY


def sized(usual: int, nightly: int) -> int:
    """Return the number of examples, kills or mutants for the chosen size."""
    return nightly if IS_NIGHTLY else usual
