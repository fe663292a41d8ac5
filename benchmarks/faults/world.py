"""The settings, places, clocks and numbered turns of the rows, and what became of the turns."""

from __future__ import annotations

import asyncio
import math
import os
import re
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import orjson

import cognitive_memory_core as core
from cognitive_memory_core.disk import Disk
from cognitive_memory_core.domain.ids import derived_id
from cognitive_memory_core.domain.job import Job
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.domain.turn import Turn
from cognitive_memory_core.ports import Clock
from cognitive_memory_core.queue.job_queue import FileQueue
from cognitive_memory_core.settings.schema import QueueSettings, Settings

from ..fault_row import Seen

NOON = datetime(2026, 3, 4, 12, 0, tzinfo=timezone(timedelta(hours=8)))
HERE = Scene.group("10001", "2000001", user_name="阿棠", group_name="读书会")
THERE = Scene.group("10002", "2000002", user_name="小雨", group_name="桌游局")
FOLDERS = ("pending", "processing", "failed")
QUEUE = QueueSettings(job_max_retries=1_000)  # no job is buried only because it was killed often
EXACT: Mapping[str, Any] = {"vector_store": {"backend": "exact"}}  # the vector store has rows of its own
SETTINGS = Settings.model_validate(
    {
        **EXACT,
        "queue": QUEUE,
        "historian": {"poll_interval_seconds": 0.05},
        "capture": {"log_days": 36_500},  # so that rows of one fixed day are not pruned
        "models": {"embedding": {"local": "hash"}},  # so that rows do not depend on when an encoder is loaded
    }
)
DRAINING = 300.0  # seconds
GROUPS = 7  # among which turns are spread
NUMBER = re.compile(r"第 ?(\d+) ?(?:轮|号茶)")
PAGE = 200
PAUSE = 0.02  # seconds between two checks


def now() -> datetime:
    """Return the current instant."""
    return datetime.now(timezone.utc)


@dataclass
class MachineClock:
    """The machine's own time, or ahead of it, so that pauses after failures are over; it may run faster."""

    ahead: timedelta = timedelta()
    began: float = 0.0  # from when on it runs at another pace
    pace: float = 1.0

    def now(self) -> datetime:
        """Return the current instant."""
        passed = (time.time() - self.began) * self.pace
        return datetime.fromtimestamp(self.began + passed, timezone.utc) + self.ahead


CLOCK = MachineClock()


def model_settings(url: str = "", model: Mapping[str, Any] | None = None, **groups: Any) -> core.Settings:
    """Return settings for rows about models: no vector store, fast polling, one chat model at ``url``."""
    historian = {"api_url": url, "model_name": "m", "timeout_seconds": 1.0, **(model or {})} if url else {}
    wanted: dict[str, Any] = {**EXACT, "models": {"historian": historian}, "daily_calls": 0, **groups}
    wanted["historian"] = {"poll_interval_seconds": 0.05, **groups.get("historian", {})}
    return core.Settings.from_mapping(wanted)


@asynccontextmanager
async def a_memory(
    settings: core.Settings = SETTINGS, **given: Any
) -> AsyncGenerator[tuple[core.CognitiveMemory, Path], None]:
    """Open a memory in a temporary data directory; yield both."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        async with core.CognitiveMemory.open(settings, Path(folder) / "data", **given) as memory:
            yield memory, Path(folder) / "data"


def a_job(name: str, scene: Scene = HERE) -> Job:
    """Return the job of a name, always the same: with a memo, an observation and a source message."""
    turn = Turn(
        scene,
        memo=f"{name}：答过了",
        observations=[f"阿棠喜欢第{name}号茶"],
        message_ids=[f"m-{name}"],
        recent_messages=[Message(f"r-{name}", scene, f"再说一次{name}", NOON)],
        happened_at=NOON,
    )
    return Job(derived_id("fault", name), turn, NOON)


async def opened_queue(data: Path, disk: Disk | None = None) -> FileQueue:
    """Open the queue of a data directory as its owner does."""
    return await FileQueue(data / "queues", QUEUE, CLOCK, disk=disk).opened()


async def queued(data: Path, *jobs: tuple[str, Scene]) -> None:
    """Put jobs of these names and scenes into the queue of a data directory that no memory has open."""
    queue = await opened_queue(data)
    for job in jobs:
        await queue.enqueue(a_job(*job))
    await queue.close()


def turn(number: int, scene: Scene | None = None, **fields: Any) -> Turn:
    """Return a turn whose event and memo name its number; turns of numbers that follow each other are of all groups."""
    group, person = str(10_001 + number % GROUPS), str(2_000_001 + number % GROUPS)
    said = f"小雨在第 {number} 轮说喜欢第 {number} 号茶"
    fields = {"memo": f"第 {number} 轮答过", "observations": [said], "request_id": f"turn-{number}", **fields}
    return Turn(scene or Scene.group(group, person, user_name="小雨"), **fields)


def own_scene(number: int) -> Scene:
    """Return the scene of a number that has a group and a speaker of its own."""
    return Scene.group(str(100_001 + number), str(2_000_001 + number), user_name="小雨", group_name="茶会")


def sentence(number: int) -> str:
    """Return the text that is said in such a scene, with its speaker's label."""
    return f"小雨({2_000_001 + number}) 喜欢第 {number} 号茶"


