"""F2, F3, F4, F5, F9, F22 and F31: one system call of a step killed or failing, by strace, which they need."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

from ..fault_row import Extent, Row, Seen
from .steps import LEDGER_STEPS, PROFILE_STEPS, QUEUE_STEPS
from .traced import Call, Injection, Outcome, Plan, Scene, rehearsed, struck

LONGEST = ("historian", "new ledger", "migration with its copy")  # first, as two run side by side
WAYS = (*LONGEST, *sorted({*QUEUE_STEPS, *LEDGER_STEPS}.difference(LONGEST)))
CODES = ("ENOSPC", "EIO", "EACCES")
MUST_REFUSE = ("enqueue", "claim", "message log append", "event commit", "memo")  # if one of their syncs failed
SYNCS = ("fsync", "fdatasync")


def f2(extent: Extent) -> Row:
    """Kill at every call of every step."""
    return _row(struck(WAYS, _killing(extent.of(10_000, 5))), f"{len(WAYS)} ways")


def f3(extent: Extent) -> Row:
    """Let every call of every step fail once, and persistently, with each code."""
    most = extent.of(10_000, 2)

    def plan(scene: Scene) -> Iterator[Injection]:
        is_historian = scene.name == "historian"  # it retries until it is told to stop
        for point, code in product(scene.unharmed.points(most), ("EIO",) if is_historian else CODES):
            yield Injection(*point, f"error={code}")
            if not is_historian:
                yield Injection(*point, f"error={code}", is_lasting=True)

    return _row(struck(WAYS, plan, goes_on=True))


def f4(extent: Extent) -> Row:
    """Let each sync fail once: the operation is refused, and no sync is retried; undoing moves loses nothing."""
    most, wrong = extent.of(10_000, 3), Seen(tried_again=0, silent=0)

    def watch(scene: Scene, injection: Injection, outcome: Outcome) -> None:
        failed = next((call for call in outcome.calls if "(INJECTED)" in call.arguments), None)
        if failed is None:  # strace split the line, because another thread called meanwhile
            return
        if _is_retried(failed, outcome.calls):
            wrong.wrong("tried_again", f"{scene.name}, {injection}")
        is_folder = Path(failed.opened).suffix == ""
        if outcome.is_acked and scene.name in MUST_REFUSE and not is_folder:
            wrong.wrong("silent", f"{scene.name}, {injection}")

    def plan(scene: Scene) -> list[Injection]:
        return [Injection(*point, "error=EIO") for point in scene.unharmed.points(most, SYNCS)]

    tally = struck(WAYS, plan, goes_on=True, watch=watch)
    tally.update(wrong)
    return _row(tally, failed=wrong.total())


def f5(extent: Extent) -> Row:
    """Check with strace that contents and names are synced, in this order, before the acknowledgement."""
    tally = Seen(files=0)
    for scene in rehearsed([way for way in (*WAYS, *PROFILE_STEPS) if way != "historian"]):
        count, missing = published(scene.unharmed.calls, scene.standing)
        tally.update(injected=1, files=count, lost=len(missing))
        tally.examples += [f"{scene.name}: {name}" for name in missing]
    return _row(tally)


def f9(extent: Extent) -> Row:
    """Kill the historian at every call from the claim to the end; the next process reaches the same state."""
    return _row(struck(["historian"], _killing(extent.of(10_000, 20))))


def f22(extent: Extent) -> Row:
    """Kill at every call of every way to write a profile; row F5 has their syncs."""
    return _row(struck([*PROFILE_STEPS], _killing(extent.of(10_000, 5))), f"{len(PROFILE_STEPS)} ways")


def f31(extent: Extent) -> Row:
    """Kill while all jobs are revived."""
    return _row(struck(["revive 500"], _killing(extent.of(60, 6))))


def _killing(most: int) -> Plan:
    return lambda scene: [Injection(*point, "signal=KILL") for point in scene.unharmed.points(most)]


def _row(tally: Seen, note: str = "", *, failed: object = False) -> Row:
    return tally.row(tally.pop("injected", 0), note, failed=failed or tally["torn"] or tally["crashed"])


def _is_retried(failed: Call, calls: list[Call]) -> bool:
    """Return whether a file or folder is synced again although nothing in it changed since its sync failed.

    SQLite is exempt: on closing it syncs its log once more and transfers only what was synced before the failure.
    """
    if "/ledger.db" in failed.opened:
        return False
    for call in calls[calls.index(failed) + 1 :]:
        if call.name in SYNCS and call.opened == failed.opened:
            return True
        touches = any(path.startswith(failed.opened) for path in (call.opened, *call.named))
        if call.name not in ("openat", "close") and touches:
            return False
    return False


def published(calls: list[Call], known: frozenset[str]) -> tuple[int, list[str]]:
    """Count the files that a step writes besides the ``known`` ones, and list those that a power cut could lose."""
    count, missing, standing = 0, list[str](), {*known}
    for at, call in enumerate(calls):
        if call.name.startswith("rename"):
            count += 1
            source, target = call.named
            if source.endswith((".tmp", ".part")):
                missing += _unsynced(source, calls[:at], f"content of {Path(target).name}")
            missing += _unsynced(str(Path(target).parent), calls[at:], f"name of {Path(target).name}")
        elif call.name == "pwrite64" and call.opened.endswith("ledger.db-wal"):
            missing += _unsynced(call.opened, calls[at:], "what was written to the log")
        elif call.name == "openat" and _is_new(call, standing, calls[at:]):
            count += 1
            standing.add(Path(call.opened).name)
            missing += _unsynced(str(Path(call.opened).parent), calls[at:], f"name of {Path(call.opened).name}")
    return count, sorted(set(missing))


def _is_new(call: Call, standing: set[str], after: list[Call]) -> bool:
    """Return whether a call creates a file that outlives the step: no draft, temporary file or empty log of SQLite."""
    name = Path(call.opened).name
    is_published = not name.endswith((".tmp", ".part", "-shm", "-journal")) and not name.startswith("etilqs_")
    is_written = any(later.name == "pwrite64" and later.opened == call.opened for later in after)
    is_empty_log = name.endswith("-wal") and not is_written
    return "O_CREAT" in call.arguments and is_published and not is_empty_log and name not in standing


def _unsynced(path: str, calls: list[Call], what: str) -> list[str]:
    is_synced = any(call.name in SYNCS and call.opened == path for call in calls)
    return [] if is_synced else [f"{what} not synced"]
