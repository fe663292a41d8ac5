"""F33: hours of mixed faults at one per cent, with kills, and backups taken meanwhile and opened elsewhere.

One call in a hundred of the disk, of SQLite and of the chat model fails, and more of the vector store's, which has
fewer: its process is killed, refuses, is slow, or has no room on its disk. Some lives begin with a clock that is an
hour back, and most of them end by SIGKILL. The clock of the memory runs faster than the machine's.
"""

from __future__ import annotations

import asyncio
import errno
import os
import random
import resource
import signal
import sqlite3
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import orjson

import cognitive_memory_core as core
from cognitive_memory_core import disk
from cognitive_memory_core.errors import BadAnswer, UnavailableError
from cognitive_memory_core.ports import Ask
from cognitive_memory_core.store.database.database import Database
from cognitive_memory_core.store.search.corpora import Corpora
from cognitive_memory_core.vectors import reconciler
from cognitive_memory_core.vectors.chroma import process as chroma_process
from cognitive_memory_core.vectors.chroma.store import ChromaStore
from tests.support.puppet import Puppet

from ..fault_row import Extent, Row, Seen, told
from . import world
from .child import let_live, started
from .steps import torn_files

T = TypeVar("T")
SHARE = 0.01  # of calls that fail
HOURS = 6.0  # of the memory's clock
KILLED = 0.7  # share of lives that end by SIGKILL; the others by SIGTERM
LIFE = (6.0, 20.0)  # seconds from the first accepted turn to the end of a life
FIRST_SIGN = 90.0
AGAIN = 3  # turns that a new child hands in again
BACKUPS_OPENED = 6
LONGEST = 4  # times the seconds of a row, until a life has lasted long enough for a backup
CODES = (errno.ENOSPC, errno.EIO, errno.EMFILE)
STORE_SHARE = 0.04  # of the vector store's requests, of which a life makes few
STORE_KINDS = ("killed", "refuses", "slow", "disk full")
SLOW = 4.0  # seconds before a request is passed on; a search waits for two
FULL = 3.0  # seconds for which its process can enlarge no file, as on a full disk
SMALLEST = 4096  # bytes that each of its files may have then
WITH_STORE = core.Settings.model_validate({**world.SETTINGS.model_dump(), "vector_store": {"backend": "chroma"}})
MODEL = {"historian": {"model_name": "m", "api_url": "http://127.0.0.1:9"}}


@dataclass
class Soaked:
    """What all lives of one directory did."""

    data: Path
    ledger: world.AcceptedTurns
    seen: Seen = field(default_factory=Seen)  # lives, those that were killed, and crashes
    faults: Counter[str] = field(default_factory=Counter[str])
    begun: dict[str, set[int]] = field(default_factory=dict[str, set[int]])  # backups that may not have ended
    backups: dict[str, set[int]] = field(default_factory=dict[str, set[int]])

    def hear(self, line: str) -> None:
        """Note what a life prints: numbers accepted, faults, backups, crashes."""
        what, _, rest = line.partition(" ")
        match what:
            case "accepted":
                self.ledger.note(int(rest))
            case "fault":
                self.faults[rest] += 1
            case "begins":
                self.begun[rest] = set(self.ledger.accepted)
            case "backup":
                self.backups[rest] = self.begun[rest]
            case "crash":
                self.seen.examples.append(rest)
            case _:
                return  # what the process returned


