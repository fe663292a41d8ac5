"""Memory of bot and Chroma child with a workload open, compared with an empty one and with chromadb alone.

Each is filled first, then opened in a separate process and queried: contexts in every group, and searches of the
operator over everything. chromadb alone holds the same rows and gets the same number of queries, with its default
settings except the cosine space, which the memory needs too; it is filled at the same time as the memory, since nothing
is measured then.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from contextlib import AbstractAsyncContextManager
from itertools import cycle
from pathlib import Path

import numpy as np

import cognitive_memory_core as core
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.vectors.chroma.store import chroma_filter, event_metadata
from tests.support.clock import FrozenClock

from .faults.child import answered
from .measure import Report, children_resident, resident
from .workload import (
    NOW,
    Speech,
    TopicVectors,
    bare_collection,
    batches,
    event_of,
    exported,
    group_years,
    groups_by_size,
    vectors_of,
    whole,
)

CONTEXTS, SEARCHES = 50, 50
REACH = 250  # MB above chromadb alone
PART = 2_000  # events imported at a time
LIMIT = 12  # results of chromadb alone


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of events, directory."""
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--directory", type=Path, help="a folder on the disk to use (default: temporary files)")


def run(options: argparse.Namespace) -> Report:
    """Fill a directory, then open it in a separate process; the same with an empty one and with bare Chroma."""
    columns = ("what", "events", "imported", "opened", "in use", "child opened", "child in use", "together")
    report = Report("memory: resident, MB", columns)
    together, events = 0.0, options.events
    with tempfile.TemporaryDirectory(dir=options.directory) as name:
        folder = Path(name)
        asyncio.run(_fill_all(events, folder))
        for held in (0, events):
            figures = answered(observe, folder / str(held), events)
            together = figures[2] + figures[4]
            report.add("memory", held, *figures, together)
        opened, used = answered(hold, folder, events)
    report.add("chromadb alone", events, 0.0, opened, used, 0.0, 0.0, used)
    report.notes.append(f"over chromadb alone: {together - used:.0f} MB; reach {REACH} at most")
    report.notes.append(f"in use: after {CONTEXTS} contexts in all groups and {SEARCHES} searches of the operator")
    report.notes.append("vectors have 1536 dimensions: 5.9 KB an event when held")
    report.notes.append("pages that two processes share count twice")
    return report


async def _fill_all(events: int, folder: Path) -> None:
    building = asyncio.to_thread(answered, build, folder, events)
    await asyncio.gather(_fill(0, folder / "0"), _fill(events, folder / str(events)), building)


async def _fill(events: int, folder: Path) -> None:
    async with _memory(folder) as memory:
        for batch in batches(group_years(events), PART):
            vectors = await asyncio.to_thread(vectors_of, [line.text for line in batch])
            await asyncio.to_thread(exported, batch, folder / "part.jsonl", vectors)
            await memory.import_(folder / "part.jsonl")
        (folder / "part.jsonl").unlink(missing_ok=True)
        await whole(memory, events)


def _memory(folder: Path) -> AbstractAsyncContextManager[core.CognitiveMemory]:
    return core.CognitiveMemory.open(core.Settings(), folder, clock=FrozenClock(NOW), embedder=TopicVectors())


async def observe(folder: str, events: int) -> list[float]:
    """Open a directory and query it; return the MB of this process and its children, before and after."""
    queries, groups = Speech(3).texts(CONTEXTS + SEARCHES), groups_by_size(list(group_years(events)))
    imported = resident()
    async with _memory(Path(folder)) as memory:
        await whole(memory, 0)
        opened, child_opened = resident(), children_resident()
        for (group_id, _), query in zip(cycle(groups), queries[:CONTEXTS], strict=False):
            await memory.context(core.Scene.group(group_id, "2000001"), query)
        for query in queries[CONTEXTS:]:
            await memory.search_events(core.Scene.operator(), query)
        return [imported, opened, resident(), child_opened, children_resident()]


async def build(folder: str, events: int) -> list[float]:
    """Fill bare Chroma."""
    collection = bare_collection(f"{folder}/bare")
    for batch in batches(group_years(events)):
        texts, metadatas = [line.text for line in batch], [event_metadata(event_of(line)) for line in batch]
        collection.upsert([line.id for line in batch], vectors_of(texts), metadatas, texts)
    return []


async def hold(folder: str, _: int) -> list[float]:
    """Open the built collection and query it; return its resident MB before and after."""
    collection, where = bare_collection(f"{folder}/bare"), chroma_filter(ReadFilter(core.Scene.operator()))
    questions = vectors_of(Speech(3).texts(SEARCHES))
    collection.count()  # loads the index
    opened = resident()
    for question in questions:
        collection.query(question[np.newaxis], n_results=LIMIT, where=where)
    return [opened, resident()]
