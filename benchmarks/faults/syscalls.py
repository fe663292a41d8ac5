"""F2, F3, F4, F5, F9 and F31: one system call of a step killed or failing, by strace."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from pathlib import Path

from ..fault_row import Extent, Row
from . import tracer
from .room import without_room
from .steps import LEDGER_STEPS, QUEUE_STEPS
from .struck import Injection, Plan, Scene, Tally, rehearsed, spread, struck
from .tracer import ROOT, Call, Outcome

WAYS = ("historian", "new ledger", "migration with its copy", *sorted({*QUEUE_STEPS, *LEDGER_STEPS} - {
    "new ledger", "migration with its copy",
}))  # fmt: skip  # the longest first: two run side by side
PUBLISHING = tuple(way for way in WAYS if way != "historian")
CODES = ("ENOSPC", "EIO", "EACCES")
MUST_REFUSE = ("enqueue", "claim", "message log append", "event commit", "memo")  # if one of their syncs failed
SQLITE = "/ledger.db"
SYNCS = ("fsync", "fdatasync")
EXAMPLE = 160  # characters of an example in the note; stderr has each in full
FAKE_DISK = "tests/unit/adapters/test_file_faults.py"
_PASSED = re.compile(r"(\d+) passed")


def by_strace(row: Callable[[Extent], Row]) -> Callable[[Extent], Row]:
    """Run a row if strace is installed; otherwise run its counterparts over the tests' fake disk."""

    @wraps(row)
    def run(extent: Extent) -> Row:
        return row(extent) if tracer.is_there() else _by_fake_disk()

    return run


@by_strace
def f2(extent: Extent) -> Row:
    """Kill at every call of every step."""
    tally = struck(WAYS, _killing(extent.of(10_000, 5)))
    note = f"{len(WAYS)} ways, every writing call of each"
    return _row(tally, note)


@by_strace
def f3(extent: Extent) -> Row:
    """Let every call of every step fail once, and persistently, with each code; then fill a disk, then lock it."""
    tally = struck(WAYS, _failing(extent.of(10_000, 2)), goes_on=True)
    room = without_room()
    refused = tally.injected - tally.acked
    note = f"refused {refused}, {tally.kept} of them there all the same; crashes {tally.crashed}; {room.note}"
    tally += Tally(injected=room.refused, lost=room.lost, stopped=room.stuck)
    return _row(tally, note)


@by_strace
def f4(extent: Extent) -> Row:
    """Let each sync fail once: the operation is refused, and no sync is retried."""
    retried, unsaid = list[str](), list[str]()

    def watch(scene: Scene, injection: Injection, outcome: Outcome) -> None:
        failed = next(call for call in outcome.calls if "(INJECTED)" in call.arguments)
        if _is_retried(failed, outcome.calls):
            retried.append(f"{scene.name}, {injection}")
        if outcome.is_acked and scene.name in MUST_REFUSE and not _is_folder(failed):
            unsaid.append(f"{scene.name}, {injection}")

    tally = struck(WAYS, _syncs_failing(extent.of(10_000, 3)), goes_on=True, watch=watch)
    tally.examples += retried + unsaid
    note = (
        f"acknowledged and lost {tally.lost}, tried again {len(retried)}, silent {len(unsaid)}; refused "
        f"{tally.injected - tally.acked}, the rest were moves and folders whose undoing loses nothing"
    )
    return _row(tally, note, failed=bool(retried or unsaid))


@by_strace
def f5(extent: Extent) -> Row:
    """Check with strace that contents and names are synced, in this order, before the acknowledgement."""
    scenes = rehearsed(PUBLISHING)
    checked = [published(scene.unharmed.calls, scene.standing) for scene in scenes]
    missing = [f"{scene.name}: {name}" for scene, (_, names) in zip(scenes, checked, strict=True) for name in names]
    note = f"{len(scenes)} ways, {sum(count for count, _ in checked)} files; missing syncs {len(missing)}"
    tally = Tally(injected=len(scenes), lost=len(missing), examples=missing)
    return _row(tally, note)


@by_strace
def f9(extent: Extent) -> Row:
    """Kill the historian at every call from the claim to the end; the next process reaches the same state."""
    tally = struck(["historian"], _killing(extent.of(10_000, 20)))
    note = f"state differs {tally.lost + tally.twice} times from that of an unharmed run, row by row"
    return _row(tally, note)


@by_strace
def f31(extent: Extent) -> Row:
    """Kill while all jobs are revived."""
    tally = struck(["revive 500"], _killing(extent.of(60, 6)))
    return _row(tally, "every job in one place")