def own_turn(number: int) -> Turn:
    """Return the turn of such a scene; it has no memo."""
    return Turn(own_scene(number), observations=[sentence(number)], request_id=f"t{number}")


def number_in(text: str) -> int:
    """Return the number of the turn that a text belongs to; -1 for none."""
    found = NUMBER.search(text)
    return int(found[1]) if found else -1


async def tried(call: Awaitable[object]) -> str:
    """Return how a call ended: accepted, refused, or with an error that no caller expects."""
    try:
        await call
    except core.CognitiveMemoryError:
        return "refused"
    except Exception as crash:  # noqa: BLE001  # whatever else comes out is what the rows look for
        traceback.print_exc()
        return f"{type(crash).__name__} {crash}"
    return "accepted"


async def paced(a_second: float, seconds: float = math.inf) -> AsyncIterator[int]:
    """Yield numbers at a steady pace, whatever is done with them."""
    started, number = time.perf_counter(), 0
    while (passed := time.perf_counter() - started) < seconds:
        while number < passed * a_second:
            yield number
            number += 1
        await asyncio.sleep(PAUSE / 2)


async def drained(memory: core.CognitiveMemory, seconds: float) -> None:
    """Wait until nothing waits, also while a model is unavailable."""
    deadline = time.monotonic() + seconds
    while not await memory.drain(min(5.0, seconds)) and time.monotonic() < deadline:
        pass


async def wait_idle(memory: core.CognitiveMemory, seconds: float) -> None:
    """Wait until no job waits or runs, without hurrying other work."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not (jobs := (await memory.status()).jobs).pending + jobs.processing:
            return
        await asyncio.sleep(PAUSE)


async def listed(memory: core.CognitiveMemory) -> list[core.Event]:
    """Return every event that is not retired."""
    found: list[core.Event] = []
    while page := await memory.events(core.Scene.operator(), limit=PAGE, offset=len(found)):
        found += page
    return found


async def counted(
    memory: core.CognitiveMemory, accepted: Iterable[int], kinds: Iterable[str] = ("event", "memo")
) -> Seen:
    """Count what became of accepted turns: lost and stored twice by the events and memos that name them; jobs left."""
    jobs = (await memory.status()).jobs
    found: dict[str, Counter[int]] = {kind: Counter() for kind in kinds}
    for row in map(orjson.loads, await exported(memory)):
        if row.get("type") in found and (number := number_in(row["text"])) >= 0:
            found[row["type"]][number] += row.get("count", 1)
    lost = sum(1 for number in set(accepted) if not all(counts[number] for counts in found.values()))
    twice = sum(1 for counts in found.values() for count in counts.values() if count > 1)
    return Seen(lost=lost, twice=twice, stuck=jobs.pending + jobs.processing + jobs.failed)


async def finished(memory: core.CognitiveMemory, accepted: Iterable[int]) -> Seen:
    """Let everything be done, and count what became of accepted turns."""
    assert await memory.drain(DRAINING)
    return await counted(memory, accepted)


async def counted_in(data: Path, accepted: Iterable[int], clock: Clock | None = None) -> Seen:
    """Open a directory and count what became of accepted turns; jobs that were buried are tried again."""
    async with core.CognitiveMemory.open(SETTINGS, data, clock=clock) as memory:
        await memory.revive()
        return await finished(memory, accepted)


async def exported(memory: core.CognitiveMemory) -> list[bytes]:
    """Return the lines of an export, written outside the data directory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out.jsonl"
        await memory.export(path)
        return path.read_bytes().splitlines()


@dataclass
class AcceptedTurns:
    """The turns that a killed process acknowledged, noted durably by the one that kills it."""

    path: Path
    accepted: list[int] = field(default_factory=list)

    def note(self, number: int) -> None:
        """Note one turn with an fsync."""
        with self.path.open("a", encoding="ascii") as file:
            file.write(f"{number}\n")
            file.flush()
            os.fsync(file.fileno())
        self.accepted.append(number)

    def first(self, again: int) -> int:
        """Return the first number of the next process, which hands in the last turns again."""
        return max([0, *(number + 1 - again for number in self.accepted)])
