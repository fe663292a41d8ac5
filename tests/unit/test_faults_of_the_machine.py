"""Small twins of the fault rows F1, F25, F26, F27, F33, A27 and A29."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

if sys.platform == "win32":
    pytest.skip("the rows take handles and memory away as POSIX does", allow_module_level=True)

from benchmarks.fault_row import Extent, Seen
from benchmarks.faults import machine, mixed, supply, tampering
from benchmarks.faults.rows import run_row
from tests.support.sizes import IS_NIGHTLY, sized


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("jump", machine.JUMPS)
async def test_a_clock_that_jumps_spoils_nothing(tmp_path: Path, jump: str, restarts: bool) -> None:
    """A clock set back, far ahead or to 1970 loses, doubles and prunes nothing, and keeps the order."""
    seen = Seen()
    await machine.jumped(tmp_path, machine.JUMPS[jump], seen, restarts=restarts)
    assert (seen, seen.examples) == (Seen(jumps=1), [])


@pytest.mark.parametrize("kind", ["deaf", "stubborn"])
def test_sigterm_beside_a_hanging_model_leaves_all_jobs(tmp_path: Path, kind: str) -> None:
    """A process ended by SIGTERM beside a model that hangs keeps no lock, and its jobs are pending again."""
    seen = Seen()
    machine.terminated(tmp_path / "data", kind, seen)
    assert (seen, seen.examples) == (Seen(stops=1), [])


@pytest.mark.parametrize(("what", "size"), [(machine.few, 64), (machine.few, 32), (machine.short, machine.SPARE)])
def test_without_handles_or_memory_calls_are_refused_and_work_goes_on(tmp_path: Path, what: Any, size: int) -> None:
    """A process out of file handles or memory refuses politely; given them back, it does all that it accepted."""
    told = machine.alone(what, tmp_path / "data", size)
    assert (told["crashes"], told["lost"], told["twice"]) == ([], 0, 0)
    assert told["refused"] or what is machine.short


async def test_an_operation_cancelled_at_any_await_holds_nothing_up(tmp_path: Path) -> None:
    """After a cancellation at each of the first awaits, every operation works, and no turn is lost or twice."""
    seen = Seen()
    await machine.cancelled_everywhere(tmp_path / "data", seen, sized(3, 60))
    assert (seen["lost"], seen["twice"], seen.examples) == (0, 0, [])
    assert set(seen) >= set(machine.OPERATIONS)


async def test_a_closing_cancelled_at_any_await_keeps_everything(tmp_path: Path) -> None:
    """A closing that is cancelled leaves a directory that opens at once with all that was accepted."""
    seen = Seen()
    await machine.cancelled_closing(tmp_path / "data", seen, sized(3, 60))
    assert (seen["lost"], seen["twice"], seen.examples) == (0, 0, [])


@pytest.mark.timeout(sized(300, 1800))
def test_a_killed_process_loses_and_doubles_nothing() -> None:
    """After kills at random moments each acknowledged turn is one event and one memo, and no job file is torn."""
    found = run_row("F1", Extent(quick=not IS_NIGHTLY))
    assert not found.is_bad, found


@pytest.mark.timeout(900)  # two lives of a bot with its vector store, which start slowly beside others
async def test_lives_of_mixed_faults_lose_nothing(tmp_path: Path) -> None:
    """Lives of many faults, ended by kills, lose and double no turn; their backups and the vector store are whole."""
    soaked = mixed.lived(tmp_path, float(sized(8, 120)), 5)
    assert soaked.seen.examples == []
    assert soaked.faults.total()
    assert await mixed.counted(soaked.data, soaked.ledger.accepted) == Seen()
    for path, accepted in soaked.backups.items():
        counts = await mixed.counted(Path(path), accepted)
        assert (counts["lost"], counts["twice"]) == (0, 0)
    assert await mixed.differing_rows(soaked.data) == 0


def test_flipped_bytes_crash_nothing_and_are_not_taken_silently(tmp_path: Path) -> None:
    """A flipped byte in any file costs at most what it stood in, with a word about it, and never the memory."""
    seen = tampering.tampered(tmp_path, sized(2, 40), 11)
    assert (seen.examples, seen["stuck"]) == ([], 0)


def test_nothing_that_is_read_is_run() -> None:
    """No module loads pickles, evaluates text, starts a shell or makes a template of what it reads."""
    assert supply.findings() == []


def test_no_dependency_drifts() -> None:
    """Each dependency has an upper bound, except those that are versioned by date."""
    assert supply.unbounded_dependencies() == []
