"""F27: SIGTERM beside a model that hangs, and a cancellation at every await of every operation."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import cognitive_memory_core as core
from cognitive_memory_core.ports.models import Ask
from tests.support.cancelling import cancelled_at

from ..fault_row import Extent, Row
from . import world
from .tracer import ROOT

T = TypeVar("T")
SHUTDOWN = 3.0  # shutdown_seconds of the killed processes
JOBS = 8
LONGEST = 20.0  # seconds that an operation may take after a cancelled one
DRAINING = 60.0
MOST_AWAITS = 400
TERMINATED = world.SETTINGS.model_copy(update={"historian": core.HistorianSettings(shutdown_seconds=SHUTDOWN)})
Operation = Callable[[core.CognitiveMemory, int], Coroutine[Any, Any, object]]


@dataclass
class Hanging:
    """A model that never answers; a stubborn one does not hear its cancellation either."""

    is_stubborn: bool = False

    async def ask(self, ask: Ask[T]) -> T:
        """Wait for ever."""
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if not self.is_stubborn:
                    raise


@dataclass
class Broken:
    """The counts of both halves of the row."""

    stops: int = 0
    slowest: float = 0.0
    lost: list[str] = field(default_factory=list[str])
    twice: list[str] = field(default_factory=list[str])
    locked: list[str] = field(default_factory=list[str])
    points: Counter[str] = field(default_factory=Counter[str])


def f27(extent: Extent) -> Row:
    """Terminate processes with jobs in hand; cancel every operation at each of its awaits."""
    broken = Broken()
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(extent.of(10, 1)):
            for kind in ("deaf", "stubborn"):
                terminated(Path(scratch, f"{kind}{number}"), kind, broken)
        asyncio.run(cancelled_everywhere(Path(scratch, "cancelled"), broken, extent.of(MOST_AWAITS, 8)))
        asyncio.run(cancelled_closing(Path(scratch, "closing"), broken, extent.of(MOST_AWAITS, 6)))
    points = ", ".join(f"{name} {count}" for name, count in broken.points.items())
    note = (
        f"{broken.stops} processes with {JOBS} jobs and a model that hangs: slowest end {broken.slowest:.1f} s of "
        f"{SHUTDOWN:.0f} + 5 allowed, locks kept {len(broken.locked)}; cancelled at each await: {points}; "
        "seconds: the slowest end"
    )
    print(*broken.lost, *broken.twice, *broken.locked, sep="\n", file=sys.stderr)
    is_bad = bool(broken.locked)
    injected = broken.stops + broken.points.total()
    return Row(injected, len(broken.lost), len(broken.twice), 0, broken.slowest, note, is_bad)


def terminated(data: Path, kind: str, broken: Broken) -> None:
    """Terminate one process that has jobs in hand; the next one finds all of them."""
    command = [sys.executable, "-m", "benchmarks.faults.signals", str(data), kind]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() == "asked":
                break
        at = time.monotonic()
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(SHUTDOWN * 10)
        except subprocess.TimeoutExpired:
            process.kill()
            broken.locked.append(f"{kind}: did not end")
        broken.slowest = max(broken.slowest, time.monotonic() - at)
    broken.stops += 1
    asyncio.run(_found_again(data, kind, broken))


async def _found_again(data: Path, kind: str, broken: Broken) -> None:
    """Open the directory without waiting for its owner; all jobs are pending, and the rules do them."""
    impatient = TERMINATED.model_copy(update={"historian": core.HistorianSettings(shutdown_seconds=0)})
    folders = {name: len(list((data / "queues" / name).glob("*.json"))) for name in world.FOLDERS}
    if folders["pending"] != JOBS or folders["processing"]:
        broken.lost.append(f"{kind}: {folders}")
    try:
        async with core.CognitiveMemory.open(impatient, data) as memory:
            await memory.drain(DRAINING)
            texts = [event.text for event in await memory.events(core.Scene.operator(), limit=100)]
    except core.DirectoryInUse:
        broken.locked.append(kind)
        return
    _compare(dict.fromkeys(range(JOBS), 1), texts, broken)


def _compare(handed: dict[int, int], texts: list[str], broken: Broken) -> None:
    """Compare texts with turns by number: 1 must be there once, 0 at most once."""
    for number, least in handed.items():
        count = sum(f"第 {number} 号茶" in text for text in texts)
        broken.lost += [f"turn {number}"] if count < least else []
        broken.twice += [f"turn {number}"] if count > 1 else []


async def serve(data: Path, kind: str) -> None:
    """Work with a model that hangs until SIGTERM comes, as a bot does."""
    stop, chat = asyncio.Event(), Hanging(kind == "stubborn")
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with core.CognitiveMemory.open(TERMINATED, data, chat=chat) as memory:
        for number in range(JOBS):
            await memory.remember(_turn(number))
        while (await memory.status()).jobs.processing == 0:  # noqa: ASYNC110  # no event
            await asyncio.sleep(0.05)
        print("asked", flush=True)
        await stop.wait()
    os._exit(0)  # asyncio.run would wait for a stubborn model; the memory does not


def _turn(number: int) -> core.Turn:
    said = f"阿棠(2000001) 喜欢第 {number} 号茶"
    return core.Turn(world.HERE, memo=f"第 {number} 轮", observations=[said], happened_at=world.NOON)


def _line(number: int) -> core.Message:
    return core.Message(f"m{number}", world.HERE, f"阿棠喜欢第 {number} 号咖啡", world.NOON)


OPERATIONS: dict[str, Operation] = {
    "enqueue": lambda memory, number: memory.remember(_turn(number)),
    "observe": lambda memory, number: memory.observe(_line(number)),
    "consider": lambda memory, number: memory.consider(world.HERE, [_line(number)]),
    "context": lambda memory, _: memory.context(world.HERE, "第 1 号茶"),
    "search": lambda memory, _: memory.search_events(world.HERE, "第 1 号茶"),
    "pin": lambda memory, number: memory.pin(world.HERE, f"置顶 {number}"),
    "forget": lambda memory, _: memory.forget_user(core.Scene.operator(), "2000099"),
    "evolve": lambda memory, _: _evolved(memory),
    "drain": lambda memory, _: memory.drain(DRAINING),
    "status": lambda memory, _: memory.status(),
}


async def _evolved(memory: core.CognitiveMemory) -> None:
    with suppress(core.CognitiveMemoryError):  # there is nothing to grow from, which is said after the same reads
        await memory.evolve(world.HERE)


async def cancelled_everywhere(data: Path, broken: Broken, most: int) -> None:
    """Cancel each operation at its first, second, ... await; the same operation then works, and nothing is twice."""
    handed: dict[int, int] = {}
    async with core.CognitiveMemory.open(world.SETTINGS, data) as memory:
        for kind, (name, operation) in enumerate(OPERATIONS.items()):
            for at in range(1, most + 1):
                number = kind * 1_000 + at
                went_so_far = await cancelled_at(partial(_only, operation, memory, number), at)
                broken.points[name] += went_so_far
                if name == "enqueue":
                    handed |= {number: 0 if went_so_far else 1, number + 500: 1}
                await _works(name, operation(memory, number + 500), broken)
                if not went_so_far:
                    break
        await memory.drain(DRAINING)
        texts = [event.text for event in await _all_events(memory)]
    _compare(handed, texts, broken)


async def _only(operation: Operation, memory: core.CognitiveMemory, number: int) -> None:
    await operation(memory, number)


async def _works(name: str, work: Awaitable[object], broken: Broken) -> None:
    """Run an operation that was cancelled a moment ago; one that waits is held up by a lock."""
    try:
        await asyncio.wait_for(work, LONGEST)
    except asyncio.TimeoutError:
        broken.locked.append(f"{name} waits after a cancellation")


async def _all_events(memory: core.CognitiveMemory) -> list[core.Event]:
    found: list[core.Event] = []
    while page := await memory.events(core.Scene.operator(), limit=200, offset=len(found)):
        found += page
    return found


async def cancelled_closing(data: Path, broken: Broken, most: int) -> None:
    """Cancel the closing at each of its awaits; the next opening finds what was accepted, at once."""
    handed: dict[int, int] = {}
    for at in range(1, most + 1):
        opening = core.CognitiveMemory.open(TERMINATED, data)
        memory = await opening.__aenter__()
        await memory.remember(_turn(at))
        handed[at] = 1
        went_so_far = await cancelled_at(lambda opening=opening: _closed(opening), at)
        broken.points["close"] += went_so_far
        if not went_so_far:
            break
    async with core.CognitiveMemory.open(TERMINATED, data) as memory:
        await memory.drain(DRAINING)
        texts = [event.text for event in await _all_events(memory)]
    _compare(handed, texts, broken)


async def _closed(opening: Any) -> None:
    await opening.__aexit__(None, None, None)


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), sys.argv[2]))
