"""F33: hours of mixed faults at one per cent, with kills, and backups taken meanwhile and opened elsewhere.

One call in a hundred of the disk, of SQLite and of the chat model fails, and more of the vector store's, which has
fewer; some lives begin with a clock that is an hour back, and most of them end by SIGKILL. The clock of the memory runs
faster than the machine's.
"""

from __future__ import annotations

import asyncio
import errno
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar

import cognitive_memory_core as core
from cognitive_memory_core import disk
from cognitive_memory_core.errors import BadAnswer, UnavailableError
from cognitive_memory_core.ports.models import Ask
from cognitive_memory_core.store.database.database import Database
from tests.support.puppet import Puppet

from ..fault_row import Counts, Extent, Row
from . import mixed_store, world

T = TypeVar("T")
SHARE = 0.01  # of calls that fail
HOURS = 6.0  # of the memory's clock
KILLED = 0.7  # share of lives that end by SIGKILL; the others by SIGTERM
LIFE = (6.0, 20.0)  # seconds from the first accepted turn to the end of a life
FIRST_SIGN, GRACE = 90.0, 60.0
GROUPS = 7
AGAIN = 3  # turns that a new child hands in again
BACKUPS_OPENED = 6
CODES = (errno.ENOSPC, errno.EIO, errno.EMFILE)
MODEL = {
    **mixed_store.SETTINGS.model_dump(),
    "models": {"historian": {"model_name": "m", "api_url": "http://127.0.0.1:9"}},
}


@dataclass
class Soaked:
    """What all lives of one directory did."""

    data: Path
    ledger: world.AcceptedTurns
    lives: int = 0
    killed: int = 0
    handed: int = 0
    faults: Counter[str] = field(default_factory=Counter[str])
    crashes: list[str] = field(default_factory=list[str])
    backups: dict[str, set[int]] = field(default_factory=dict[str, set[int]])


