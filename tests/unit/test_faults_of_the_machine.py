"""Small twins of the fault rows F25 and F27: clocks that jump, and SIGTERM beside a model that hangs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("the rows take handles and memory away as POSIX does", allow_module_level=True)

from benchmarks.faults import clocks, signals


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("jump", clocks.JUMPS)
async def test_a_clock_that_jumps_spoils_nothing(tmp_path: Path, jump: str, restarts: bool) -> None:
    """A clock set back, far ahead or to 1970 loses, doubles and prunes nothing, and keeps the order."""
    wrong = clocks.Wrong()
    await clocks.jumped(tmp_path, clocks.JUMPS[jump], wrong, restarts=restarts)
    assert wrong == clocks.Wrong(jumps=1)


@pytest.mark.parametrize("kind", ["deaf", "stubborn"])
def test_sigterm_beside_a_hanging_model_leaves_all_jobs(tmp_path: Path, kind: str) -> None:
    """A process ended by SIGTERM beside a model that hangs keeps no lock, and its jobs are pending again."""
    broken = signals.Broken()
    signals.terminated(tmp_path / "data", kind, broken)
    assert (broken.lost, broken.twice, broken.locked) == ([], [], [])
