"""The time to rebuild the vector index, compared with bare Chroma storing the same rows in the same run.

Nothing is embedded: the workload is imported with its vectors. Bare Chroma gets batches of 500 in a separate process,
with its default configuration except the space; reading rows and generating vectors is not counted.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Sequence
from pathlib import Path

import cognitive_memory_core as core

from . import bare_chroma
from .bare_chroma import Spent
from .family import chroma_worked
from .measure import Report
from .topics import TopicVectors, filled, whole, year_with_vectors
from .workload import Noon

REACH = 1.6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of events and rounds, folder of the export file."""
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=1, help="rebuilds and bare builds, in turns")
    parser.add_argument("--data", type=Path, help="a folder that keeps the export file from run to run")


def run(options: argparse.Namespace) -> Report:
    """Rebuild the index and build bare Chroma, alternating."""
    report = Report(
        f"rebuild: the vector index, {options.events} events",
        ("what", "s", "ms a row", "x", "processor s", "processor x"),
    )
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_measured(report, options, Path(folder)))
    report.notes.append(f"x: against bare Chroma; reach {REACH} at most; each is the best of {options.rounds}")
    report.notes.append("processor: of bot and child together, which a busy machine distorts less than the clock")
    return report


async def _measured(report: Report, options: argparse.Namespace, folder: Path) -> None:
    events, kept = options.events, options.data or folder
    await asyncio.to_thread(year_with_vectors, events, kept)
    data = folder / "data"
    async with core.CognitiveMemory.open(core.Settings(), data, clock=Noon(), embedder=TopicVectors()) as memory:
        first = await _spent(filled(memory, events, kept))
        rebuilt, bare = [], []
        for number in range(options.rounds):
            rebuilt.append(await _spent(_rebuilt(memory, events)))
            (folder / f"bare-{number}").mkdir()
            bare.append(await asyncio.to_thread(bare_chroma.build, folder / f"bare-{number}", events))
    best = Spent(min(one.seconds for one in bare), min(one.worked for one in bare))
    _say(report, "bare Chroma", bare, best, events)
    _say(report, "reindex", rebuilt, best, events)
    _say(report, "import until indexed", [first], best, events)


def _say(report: Report, what: str, rounds: Sequence[Spent], bare: Spent, events: int) -> None:
    seconds, worked = min(one.seconds for one in rounds), min(one.worked for one in rounds)
    report.add(what, seconds, 1000 * seconds / events, seconds / bare.seconds, worked, worked / bare.worked)


async def _spent(work: Awaitable[object]) -> Spent:
    """Await work; return the time taken by this process and its Chroma child."""
    started, before = time.perf_counter(), time.process_time() + chroma_worked()
    await work
    return Spent(time.perf_counter() - started, time.process_time() + chroma_worked() - before)


async def _rebuilt(memory: core.CognitiveMemory, events: int) -> None:
    await memory.reindex()
    await whole(memory, events)
