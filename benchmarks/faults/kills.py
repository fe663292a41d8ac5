"""F1, F6 and F7: processes killed at random moments, with a claimed job, or by one of their jobs."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import cognitive_memory_core as core

from ..fault_row import Counts, Extent, Row
from . import world

SIDE_BY_SIDE = 2  # directories processed at once
EARLIEST, LATEST = 0.05, 1.5  # seconds from the start of a child to its kill
AGAIN = 8  # turns that a new child hands in again
FIRST_SIGN = 60.0  # seconds that a child may take for its first accepted turn before its time counts
REST = 1.0  # seconds between a crash and the next start
DEATHS = 20  # number after which a deadly job counts as stuck
HARMLESS = 10


@dataclass
class Life:
    """One data directory, the turns accepted into it, and the history of its processes."""

    data: Path
    ledger: world.AcceptedTurns
    at_work: int = 0  # cycles in which turns were accepted
    handed: int = 0
    torn: int = 0
    reopened: list[float] = field(default_factory=list)


def f1(extent: Extent) -> Row:
    """Kill the whole pipeline at random moments; compare what was acknowledged with what is stored."""
    cycles = extent.of(500, 12)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        shares = [len(range(number, cycles, SIDE_BY_SIDE)) for number in range(SIDE_BY_SIDE)]
        work = [(Path(folder) / str(number), share, extent.seed + number) for number, share in enumerate(shares)]
        lives = list(pool.map(lambda given: _lived(*given), work))
        counts = [asyncio.run(_counted(life)) for life in lives]
    total = sum(counts, Counts())
    at_work, torn = sum(life.at_work for life in lives), sum(life.torn for life in lives)
    reopened = max((seconds for life in lives for seconds in life.reopened), default=0.0)
    accepted = sum(len(life.ledger.accepted) for life in lives)
    note = f"{accepted} turns accepted, work done in {at_work} of {cycles} lives, torn files {torn}; seconds: to reopen"
    is_idle = at_work * 2 < cycles
    return Row(cycles, total.lost, total.twice, total.stuck, reopened, note, bool(torn or is_idle))


def _lived(folder: Path, cycles: int, seed: int) -> Life:
    folder.mkdir()
    life, dice = Life(folder / "data", world.AcceptedTurns(folder / "accepted")), random.Random(seed)
    for cycle in range(cycles):
        _live(life, f"{seed}-{cycle}", dice.uniform(EARLIEST, LATEST), must_open=dice.random() < 0.9)
        life.torn += len(world.torn_files(life.data))
    return life


def _live(life: Life, seed: str, seconds: float, *, must_open: bool) -> None:
    """Let a child hand in turns until its time is over; for most children the time starts after their first turn."""
    first = max(life.handed - AGAIN, 0)
    with child("work", str(life.data), str(first), seed) as process:
        assert process.stdout is not None
        started, lines = time.perf_counter(), _Lines(process)
        if must_open and lines.first.wait(FIRST_SIGN):
            life.reopened.append(time.perf_counter() - started)
        time.sleep(seconds)
        process.kill()
        said = lines.all()
    life.at_work += bool(said)
    for number in said:
        life.ledger.note(number)
    life.handed = max([life.handed, *(number + 1 for number in said)])


class _Lines:
    """Whole lines printed by a child, read in a thread."""

    def __init__(self, child: subprocess.Popen[str]) -> None:
        """Start reading."""
        self.first = threading.Event()
        self._numbers: list[int] = []
        self._thread = threading.Thread(target=self._read, args=[child])
        self._thread.start()

    def all(self) -> list[int]:
        """Return every number that was printed completely, after the child has ended."""
        self._thread.join()
        return self._numbers

    def _read(self, child: subprocess.Popen[str]) -> None:
        assert child.stdout is not None
        for line in child.stdout:
            if line.endswith("\n"):
                self._numbers.append(int(line))
            self.first.set()
        self.first.set()


async def _counted(life: Life) -> Counts:
    events, memos, stuck = await world.turns_found(life.data, world.SETTINGS)
    accepted = set(life.ledger.accepted)
    lost = sum(1 for number in accepted if not events[number] or not memos[number])
    twice = sum(1 for every in (events, memos) for count in every.values() if count > 1)
    return Counts(lost, twice, stuck)


def f6(extent: Extent) -> Row:
    """Crash with a claimed job; after a restart one second later it must be done."""
    rounds = extent.of(20, 3)
    with tempfile.TemporaryDirectory() as folder:
        seconds = [_recovered(Path(folder) / str(number)) for number in range(rounds)]
    done = [value for value in seconds if value is not None]
    note = f"a job in hand, killed, started again after {REST:g} s; seconds: from opening until it was done"
    return Row(rounds, stuck=rounds - len(done), seconds=max(done, default=0.0), note=note)


def _recovered(data: Path) -> float | None:
    """Return how long the next process took to finish the job; None if it did not."""
    with child("hold", str(data)) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.kill()
    time.sleep(REST)
    started = time.perf_counter()
    is_done = asyncio.run(_has_event(data, "甲"))
    return time.perf_counter() - started if is_done else None


async def _has_event(data: Path, name: str) -> bool:
    async with core.CognitiveMemory.open(world.SETTINGS, data) as memory:
        await memory.drain(60)
        events = await memory.events(core.Scene.operator(), limit=100)
        return any(f"第{name}号茶" in event.text for event in events) and not (await memory.status()).jobs.failed


def f7(extent: Extent) -> Row:
    """Process a job that ends the process each time; count the deaths until it is buried."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        asyncio.run(_poisoned(data))
        deaths, started = 0, time.perf_counter()
        while deaths < DEATHS and _ended("poison", str(data)):
            deaths += 1
        seconds = time.perf_counter() - started
        done, failed = asyncio.run(_after_poison(data))
    most = core.Settings().queue.job_max_retries + 2
    note = f"quarantined after {deaths} deaths (at most {most}); others done {done} of {HARMLESS}; seconds: all of it"
    is_bad = deaths > most or failed != 1
    return Row(deaths, HARMLESS - done, 0, 0, seconds, note, is_bad)


async def _poisoned(data: Path) -> None:
    queue = await world.opened_queue(data)
    await queue.enqueue(world.a_job("毒"))
    for number in range(HARMLESS):
        await queue.enqueue(world.a_job(f"好{number}", world.THERE if number % 2 else world.HERE))
    await queue.close()


async def _after_poison(data: Path) -> tuple[int, int]:
    async with core.CognitiveMemory.open(core.Settings(vector_store=world.SETTINGS.vector_store), data) as memory:
        await memory.drain(60)
        events = await memory.events(core.Scene.operator(), limit=100)
        return sum(1 for event in events if "第好" in event.text), (await memory.status()).jobs.failed


def _ended(*arguments: str) -> bool:
    """Return whether a child died of its work."""
    with child(*arguments) as process:
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=60)
        return process.poll() != 0


@contextmanager
def child(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run a victim process until it ends or the block is left."""
    command = [sys.executable, str(Path(__file__).with_name("victim.py")), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(world.ROOT), "PYTHONIOENCODING": "utf-8"}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()