def f33(extent: Extent) -> Row:
    """Let lives follow each other, then count what was accepted, in the directory and in the backups."""
    started, seconds = time.monotonic(), float(extent.of(480, 25))
    with tempfile.TemporaryDirectory() as folder:
        soaked = lived(Path(folder), seconds, extent.seed)
        counts, revived = asyncio.run(counted(soaked.data, set(soaked.ledger.accepted)))
        opened = sorted(soaked.backups)[:: max(len(soaked.backups) // BACKUPS_OPENED, 1)]
        differing = asyncio.run(mixed_store.differing_rows(soaked.data, later()))
        restored = [asyncio.run(counted(Path(path), soaked.backups[path]))[0] for path in opened]
        torn = len(world.torn_files(soaked.data))
    of_backups = sum(restored, Counts())
    injected = soaked.faults.total() + soaked.killed
    told = ", ".join(f"{name} {count}" for name, count in sorted(soaked.faults.items()))
    note = (
        f"{seconds / 60:.1f} min of {HOURS:.0f} h of the memory's clock: {soaked.lives} lives, {soaked.killed} killed, "
        f"{len(soaked.ledger.accepted)} turns accepted; failed at 1 %, the vector store "
        f"at {mixed_store.SHARE:.0%}: {told}; {len(soaked.backups)} backups while "
        f"running, {len(opened)} opened elsewhere: lost {of_backups.lost}, twice {of_backups.twice}; "
        f"jobs buried because the disk did not deliver them, and revived: {revived}; torn files {torn}; rows that "
        f"the vector store then has or lacks by itself {differing}; "
        f"raised otherwise: {soaked.crashes[:3] or 'nothing'}; seconds: the whole row"
    )
    lost, twice = counts.lost + of_backups.lost, counts.twice + of_backups.twice
    is_bad = bool(soaked.crashes or torn or differing or not soaked.backups or not soaked.ledger.accepted)
    return Row(injected, lost, twice, counts.stuck, time.monotonic() - started, note, is_bad)


def lived(folder: Path, seconds: float, seed: int) -> Soaked:
    """Run lives in ``folder/data`` for so many seconds; their backups lie beside it."""
    dice, began = random.Random(seed), time.time()
    soaked = Soaked(folder / "data", world.AcceptedTurns(folder / "accepted"))
    while time.time() - began < seconds:
        _live(soaked, dice, began, HOURS * 3600 / seconds)
    return soaked


def _live(soaked: Soaked, dice: random.Random, began: float, pace: float) -> None:
    soaked.lives += 1
    back = 3600.0 if dice.random() < SHARE * 10 else 0.0  # lives are few: one in ten
    told = (soaked.data, max(soaked.handed - AGAIN, 0), dice.randrange(1 << 30), began, pace, back)
    command = [sys.executable, "-m", "benchmarks.faults.mixed", *map(str, told)]
    with subprocess.Popen(command, cwd=world.ROOT, stdout=subprocess.PIPE, text=True) as process:
        reader = _Reader(process, soaked)
        reader.first.wait(FIRST_SIGN)
        time.sleep(dice.uniform(*LIFE))
        if dice.random() < KILLED:
            soaked.killed += 1
            process.kill()
        else:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            soaked.crashes.append("did not end")
            process.kill()
        reader.join()


class _Reader(threading.Thread):
    """Notes what a life prints: numbers accepted, faults, backups, crashes."""

    def __init__(self, child: subprocess.Popen[str], soaked: Soaked) -> None:
        """Start reading."""
        super().__init__()
        self.first = threading.Event()
        self._child, self._soaked = child, soaked
        self._begun: dict[str, set[int]] = {}
        self.start()

    def run(self) -> None:
        """Read until the child has ended."""
        assert self._child.stdout is not None
        for line in self._child.stdout:
            if line.endswith("\n"):
                self._note(*line.rstrip("\n").partition(" ")[::2])
        self.first.set()

    def _note(self, what: str, told: str) -> None:
        soaked = self._soaked
        match what:
            case "accepted":
                soaked.ledger.note(int(told))
                soaked.handed = max(soaked.handed, int(told) + 1)
                self.first.set()
            case "fault":
                soaked.faults[told] += 1
            case "begins":
                self._begun[told] = set(soaked.ledger.accepted)
            case "backup":
                soaked.backups[told] = self._begun[told]
            case _:
                soaked.crashes.append(told)


async def counted(data: Path, accepted: set[int]) -> tuple[Counts, int]:
    """Open a directory without faults and let everything be done; return what is missing, and how many were revived."""
    clock = later()
    async with core.CognitiveMemory.open(world.SETTINGS, data, clock=clock) as memory:
        revived = await memory.revive()
    events, memos, stuck = await world.turns_found(data, world.SETTINGS, clock)
    lost = sum(1 for number in accepted if not events[number] or not memos[number])
    twice = sum(1 for every in (events, memos) for count in every.values() if count > 1)
    return Counts(lost, twice, stuck), revived


def later() -> FastClock:
    """Return a clock that is later than any instant that a life wrote."""
    return FastClock(time.time(), 1.0, -2 * HOURS * 3600)


# What follows runs in a life.


class Faults:
    """Decides which call fails, and prints each that does."""

    def __init__(self, seed: int) -> None:
        """Roll dice of their own for each life."""
        self._dice, self._lock = random.Random(seed), threading.Lock()

    def strikes(self, what: str, share: float = SHARE) -> bool:
        """Return whether a call fails."""
        with self._lock:
            strikes = self._dice.random() < share
        if strikes:
            say("fault", what)
        return strikes

    def choice(self, kinds: Sequence[T]) -> T:
        """Return one of several."""
        with self._lock:
            return self._dice.choice(kinds)

    def of_the_store(self) -> str:
        """Return what befalls a request to the vector store; "" for nothing."""
        kind = self.choice(mixed_store.KINDS)
        return kind if self.strikes(f"vector store {kind}", mixed_store.SHARE) else ""

    def spoil(self) -> None:
        """Let calls of the disk, of SQLite and of the vector store fail."""
        mixed_store.spoil(self.of_the_store)
        act, write, read = disk.Disk.act, Database.write, Database.read

        def acting(one: disk.Disk, operation: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            if operation == "close" or not self.strikes(f"disk {operation}"):
                return act(one, operation, call, *args, **kwargs)
            if self.choice((True, False)):
                act(one, operation, call, *args, **kwargs)  # it takes effect and says that it did not
            code = self.choice(CODES)
            raise OSError(code, os.strerror(code))

        async def writing(one: Database, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            return await write(one, self._spoilt(work) if self.strikes("sqlite write") else work, *args, **kwargs)

        async def reading(one: Database, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            return await read(one, self._spoilt(work) if self.strikes("sqlite read") else work, *args, **kwargs)

        disk.Disk.act, Database.write, Database.read = acting, writing, reading  # type: ignore[method-assign]

    @staticmethod
    def _spoilt(work: Callable[..., Any]) -> Callable[..., Any]:
        def failing(*args: Any, **kwargs: Any) -> Any:
            work(*args, **kwargs)
            raise sqlite3.OperationalError("disk I/O error")

        return failing


class Moody(Puppet):
    """A careful model whose calls fail at times."""

    def __init__(self, faults: Faults) -> None:
        """Fail as decided by ``faults``."""
        super().__init__()
        self._faults = faults

    async def ask(self, ask: Ask[T]) -> T:
        """Answer, or refuse, hang or write nonsense."""
        if self._faults.strikes("model"):
            match self._faults.choice(("away", "nonsense", "hangs")):
                case "away":
                    raise UnavailableError("the model is away")
                case "nonsense":
                    raise BadAnswer("nonsense")
                case _:
                    await asyncio.sleep(3)
        return await super().ask(ask)


@dataclass
class FastClock:
    """A clock that runs faster than the machine's from a common beginning, or an hour behind."""

    began: float
    pace: float
    back: float

    def now(self) -> datetime:
        """Return the current instant."""
        return datetime.fromtimestamp(self.began + (time.time() - self.began) * self.pace - self.back, timezone.utc)


def say(what: str, told: object) -> None:
    """Tell the process that watches, in one write, since threads tell as well."""
    line = " ".join(f"{what} {told}".split("\n"))[:300]
    os.write(1, f"{line}\n".encode())


def turn(number: int) -> core.Turn:
    """Return a turn whose event and memo name its number."""
    group, person = str(10_001 + number % GROUPS), str(2_000_001 + number % GROUPS)
    said = f"小雨({person}) 在第 {number} 轮说喜欢第 {number} 号茶"
    scene = core.Scene.group(group, person, user_name="小雨")
    return core.Turn(scene, memo=f"第 {number} 轮答过", observations=[said], request_id=f"turn-{number}")


async def live(data: Path, first: int, seed: int, clock: FastClock) -> None:
    """Hand in turns, read and back up until SIGTERM; a turn that is refused is handed in again."""
    faults, stop = Faults(seed), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    faults.spoil()
    try:
        async with core.CognitiveMemory.open(
            core.Settings.model_validate(MODEL), data, chat=Moody(faults), clock=clock
        ) as memory:
            backing = asyncio.create_task(_back_up(memory, data, seed))
            number = first
            while not stop.is_set():
                number += await _tried("remember", lambda number=number: _handed_in(memory, number))
                await _tried("context", lambda number=number: memory.context(turn(number).scene, "喜欢什么茶"))
                await _tried("search", lambda number=number: memory.search_events(turn(number).scene, "喜欢什么茶"))
                await asyncio.sleep(0.02)
            backing.cancel()
    except core.CognitiveMemoryError:
        say("fault", "opening refused")


async def _handed_in(memory: core.CognitiveMemory, number: int) -> None:
    wanted = turn(number)
    await memory.observe(core.Message(f"m{number}", wanted.scene, f"第 {number} 句闲话", datetime.now(timezone.utc)))
    if await memory.remember(wanted) is not None:
        say("accepted", number)


async def _back_up(memory: core.CognitiveMemory, data: Path, seed: int) -> None:
    for number in range(3):
        await asyncio.sleep(seed % 20 / 10)
        path = data.with_name(f"backup-{seed}-{number}")
        say("begins", path)
        if await _tried("backup", lambda path=path: memory.backup(path)):
            say("backup", path)
            return


async def _tried(name: str, call: Callable[[], Any]) -> bool:
    """Return whether a call went well; what no caller expects is told."""
    try:
        await call()
    except core.CognitiveMemoryError:
        return False
    except Exception as crash:  # noqa: BLE001  # whatever else comes out is what the row looks for
        say("crash", f"{name}: {type(crash).__name__} {crash}")
        return False
    return True


if __name__ == "__main__":
    given, at, dice_seed, since, times, behind = sys.argv[1:]
    clock_of_life = FastClock(float(since), float(times), float(behind))
    asyncio.run(live(Path(given), int(at), int(dice_seed), clock_of_life))