def f33(extent: Extent) -> Row:
    """Let lives follow each other, then count what was accepted, in the directory and in the backups."""
    seconds = float(extent.of(480, 25))
    with tempfile.TemporaryDirectory() as folder:
        soaked = lived(Path(folder), seconds, extent.seed)
        counts = asyncio.run(counted(soaked.data, soaked.ledger.accepted))
        opened = sorted(soaked.backups)[:: max(len(soaked.backups) // BACKUPS_OPENED, 1)]
        differing = asyncio.run(differing_rows(soaked.data))
        restored = Seen()
        for path in opened:
            restored.update(asyncio.run(counted(Path(path), soaked.backups[path])), stuck=0)
        torn = len(torn_files(soaked.data))
    seen = soaked.seen
    seen.update(accepted=len(soaked.ledger.accepted), backups=len(soaked.backups), opened_elsewhere=len(opened))
    seen.update(torn_files=torn, rows_that_differ=differing, raised_otherwise=len(seen.examples))
    is_bad = torn or differing or seen.examples or not (soaked.backups and soaked.ledger.accepted)
    seen.update(counts, lost=restored["lost"], twice=restored["twice"])
    note = f"{seconds / 60:.1f} min of {HOURS:.0f} h of the memory's clock; failed: {told(**soaked.faults)}"
    return seen.row(soaked.faults.total() + seen["killed"], note, failed=is_bad)


def lived(folder: Path, seconds: float, seed: int) -> Soaked:
    """Run lives in ``folder/data`` for so many seconds; their backups lie beside it."""
    dice, began = random.Random(seed), time.time()
    soaked = Soaked(folder / "data", world.AcceptedTurns(folder / "accepted"))
    while time.time() - began < seconds or (not soaked.backups and time.time() - began < LONGEST * seconds):
        back = 3600.0 if dice.random() < SHARE * 10 else 0.0  # lives are few: one in ten
        with started(
            live, soaked.data, soaked.ledger.first(AGAIN), dice.randrange(1 << 30), began, HOURS * 3600 / seconds, back
        ) as process:
            life, is_killed = dice.uniform(*LIFE), dice.random() < KILLED
            end = signal.SIGKILL if is_killed else signal.SIGTERM
            has_ended = let_live(process, soaked.hear, life, Seen(), FIRST_SIGN, end)
            soaked.seen.update(lives=1, killed=is_killed)
            soaked.seen.examples += [] if has_ended else ["did not end"]
    return soaked


async def counted(data: Path, accepted: Sequence[int] | set[int]) -> Seen:
    """Open a directory without faults, let everything be done, and count what was accepted."""
    return await world.counted_in(data, accepted, _later())


async def differing_rows(data: Path) -> int:
    """Let the vector store follow the ledger without faults; return how many rows then are in one of them only.

    A store that sleeps is looked at when it is needed, as here; a damaged one is built anew then.
    """
    async with core.CognitiveMemory.open(WITH_STORE, data, clock=_later()) as memory:
        index = memory._opened.reconciler  # noqa: SLF001  # only a wide question wakes it
        assert index
        await index.follow()
        assert await memory.drain(300)
        rows = [orjson.loads(line) for line in await world.exported(memory)]
    store = ChromaStore(data / "chromadb", WITH_STORE.vector_store)
    try:
        generation = await store.open()
        stored = await store.listed(generation) if generation else frozenset[str]()
    finally:
        await store.close()
    return len(stored ^ {row["id"] for row in rows if row.get("type") == "event"})


def _later() -> world.MachineClock:
    """Return a clock that is later than any instant that a life wrote."""
    return world.MachineClock(timedelta(hours=2 * HOURS))


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

    def spoil(self) -> None:
        """Let calls of the disk, of SQLite and of the vector store fail."""
        self._spoil_the_store()
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

        def reading(one: Database, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            return read(one, self._spoilt(work) if self.strikes("sqlite read") else work, *args, **kwargs)

        disk.Disk.act, Database.write, Database.read = acting, writing, reading  # type: ignore[method-assign]

    def _spoil_the_store(self) -> None:
        """Use the store for every row and search, and let its requests fail."""
        reconciler.SECONDS_BEHIND = 0.0
        Corpora.is_wide = lambda *_: True  # type: ignore[assignment]
        exchange = chroma_process.answer_of

        def exchanging(child: chroma_process.Child, request: Mapping[str, Any]) -> dict[str, Any] | None:
            kind = self.choice(STORE_KINDS)
            match kind if self.strikes(f"vector store {kind}", STORE_SHARE) else "":
                case "killed":
                    os.kill(child.pid, signal.SIGKILL)
                case "refuses":
                    return {"failed": ("failed", "refused")}
                case "slow":
                    time.sleep(SLOW)
                case "disk full":
                    _, most = resource.prlimit(child.pid, resource.RLIMIT_FSIZE)
                    resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (SMALLEST, most))
                    there_is_room = threading.Timer(FULL, _lift, (child.pid, most))
                    there_is_room.daemon = True
                    there_is_room.start()
                case _:
                    pass
            return exchange(child, request)

        chroma_process.answer_of = exchanging

    @staticmethod
    def _spoilt(work: Callable[..., Any]) -> Callable[..., Any]:
        def failing(*args: Any, **kwargs: Any) -> Any:
            work(*args, **kwargs)
            raise sqlite3.OperationalError("disk I/O error")

        return failing


def _lift(pid: int, most: int) -> None:
    with suppress(ProcessLookupError):  # it was killed meanwhile
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))


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


def say(what: str, told: object) -> None:
    """Tell the process that watches, in one write, since threads tell as well."""
    line = " ".join(f"{what} {told}".split("\n"))[:300]
    os.write(1, f"{line}\n".encode())


async def live(data: str, first: int, seed: int, began: float, pace: float, back: float) -> None:
    """Hand in turns, read and back up until SIGTERM; a turn that is refused is handed in again."""
    faults, stop = Faults(seed), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    faults.spoil()
    settings = core.Settings.model_validate({**WITH_STORE.model_dump(), "models": MODEL})
    clock = world.MachineClock(timedelta(seconds=-back), began, pace)
    opening = core.CognitiveMemory.open(settings, Path(data), chat=Moody(faults), clock=clock)
    try:
        async with opening as memory:
            backing = asyncio.create_task(_back_up(memory, Path(data), seed))
            number = first
            while not stop.is_set():
                turn = world.turn(number)
                number += await _tried("remember", lambda turn=turn, number=number: _handed_in(memory, turn, number))
                await _tried("context", lambda turn=turn: memory.context(turn.scene, "喜欢什么茶"))
                await _tried("search", lambda turn=turn: memory.search_events(turn.scene, "喜欢什么茶"))
                await asyncio.sleep(0.02)
            backing.cancel()
    except core.CognitiveMemoryError:
        say("fault", "opening refused")


async def _handed_in(memory: core.CognitiveMemory, turn: core.Turn, number: int) -> None:
    await memory.observe(core.Message(f"m{number}", turn.scene, f"第 {number} 句闲话", datetime.now(timezone.utc)))
    if await memory.remember(turn) is not None:
        say("accepted", number)


async def _back_up(memory: core.CognitiveMemory, data: Path, seed: int) -> None:
    for number in count():
        await asyncio.sleep(seed % 20 / 10)
        path = data.with_name(f"backup-{seed}-{number}")
        say("begins", path)
        if await _tried("backup", lambda path=path: memory.backup(path)):
            say("backup", path)
            return


async def _tried(name: str, call: Callable[[], Awaitable[object]]) -> bool:
    """Return whether a call went well; what no caller expects is told."""
    ended = await world.tried(call())
    if ended not in ("accepted", "refused"):
        say("crash", f"{name}: {ended}")
    return ended == "accepted"
