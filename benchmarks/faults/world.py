"""A data directory whose contents are known by tokens, and the oracle that counts the tokens after a fault.

A token stands for one thing that may be lost or doubled: a job, event, message, memo, or line of the copy of memos.
"""

from __future__ import annotations

import os
import re
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path

import orjson

import cognitive_memory_core as core
from cognitive_memory_core.disk import Disk
from cognitive_memory_core.domain.event import Draft, Event
from cognitive_memory_core.domain.ids import derived_id
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.note import Memo
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.domain.turn import Job, Turn
from cognitive_memory_core.end_summaries import EndSummaries
from cognitive_memory_core.errors import CognitiveMemoryError, PermanentError
from cognitive_memory_core.ports.clock import Clock
from cognitive_memory_core.ports.vectors import EmbeddedEvent
from cognitive_memory_core.queue import format as codec
from cognitive_memory_core.queue.format import parsed
from cognitive_memory_core.queue.job_queue import FileQueue
from cognitive_memory_core.settings import (
    CaptureSettings,
    HistorianSettings,
    QueueSettings,
    Settings,
    VectorStoreSettings,
)
from cognitive_memory_core.store.all_rows import ArchiveRow
from cognitive_memory_core.store.ledger import Ledger

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
)
TURN = re.compile(r"第 ?(\d+) ?轮")
Tokens = Counter[str]


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


def an_event(name: str) -> Event:
    """Return the event of a name."""
    return Event(
        derived_id("fault event", name),
        f"阿棠(2000001) 喜欢第{name}号茶",
        user_id=HERE.user_id,
        group_id=HERE.group_id,
        sender_id=HERE.user_id,
        request_type="group",
        happened_at=NOON,
    )


def a_draft(*names: str) -> Draft:
    """Return the draft of some events."""
    return Draft(derived_id("fault draft", *names), tuple(an_event(name) for name in names))


def a_message(name: str) -> Message:
    """Return the message of a name."""
    return Message(f"m-{name}", HERE, f"我喜欢第{name}号茶", NOON)


def a_memo(name: str) -> Memo:
    """Return the memo of a name."""
    return Memo(derived_id("fault memo", name), HERE.scope, f"{name}：答过了", NOON, HERE.user_id)


def job_tokens(*names: str) -> frozenset[str]:
    """Return the tokens of jobs."""
    return frozenset(f"job:{a_job(name).id}" for name in names)


def event_tokens(*names: str) -> frozenset[str]:
    """Return the tokens of events."""
    return frozenset(f"event:{an_event(name).id}" for name in names)


def lay(folder: Path, file: Path, data: bytes) -> None:
    """Write a file below a folder by hand."""
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / file).write_bytes(data)


async def opened_queue(data: Path, disk: Disk | None = None) -> FileQueue:
    """Open the queue of a data directory as its owner does."""
    return await FileQueue.open(data / "queues", QUEUE, CLOCK, disk=disk)


async def prepared(data: Path, *, buried: int = 1) -> None:
    """Create the state before every fault: three waiting jobs of two places, buried ones, and a small ledger."""
    queue = await opened_queue(data)
    for number in range(buried):
        await queue.enqueue(a_job(f"旧{number}", THERE))
        claim = await queue.claim()
        assert claim is not None
        await queue.bury(claim, "坏了")
    for name, scene in (("甲", HERE), ("乙", HERE), ("丙", THERE)):
        await queue.enqueue(a_job(name, scene))
    await queue.close()
    ledger = await Ledger.open(data / "ledger.db", clock=CLOCK)
    await ledger.events.commit(a_draft("一", "二"))
    await ledger.log.append([a_message("一")])
    await ledger.notes.write_memo(a_memo("一"))
    await ledger.close()
    mirror = EndSummaries(data / "end_summaries.json", CLOCK)
    await mirror.copy(a_memo("一"))
    await mirror.flush()


def buried_names(buried: int = 1) -> list[str]:
    """Return the names of the jobs that :func:`prepared` buries."""
    return [f"旧{number}" for number in range(buried)]


