"""Memory of bot and Chroma child with a workload open, compared with an empty one and with chromadb alone.

Each is filled first, then opened in a separate process and queried: contexts in every group, and searches of the
operator over everything. chromadb alone holds the same rows and gets the same number of queries; it is filled at the
same time as the memory, since nothing is measured then.
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
from .topics import TopicVectors, batches, vectors_of, whole, write_part
from .workload import Line, Noon, Speech, group_years, groups_by_size

ROOT = Path(__file__).resolve().parent.parent
CONTEXTS, SEARCHES = 50, 50
REACH = 250  # MB above chromadb alone
PART = 2_000  # events imported at a time


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of events, directory."""
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--directory", type=Path, help="a folder on the disk to use (default: temporary files)")


def run(options: argparse.Namespace) -> Report:
    """Fill a directory, then open it in a separate process; the same with an empty one and with bare Chroma."""
    columns = ("what", "events", "imported", "opened", "in use", "child opened", "child in use", "together")
    report = Report("memory: resident, MB", columns)
    together, groups = 0.0, _group_ids(options.events)
    with tempfile.TemporaryDirectory(dir=options.directory) as name:
        folder = Path(name)
        asyncio.run(_fill_all(options.events, folder))
        for events in (0, options.events):
            figures = _observe(folder / str(events), groups)
            together = figures[2] + figures[4]
            report.add("memory", events, *figures, together)
        opened, used = _bare(options.events, folder)
    report.add("chromadb alone", options.events, 0.0, opened, used, 0.0, 0.0, used)
    report.notes.append(f"over chromadb alone: {together - used:.0f} MB; reach {REACH} at most")
    report.notes.append(f"in use: after {CONTEXTS} contexts in all groups and {SEARCHES} searches of the operator")
    report.notes.append("vectors have 1536 dimensions: 5.9 KB an event when held")
    report.notes.append("pages that two processes share count twice")
    return report


async def _fill_all(events: int, folder: Path) -> None:
    await asyncio.gather(
        _fill(0, folder / "0"),
        _fill(events, folder / str(events)),
        asyncio.to_thread(bare_chroma.build, folder, events),
    )


async def _fill(events: int, folder: Path) -> None:
    async with core.CognitiveMemory.open(core.Settings(), folder, clock=Noon(), embedder=TopicVectors()) as memory:
        for batch in batches(group_years(events), PART):
            await asyncio.to_thread(_write, batch, folder / "part.jsonl")
            await memory.import_(folder / "part.jsonl")
        (folder / "part.jsonl").unlink(missing_ok=True)
        await whole(memory, events)


def _write(lines: Sequence[Line], path: Path) -> None:
    write_part(lines, vectors_of([line.text for line in lines]), path)


def _observe(folder: Path, group_ids: Sequence[str]) -> list[float]:
    command = [sys.executable, "-m", "benchmarks.resident", str(folder), *group_ids]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _bare(events: int, folder: Path) -> tuple[float, float]:
    questions = vectors_of(Speech(3).texts(SEARCHES))
    bare_chroma.ask(folder, events, core.Scene.operator(), questions, 12)  # writes its queries
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
