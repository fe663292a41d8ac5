"""Memory of bot and Chroma child as their events grow, while people chat and ask and the memory learns, in MB.

A bot without models runs in a separate process: lines arrive, each step adds events (by import, since years of them
would take hours), and with each part turns are recorded, contexts are requested in many groups, and an operator
searches. After each step: what both processes hold, the most that they held, and the time of a context.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import psutil

import cognitive_memory_core as core

from .family import children_resident, resident
from .measure import Report, Sample
from .topics import batches
from .workload import NOW, Line, Speech, group_years, write_export

ROOT = Path(__file__).resolve().parent.parent
PART = 500  # events imported at a time
TURNS, CONTEXTS, SEARCHES, MESSAGES = 10, 30, 2, 50  # with each part
LOOKS = 0.2  # seconds between two samples of the processes


@dataclass(frozen=True)
class Step:
    """Memory of bot and child after so many events, in MB; ``p50`` and ``p95`` of a context, in ms."""

    events: int
    bot: float
    bot_most: float
    child: float
    child_most: float
    p50: float
    p95: float
    behind: int


@dataclass
class Most:
    """The highest memory of both processes since the last step."""

    bot: float = 0.0
    child: float = 0.0

    async def watch(self) -> None:
        """Sample until cancelled."""
        while True:
            bot, child = await asyncio.to_thread(lambda: (resident(psutil.Process()), children_resident()))
            self.bot, self.child = max(self.bot, bot), max(self.child, child)
            await asyncio.sleep(LOOKS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of events, step size, store."""
    parser.add_argument("--events", type=int, default=40_000)
    parser.add_argument("--step", type=int, default=5_000)
    parser.add_argument("--store", choices=("chroma", "exact", "both"), default="both")
    parser.add_argument("--directory", type=Path, help="a folder on the disk to use (default: temporary files)")


def run(options: argparse.Namespace) -> Report:
    """Run a bot with each requested store."""
    columns = (
        "store", "events", "bot", "bot at most", "child", "child at most", "together", "context p50", "context p95",
        "rows behind",
    )  # fmt: skip
    report = Report("growth: resident MB under load", columns)
    for store in ("chroma", "exact") if options.store == "both" else (options.store,):
        with tempfile.TemporaryDirectory(dir=options.directory, ignore_cleanup_errors=True) as folder:
            for step in _steps(Path(folder), store, options.events, options.step):
                report.add(
                    store, step.events, step.bot, step.bot_most, step.child, step.child_most, step.bot + step.child,
                    step.p50, step.p95, step.behind,
                )  # fmt: skip
    report.notes.append(
        f"beside each {PART} events: {TURNS} turns, {MESSAGES} lines, {CONTEXTS} contexts, {SEARCHES} searches"
    )
    report.notes.append("the local embedder's vectors have 512 dimensions; pages that two processes share count twice")
    return report


def _steps(folder: Path, store: str, events: int, step: int) -> Iterator[Step]:
    command = [sys.executable, "-m", "benchmarks.growth", str(folder), store, str(events), str(step)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(f"{store}: {line.strip()}", file=sys.stderr, flush=True)
            yield Step(**json.loads(line))


async def _grow(folder: Path, store: str, events: int, step: int) -> None:
    lines, most = group_years(events), Most()
    settings = core.Settings(vector_store=core.VectorStoreSettings(backend=store))  # type: ignore[arg-type]
    watching = asyncio.create_task(most.watch())
    async with core.CognitiveMemory.open(settings, folder) as memory:
        done, speech = 0, Speech(3)
        while done < events:
            sample = Sample()
            for part in batches(islice(lines, step), PART):
                await _lived(memory, part, folder / "part.jsonl", speech, sample)
                done += len(part)
            behind = (await memory.status()).index.behind
            print(json.dumps(asdict(_seen(done, most, sample, behind))), flush=True)
            most.bot = most.child = 0.0
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching


async def _lived(
    memory: core.CognitiveMemory, part: Sequence[Line], path: Path, speech: Speech, sample: Sample
) -> None:
    """Import events while the groups that they belong to chat and are answered."""
    await asyncio.to_thread(write_export, part, path)
    bringing = asyncio.create_task(memory.import_(path))
    scenes = [line.scene for line in part]
    for number in range(MESSAGES):
        scene = scenes[number]
        message = core.Message(f"m{part[0].id}{number}", scene, speech.text(25), NOW)
        await memory.observe(message)
    for number in range(TURNS):
        await memory.remember(core.Turn(scenes[number], memo=speech.text(12), observations=speech.texts(2, 30)))
    for number in range(CONTEXTS):
        with sample.watch():
            await memory.context(scenes[-number], speech.text(25))
    for _ in range(SEARCHES):
        await memory.search_events(core.Scene.operator(), speech.text(25))
    await bringing
    await memory.drain(600)


def _seen(done: int, most: Most, sample: Sample, behind: int) -> Step:
    bot, child = resident(psutil.Process()), children_resident()
    return Step(done, bot, max(most.bot, bot), child, max(most.child, child), sample.p50, sample.p95, behind)


if __name__ == "__main__":
    asyncio.run(_grow(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