@dataclass(frozen=True)
class Found:
    """What a new process finds: tokens, and names of incomplete files."""

    tokens: Tokens
    torn: tuple[str, ...] = ()


async def found(data: Path, *, drafts: Iterable[Draft] = (), whole: bool = False) -> Found:
    """Open a data directory as the next process would, and count everything in it; ``whole`` compares all fields."""
    try:
        tokens = await _jobs(data) + await _ledger(data, drafts, whole) + _summaries(data) + _copies(data)
    except CognitiveMemoryError as refused:
        return Found(Tokens(), (str(refused),))
    return Found(tokens)


def torn_files(data: Path) -> tuple[str, ...]:
    """Return the names of files with a job's name but no valid job; call this before anything is opened."""
    return tuple(
        path.name for folder in FOLDERS for path in (data / "queues" / folder).glob("*.json") if _is_torn(path)
    )


def _is_torn(path: Path) -> bool:
    name = parsed(path.name)
    try:
        if name is not None:
            codec.job_of(codec.body_of(path.read_bytes()), name.job_id, NOON)
    except PermanentError:
        return True
    return name is None


async def _jobs(data: Path) -> Tokens:
    queue = await opened_queue(data)
    await queue.recover()
    await queue.close()
    tokens = Tokens()
    for folder in FOLDERS:
        for path in (data / "queues" / folder).iterdir():
            name = parsed(path.name)
            tokens[f"job:{name.job_id}" if name else f"stray:{path.name}"] += 1
            if name and folder == "failed":
                tokens[f"failed:{name.job_id}"] += 1
            if name and name.attempts:
                tokens[f"tried:{name.job_id}"] += 1
    return tokens


async def _ledger(data: Path, drafts: Iterable[Draft], whole: bool) -> Tokens:
    ledger = await Ledger.open(data / "ledger.db", clock=CLOCK)
    try:
        tokens = Tokens([f"done:{draft.job_id}" for draft in drafts if await ledger.events.done(draft.job_id)])
        async for row in ledger.archive.rows():
            tokens[_token(row)] += row.event.count if isinstance(row, EmbeddedEvent) else 1
            tokens[f"row:{row!r}"] += whole
    finally:
        await ledger.close()
    return tokens


def _token(row: ArchiveRow) -> str:
    if isinstance(row, EmbeddedEvent):
        return f"event:{row.event.id}"
    return f"{type(row).__name__.lower()}:{getattr(row, 'id', row)}"


def _summaries(data: Path) -> Tokens:
    path = data / "end_summaries.json"
    rows = orjson.loads(path.read_bytes()) if path.exists() else []
    return Tokens(f"summary:{row['id']}" for row in rows)


def _copies(data: Path) -> Tokens:
    """Count the copies of the ledger, each of which must be intact; a copy that was being made is skipped."""
    tokens = Tokens()
    for path in (*data.glob("ledger.v*.db"), *data.glob("copy.db")):
        with closing(sqlite3.connect(path)) as copy:
            is_whole = copy.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
            events = copy.execute("SELECT count(*) FROM events").fetchone()[0]
            tokens[f"copy:{path.name}:{events}:{is_whole}"] += events > 0
    return +tokens


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


async def exported(memory: core.CognitiveMemory) -> list[bytes]:
    """Return the lines of an export, written outside the data directory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out.jsonl"
        await memory.export(path)
        return path.read_bytes().splitlines()


async def turns_found(
    data: Path, settings: core.Settings, clock: Clock | None = None
) -> tuple[Counter[int], Counter[int], int]:
    """Drain, export, and count events and memos by the turn that they name, and stuck jobs."""
    events: Counter[int] = Counter()
    memos: Counter[int] = Counter()
    async with core.CognitiveMemory.open(settings, data, clock=clock) as memory:
        assert await memory.drain(300)
        jobs = (await memory.status()).jobs
        lines = await exported(memory)
    for line in lines:
        row = orjson.loads(line)
        if row.get("type") in ("event", "memo"):
            (number,) = TURN.findall(row["text"])
            (events if row["type"] == "event" else memos)[int(number)] += row.get("count", 1)
    return events, memos, jobs.pending + jobs.processing + jobs.failed
