"""The settings, places and clock of rows about processes and disks; turns by number, and what became of them."""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import orjson

import cognitive_memory_core as core
from cognitive_memory_core.disk import Disk
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.scope import Scene, derived_id
from cognitive_memory_core.domain.turn import Job, Turn
from cognitive_memory_core.ports import Clock
from cognitive_memory_core.queue.job_queue import FileQueue
from cognitive_memory_core.settings.schema import (
    CaptureSettings,
    EmbeddingSettings,
    HistorianSettings,
    ModelsSettings,
    QueueSettings,
    Settings,
    VectorStoreSettings,
)

from ..fault_row import Counts

ROOT = Path(__file__).resolve().parents[2]
NOON = datetime(2026, 3, 4, 12, 0, tzinfo=timezone(timedelta(hours=8)))
HERE = Scene.group("10001", "2000001", user_name="阿棠", group_name="读书会")
THERE = Scene.group("10002", "2000002", user_name="小雨", group_name="桌游局")
FOLDERS = ("pending", "processing", "failed")
QUEUE = QueueSettings(job_max_retries=1_000)  # no job is buried only because it was killed often
SETTINGS = Settings(
    queue=QUEUE,
    historian=HistorianSettings(poll_interval_seconds=0.05),
    capture=CaptureSettings(log_days=36_500),  # so that rows of one fixed day are not pruned
    vector_store=VectorStoreSettings(backend="exact"),  # the vector store has rows of its own
    models=ModelsSettings(embedding=EmbeddingSettings(local="hash")),  # so that rows do not depend on when it is loaded
)
DRAINING = 300.0  # seconds
GROUPS = 7  # among which turns are spread
NUMBER = re.compile(r"第 ?(\d+) ?轮")


class MachineClock:
    """The machine's own time."""

    def now(self) -> datetime:
        """Return the current instant."""
        return datetime.now(timezone.utc)


CLOCK = MachineClock()


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
    return await FileQueue.open(data / "queues", QUEUE, CLOCK, disk=disk)


def turn(number: int, scene: Scene | None = None, **fields: Any) -> Turn:
    """Return a turn whose event and memo name its number; turns of numbers that follow each other are of all groups."""
    group, person = str(10_001 + number % GROUPS), str(2_000_001 + number % GROUPS)
    said = f"小雨在第 {number} 轮说喜欢第 {number} 号茶"
    fields = {"memo": f"第 {number} 轮答过", "observations": [said], "request_id": f"turn-{number}", **fields}
    return Turn(scene or Scene.group(group, person, user_name="小雨"), **fields)


async def counted(memory: core.CognitiveMemory, accepted: Iterable[int], *, perhaps: Iterable[int] = ()) -> Counts:
    """Let everything be done, and count events and memos by the turn that they name, and jobs that are left.

    Accepted turns are there once, those in ``perhaps`` at most once.
    """
    assert await memory.drain(DRAINING)
    jobs = (await memory.status()).jobs
    kinds: dict[str, Counter[int]] = {"event": Counter(), "memo": Counter()}
    for row in map(orjson.loads, await exported(memory)):
        if row.get("type") in kinds and (found := NUMBER.search(row["text"])):
            kinds[row["type"]][int(found[1])] += row.get("count", 1)
    lost = sum(1 for number in set(accepted) - {*perhaps} if not all(counts[number] for counts in kinds.values()))
    twice = sum(1 for counts in kinds.values() for count in counts.values() if count > 1)
    return Counts(lost, twice, jobs.pending + jobs.processing + jobs.failed)


async def counted_in(data: Path, accepted: Iterable[int], clock: Clock | None = None) -> Counts:
    """Open a directory and count what became of accepted turns; jobs that were buried are tried again."""
    async with core.CognitiveMemory.open(SETTINGS, data, clock=clock) as memory:
        await memory.revive()
        return await counted(memory, accepted)


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
