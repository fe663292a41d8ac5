"""How much memory a process holds with a year's events open, beside one with none."""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import psutil

import cognitive_memory_core as core

from .measure import Report
from .workload import Noon, Speech, TextVectors, group_years, groups_by_size, write_export

MB = 1024 * 1024
ROOT = Path(__file__).resolve().parent.parent
QUERIES = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say how many events."""
    parser.add_argument("--events", type=int, default=10_000)


def run(options: argparse.Namespace) -> Report:
    """Fill a directory, then open it in a process of its own; the same with an empty one."""
    report = Report("memory: resident, MB", ("events", "before", "opened", "after 50 contexts"))
    for events in (0, options.events):
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(_fill(events, Path(folder)))
            command = [sys.executable, "-m", "benchmarks.resident", folder, *_group_ids(options.events)]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        report.add(events, *[float(figure) for figure in done.stdout.split()])
    opened, used = ([float(row[at]) for row in report.rows] for at in (2, 3))
    report.notes.append(f"over an empty one: {opened[1] - opened[0]:.1f} opened, {used[1] - used[0]:.1f} in use")
    report.notes.append("vectors have 1536 dimensions: 5.9 KB an event when held")
    return report


async def _fill(events: int, folder: Path) -> None:
    write_export(list(group_years(events)), folder / "year.jsonl")
    async with core.CognitiveMemory.open(core.Settings(), folder, clock=Noon(), embedder=TextVectors()) as memory:
        await memory.import_(folder / "year.jsonl")
        assert await memory.drain(600)


async def _observed(folder: Path, group_ids: Sequence[str]) -> None:
    queries = Speech(3).texts(QUERIES)
    imported = _resident()
    async with core.CognitiveMemory.open(core.Settings(), folder, clock=Noon(), embedder=TextVectors()) as memory:
        await memory.status()
        opened = _resident()
        for group_id, query in zip(cycle(group_ids), queries, strict=False):
            await memory.context(core.Scene.group(group_id, "2000001"), query)
        print(imported, opened, _resident())


def _group_ids(events: int) -> list[str]:
    return [group_id for group_id, _ in groups_by_size(list(group_years(events)))]


def _resident() -> float:
    return psutil.Process().memory_info().rss / MB


if __name__ == "__main__":
    asyncio.run(_observed(Path(sys.argv[1]), sys.argv[2:]))
