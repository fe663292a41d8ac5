"""How much memory bot and Chroma child hold with a year's events open, beside an empty one, and beside chromadb alone.

Each is filled first, then opened in a process of its own and asked: contexts in every group, and searches of the
operator over everything. chromadb alone holds the same rows and is asked the same number of questions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import psutil

import cognitive_memory_core as core

from . import bare_chroma
from .family import children_resident, resident
from .measure import Report
from .topics import TopicVectors, filled, vectors_of, whole
from .workload import Noon, Speech, group_years, groups_by_size

ROOT = Path(__file__).resolve().parent.parent
CONTEXTS, SEARCHES = 50, 50
REACH = 250  # MB over chromadb alone


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say how many events, and where the export file is kept."""
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--data", type=Path, help="a folder that keeps the export file from run to run")


def run(options: argparse.Namespace) -> Report:
    """Fill a directory, then open it in a process of its own; the same with an empty one, and with bare Chroma."""
    columns = ("what", "events", "imported", "opened", "in use", "child opened", "child in use", "together")
    report = Report("memory: resident, MB", columns)
    together = 0.0
    for events in (0, options.events):
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(_fill(events, Path(folder), options.data or Path(folder)))
            figures = _observe(Path(folder), _group_ids(options.events))
        together = figures[2] + figures[4]
        report.add("memory", events, *figures, together)
    opened, used = _bare(options.events)
    report.add("chromadb alone", options.events, 0.0, opened, used, 0.0, 0.0, used)
    report.notes.append(f"over chromadb alone: {together - used:.0f} MB; reach {REACH} at most")
    report.notes.append(f"in use: after {CONTEXTS} contexts in all groups and {SEARCHES} searches of the operator")
    report.notes.append("vectors have 1536 dimensions: 5.9 KB an event when held")
    report.notes.append("pages that two processes share count twice")
    return report


async def _fill(events: int, folder: Path, kept: Path) -> None:
    async with core.CognitiveMemory.open(core.Settings(), folder, clock=Noon(), embedder=TopicVectors()) as memory:
        await filled(memory, events, kept)


def _observe(folder: Path, group_ids: Sequence[str]) -> list[float]:
    command = [sys.executable, "-m", "benchmarks.resident", str(folder), *group_ids]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _bare(events: int) -> tuple[float, float]:
    operator = core.Scene.operator()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bare_chroma.build(folder, events)
        bare_chroma.ask(folder, events, operator, vectors_of(Speech(3).texts(SEARCHES)), 12)  # leaves its questions
        return bare_chroma.hold(folder, events)


async def _observed(folder: Path, group_ids: Sequence[str]) -> list[float]:
    queries = Speech(3).texts(CONTEXTS + SEARCHES)
    imported = resident(psutil.Process())
    async with core.CognitiveMemory.open(core.Settings(), folder, clock=Noon(), embedder=TopicVectors()) as memory:
        await whole(memory, 0)
        opened, child_opened = resident(psutil.Process()), children_resident()
        for group_id, query in zip(cycle(group_ids), queries[:CONTEXTS], strict=False):
            await memory.context(core.Scene.group(group_id, "2000001"), query)
        for query in queries[CONTEXTS:]:
            await memory.search_events(core.Scene.operator(), query)
        return [imported, opened, resident(psutil.Process()), child_opened, children_resident()]


def _group_ids(events: int) -> list[str]:
    return [group_id for group_id, _ in groups_by_size(list(group_years(events)))]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_observed(Path(sys.argv[1]), sys.argv[2:]))))
