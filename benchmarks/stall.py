"""The longest blocking of the event loop during each operation, with a large workload open.

Most events are written into the ledger with their vectors before; the last ones are imported, embedded and indexed.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import cognitive_memory_core as core
from tests.support.clock import FrozenClock

from .measure import Report, loop_watched
from .workload import NOW, Speech, TopicVectors, exported, group_years, groups_by_size, laid

T = TypeVar("T")
TIMES = 100
IMPORTED = 2_000
SETTLING = 15.0  # seconds after the first query, while the group's postings are loaded


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of events, store."""
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--store", choices=("exact", "chroma"), default="chroma")
    parser.add_argument("--directory", type=Path, help="a folder on the disk to measure (default: temporary files)")


def run(options: argparse.Namespace) -> Report:
    """Watch the loop during each operation in turn."""
    report = Report(f"stall: longest gap of the event loop, {options.events} events", ("during", "ms", "processor ms"))
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        asyncio.run(_measure(report, options, Path(folder)))
    report.notes.append("the first row is a loop that has nothing to do: the machine's own share")
    return report


async def _measure(report: Report, options: argparse.Namespace, folder: Path) -> None:
    lines = list(group_years(options.events))
    group_id, _ = groups_by_size(lines)[0]
    await laid(lines[:-IMPORTED], folder)
    await asyncio.to_thread(exported, lines[-IMPORTED:], folder / "year.jsonl")
    settings = core.Settings(
        vector_store=core.VectorStoreSettings(backend=options.store),
        queue=core.QueueSettings(turns_per_minute=0),
    )
    speech, scene = Speech(4), core.Scene.group(group_id, "2000001")
    await _during(report, "nothing (1 s)", partial(asyncio.sleep, 1.0))
    opening = core.CognitiveMemory.open(settings, folder, clock=FrozenClock(NOW), embedder=TopicVectors())
    memory = await _during(report, "open", opening.__aenter__)
    await _during(report, "import", partial(memory.import_, folder / "year.jsonl"))
    await _during(report, "drain (indexing)", partial(memory.drain, 600))
    await _during(report, "context, first", lambda: memory.context(scene, speech.text(25)))
    await _during(report, f"nothing, the words being loaded ({SETTLING:.0f} s)", partial(asyncio.sleep, SETTLING))
    await _during(report, f"context, {TIMES} times", lambda: memory.context(scene, speech.text(25)), TIMES)
    await _during(report, f"search, {TIMES} times", lambda: memory.search_events(scene, speech.text(25)), TIMES)
    operator = core.Scene.operator()
    await _during(report, "search by the operator, 10", lambda: memory.search_events(operator, speech.text(25)), 10)
    turns = iter([core.Turn(scene, memo=speech.text(20), observations=speech.texts(2, 30)) for _ in range(TIMES)])
    await _during(report, f"remember, {TIMES} times", lambda: memory.remember(next(turns)), TIMES)
    await _during(report, "drain (historian)", partial(memory.drain, 600))
    with tempfile.TemporaryDirectory() as outside:  # an export must not lie in the data directory
        await _during(report, "export", partial(memory.export, Path(outside) / "out.jsonl"))
    await _during(report, "status", memory.status)
    await _during(report, "close", partial(opening.__aexit__, None, None, None))


async def _during(report: Report, name: str, operation: Callable[[], Awaitable[T]], times: int = 1) -> T:
    async with loop_watched() as gap:
        for _ in range(times):
            result = await operation()
    report.add(name, gap.longest, gap.worked)
    return result