def _row(tally: Tally, note: str, *, failed: bool = False) -> Row:
    said = [
        note,
        *([f"did not strike {tally.missed}"] if tally.missed else []),
        *([f"second copy of a memo behind {tally.behind}"] if tally.behind else []),
        "seconds: the whole row",
        *(example[:EXAMPLE] for example in tally.examples[:2]),
    ]
    print(*tally.examples, sep="\n", file=sys.stderr)
    is_bad = failed or bool(tally.torn or tally.crashed)
    return Row(tally.injected, tally.lost, tally.twice, tally.stopped, note="; ".join(said), failed=is_bad)


def _killing(most: int) -> Plan:
    return lambda scene: [Injection(point, "signal=KILL") for point in spread(scene.unharmed.points(), most)]


def _failing(most: int) -> Plan:
    def plan(scene: Scene) -> Iterator[Injection]:
        if scene.name == "historian":  # it retries until it is told to stop
            yield from _failing_once(scene, most, ("EIO",))
            return
        yield from _failing_once(scene, most, CODES)
        for point in spread(scene.unharmed.points(), most):
            yield from (Injection(point, f"error={code}", is_lasting=True) for code in CODES)

    return plan


def _failing_once(scene: Scene, most: int, codes: Iterable[str]) -> Iterator[Injection]:
    for point in spread(scene.unharmed.points(), most):
        yield from (Injection(point, f"error={code}") for code in codes)


def _syncs_failing(most: int) -> Plan:
    def plan(scene: Scene) -> list[Injection]:
        points = [point for point in scene.unharmed.points() if point.call in SYNCS]
        return [Injection(point, "error=EIO") for point in spread(points, most)]

    return plan


def _is_folder(call: Call) -> bool:
    return Path(call.opened).suffix == ""


def _is_retried(failed: Call, calls: list[Call]) -> bool:
    """Return whether a file or folder is synced again although nothing in it changed since its sync failed.

    SQLite is exempt: on closing it syncs its log once more and transfers only what was synced before the failure.
    """
    if SQLITE in failed.opened:
        return False
    for call in calls[calls.index(failed) + 1 :]:
        if call.name in SYNCS and call.opened == failed.opened:
            return True
        if call.name not in ("openat", "close") and _touches(call, failed.opened):
            return False
    return False


def _touches(call: Call, path: str) -> bool:
    return any(other.startswith(path) for other in (call.opened, *call.named))


def published(calls: list[Call], known: frozenset[str]) -> tuple[int, list[str]]:
    """Count the files that a step writes besides the ``known`` ones, and list those that a power cut could lose."""
    count, missing, standing = 0, list[str](), {*known}
    for at, call in enumerate(calls):
        if call.name.startswith("rename"):
            count += 1
            missing += _unsynced_rename(call, calls[:at], calls[at:])
        elif call.name == "pwrite64" and call.opened.endswith("ledger.db-wal"):
            missing += _unsynced(call.opened, calls[at:], "what was written to the log")
        elif call.name == "openat" and _is_new(call, standing, calls[at:]):
            count += 1
            standing.add(Path(call.opened).name)
            missing += _unsynced(str(Path(call.opened).parent), calls[at:], f"name of {Path(call.opened).name}")
    return count, sorted(set(missing))


def _is_new(call: Call, standing: set[str], after: list[Call]) -> bool:
    """Return whether a call creates a file that outlives the step: no draft, shared memory or empty log of SQLite."""
    name = Path(call.opened).name
    is_published = not name.endswith((".tmp", ".part", "-shm", "-journal"))
    is_empty_log = name.endswith("-wal") and not any(
        later.name == "pwrite64" and later.opened == call.opened for later in after
    )
    return "O_CREAT" in call.arguments and is_published and not is_empty_log and name not in standing


def _unsynced_rename(call: Call, before: list[Call], after: list[Call]) -> list[str]:
    source, target = call.named
    is_draft = source.endswith((".tmp", ".part"))
    content = _unsynced(source, before, f"content of {Path(target).name}") if is_draft else []
    return content + _unsynced(str(Path(target).parent), after, f"name of {Path(target).name}")


def _unsynced(path: str, calls: list[Call], what: str) -> list[str]:
    is_synced = any(call.name in SYNCS and call.opened == path for call in calls)
    return [] if is_synced else [f"{what} not synced"]


def _by_fake_disk() -> Row:
    """Run the small counterparts in the test suite."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:nonebug", "-o", f"cache_dir={folder}", FAKE_DISK]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    passed = _PASSED.search(ended.stdout)
    note = f"no strace here: the fake disk of {FAKE_DISK}, {passed[0] if passed else 'none passed'}"
    return Row(int(passed[1]) if passed else 0, note=note, failed=bool(ended.returncode))
