"""F26: few file handles, little memory, and what groups and events cost of both."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import cognitive_memory_core as core

from ..fault_row import Extent, Row
from . import world
from .tracer import ROOT

HANDLES = (64, 32)
SPARE = 48 << 20  # bytes of address space that a short process gets beyond what it has
DRAINING = 120.0
BATCH = 500
MEGABYTE = 1 << 20


def f26(extent: Extent) -> Row:
    """Take handles and memory away in processes of their own, give them back, and count what groups and events cost."""
    started = time.monotonic()
    events, groups = extent.of(20_000, 500), (10, 100, extent.of(1_000, 200))
    with tempfile.TemporaryDirectory() as scratch:
        few = [alone(Path(scratch, f"few{number}"), "few", number) for number in HANDLES]
        short = alone(Path(scratch, "short"), "short", SPARE)
        handles = [alone(Path(scratch, f"groups{number}"), "groups", number)["handles"] for number in groups]
        grown = alone(Path(scratch, "events"), "events", events)
    lives = [*few, short]
    crashes = [crash for one in lives for crash in one["crashes"]]
    accepted, refused = (sum(one[name] for one in few) for name in ("accepted", "refused"))
    note = (
        f"handles {' and '.join(map(str, HANDLES))}, then none: accepted {accepted}, refused {refused}; "
        f"{SPARE // MEGABYTE} MB of address space left, then less: accepted {short['accepted']}, refused "
        f"{short['refused']}; after they were given back all of it was done; raised otherwise: {crashes or 'nothing'}; "
        f"file handles at {'/'.join(map(str, groups))} groups {'/'.join(map(str, handles))}; {grown['mb']:.1f} MB per "
        f"10,000 events ({events} measured); seconds: the whole row"
    )
    lost, twice = sum(one["lost"] for one in lives), sum(one["twice"] for one in lives)
    is_bad = bool(crashes)
    tried = sum(one["accepted"] + one["refused"] for one in lives)
    return Row(tried, lost, twice, 0, time.monotonic() - started, note, is_bad)


def alone(data: Path, what: str, size: int) -> dict[str, Any]:
    """Run one of this module's works in a process of its own; return what it told, or its crash."""
    command = [sys.executable, "-m", "benchmarks.faults.limits", what, str(data), str(size)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    try:
        answer: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        crash = f"{what} {size}: ended with {ended.returncode} {ended.stderr[-300:]}"
        return {"accepted": 0, "refused": 0, "crashes": [crash], "lost": 1, "twice": 0, "handles": -1, "mb": 0.0}
    return answer


class Attempts:
    """Calls made while something is short: how many succeeded, were refused, or raised what no caller expects."""

    def __init__(self) -> None:
        """Start with none."""
        self.accepted: list[int] = []
        self.refused = 0
        self.crashes: list[str] = []

    async def make(self, name: str, work: Callable[[], Awaitable[object]], number: int | None = None) -> None:
        """Make one call; ``number`` is that of a turn."""
        try:
            await asyncio.wait_for(work(), 60)
        except core.CognitiveMemoryError:
            self.refused += 1
        except Exception as crash:  # noqa: BLE001  # whatever else comes out is what the row looks for
            self.crashes.append(f"{name}: {type(crash).__name__} {crash}"[:120])
            traceback.print_exc()
        else:
            self.accepted += [] if number is None else [number]

    async def all(self, memory: core.CognitiveMemory, first: int, count: int) -> None:
        """Hand in turns, and read and write in every other way."""
        for number in range(first, first + count):
            await self.make("remember", lambda number=number: memory.remember(turn(number)), number)
        line = core.Message(f"m{first}", world.HERE, "花生过敏", world.NOON)
        await self.make("observe", lambda: memory.observe(line))
        await self.make("consider", lambda: memory.consider(world.HERE, [line]))
        await self.make("context", lambda: memory.context(world.HERE, "第 1 号茶"))
        await self.make("search", lambda: memory.search_events(world.HERE, "第 1 号茶"))
        await self.make("pin", lambda: memory.pin(world.HERE, f"置顶 {first}"))
        await self.make("status", memory.status)
        await self.make("drain", lambda: memory.drain(2))


def turn(number: int) -> core.Turn:
    """Return a turn with one observation."""
    said = f"阿棠(2000001) 喜欢第 {number} 号茶"
    return core.Turn(world.HERE, memo=f"第 {number} 轮", observations=[said], request_id=f"t{number}")


async def _result(memory: core.CognitiveMemory, attempts: Attempts) -> dict[str, Any]:
    """Hand in one turn more, now that nothing is short, and count what was accepted."""
    await memory.remember(turn(999))
    await memory.drain(DRAINING)
    await memory.revive()
    await memory.drain(DRAINING)
    texts = [event.text for event in await memory.events(core.Scene.operator(), limit=200)]
    counts = [sum(f"第 {number} 号茶" in text for text in texts) for number in [*attempts.accepted, 999]]
    return {
        "accepted": len(attempts.accepted),
        "refused": attempts.refused,
        "crashes": attempts.crashes,
        "lost": counts.count(0),
        "twice": sum(count > 1 for count in counts),
    }


async def few(data: Path, number: int) -> dict[str, Any]:
    """Work with few handles, then without any, then with enough."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))
    attempts = Attempts()
    try:
        async with core.CognitiveMemory.open(world.SETTINGS, data) as memory:
            await attempts.all(memory, 0, 5)
            eaten = _all_handles()
            await attempts.all(memory, 5, 15)
            for handle in eaten:
                os.close(handle)
            resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
            return await _result(memory, attempts)
    except core.CognitiveMemoryError:
        attempts.refused += 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    async with core.CognitiveMemory.open(world.SETTINGS, data) as memory:
        return await _result(memory, attempts)


def _all_handles() -> list[int]:
    eaten: list[int] = []
    try:
        while True:
            eaten.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        return eaten


async def short(data: Path, spare: int) -> dict[str, Any]:
    """Work with little address space left, then with enough."""
    attempts, limits = Attempts(), resource.getrlimit(resource.RLIMIT_AS)
    async with core.CognitiveMemory.open(world.SETTINGS, data) as memory:
        await attempts.all(memory, 0, 3)
        resource.setrlimit(resource.RLIMIT_AS, (_address_space() + spare, limits[1]))
        hoard = _all_memory()
        await attempts.all(memory, 3, 15)
        del hoard
        resource.setrlimit(resource.RLIMIT_AS, limits)
        return await _result(memory, attempts)


def _all_memory() -> list[bytearray]:
    """Take most of what is left, in large blocks."""
    hoard: list[bytearray] = []
    try:
        while True:
            hoard.append(bytearray(4 * MEGABYTE))
    except MemoryError:
        return hoard


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()


async def groups(data: Path, number: int) -> dict[str, Any]:
    """Talk in many groups and count the open file handles."""
    async with core.CognitiveMemory.open(world.SETTINGS, data) as memory:
        for group in range(number):
            scene = core.Scene.group(str(10_000 + group), "2000001", user_name="阿棠")
            await memory.observe(core.Message(f"m{group}", scene, "花生过敏", world.NOON))
            await memory.context(scene, "花生")
        return {"handles": len(_handles())}


async def events(data: Path, number: int) -> dict[str, Any]:
    """Store events through turns' own path in batches, and return how many megabytes 10,000 of them cost."""
    async with core.CognitiveMemory.open(world.SETTINGS, data) as memory:
        await _stored(memory, 0, BATCH)
        before = _resident()
        for first in range(BATCH, number, BATCH):
            await _stored(memory, first, BATCH)
        return {"mb": max(_resident() - before, 0) / MEGABYTE * 10_000 / max(number - BATCH, 1)}


async def _stored(memory: core.CognitiveMemory, first: int, count: int) -> None:
    """Import events of fifty groups."""
    with tempfile.TemporaryDirectory() as folder:
        assert await memory.import_(_file(Path(folder, "rows.jsonl"), range(first, first + count))) == count
    await memory.drain(DRAINING)


def _file(path: Path, numbers: range) -> Path:
    rows = [json.dumps(_row(number), ensure_ascii=False) for number in numbers]
    path.write_text("\n".join(['{"format":"cognitive-memory","version":1}', *rows, ""]), "utf-8")
    return path


def _row(number: int) -> dict[str, Any]:
    return {
        "type": "event",
        "id": f"e{number}",
        "text": f"阿棠(2000001) 在第 {number} 天买了第 {number} 号茶",
        "user_id": "2000001",
        "group_id": str(10_000 + number % 50),
        "sender_id": "2000001",
        "request_type": "group",
        "happened_at": world.NOON.isoformat(),
    }


def _handles() -> list[str]:
    return [path.name for path in Path("/proc/self/fd").iterdir()]


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    wanted, folder, size = sys.argv[1:]
    works = {"few": few, "short": short, "groups": groups, "events": events}
    print(json.dumps(asyncio.run(works[wanted](Path(folder), int(size))), ensure_ascii=False))
