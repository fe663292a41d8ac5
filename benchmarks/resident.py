"""Memory of bot and Chroma child with a workload open, compared with an empty one and with chromadb alone.

Each is filled first, then opened in a separate process and queried: contexts in every group, and searches of the
operator over everything. chromadb alone holds the same rows and gets the same number of queries, with its default
settings except the cosine space, which the memory needs too; it is filled at the same time as the memory, since nothing
is measured then. ``python -m benchmarks.resident COMMAND FOLDER EVENTS`` is such a process, and prints JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import psutil

import cognitive_memory_core as core
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.vectors.chroma.store import chroma_filter, event_metadata

from .family import children_resident, resident
from .measure import Report
from .topics import TopicVectors, batches, event_of, vectors_of, whole, write_part
from .workload import Noon, Speech, group_years, groups_by_size

ROOT = Path(__file__).resolve().parent.parent
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
            figures = _started("observe", folder / str(held), events)
            together = figures[2] + figures[4]
            report.add("memory", held, *figures, together)
        opened, used = _started("hold", folder, events)
    report.add("chromadb alone", events, 0.0, opened, used, 0.0, 0.0, used)
    report.notes.append(f"over chromadb alone: {together - used:.0f} MB; reach {REACH} at most")
    report.notes.append(f"in use: after {CONTEXTS} contexts in all groups and {SEARCHES} searches of the operator")
    report.notes.append("vectors have 1536 dimensions: 5.9 KB an event when held")
    report.notes.append("pages that two processes share count twice")
    return report


async def _fill_all(events: int, folder: Path) -> None:
    building = asyncio.to_thread(_started, "build", folder, events)
    await asyncio.gather(_fill(0, folder / "0"), _fill(events, folder / str(events)), building)


async def _fill(events: int, folder: Path) -> None:
    async with core.CognitiveMemory.open(core.Settings(), folder, clock=Noon(), embedder=TopicVectors()) as memory:
        for batch in batches(group_years(events), PART):
            vectors = await asyncio.to_thread(vectors_of, [line.text for line in batch])
            await asyncio.to_thread(write_part, batch, vectors, folder / "part.jsonl")
            await memory.import_(folder / "part.jsonl")
        (folder / "part.jsonl").unlink(missing_ok=True)
        await whole(memory, events)


def _started(command: str, folder: Path, events: int) -> list[float]:
    program = [sys.executable, "-m", "benchmarks.resident", command, str(folder), str(events)]
    done = subprocess.run(program, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


async def _observe(folder: Path, events: int) -> list[float]:
    queries, groups = Speech(3).texts(CONTEXTS + SEARCHES), groups_by_size(list(group_years(events)))
    imported = resident(psutil.Process())
    async with core.CognitiveMemory.open(core.Settings(), folder, clock=Noon(), embedder=TopicVectors()) as memory:
        await whole(memory, 0)
        opened, child_opened = resident(psutil.Process()), children_resident()
        for (group_id, _), query in zip(cycle(groups), queries[:CONTEXTS], strict=False):
            await memory.context(core.Scene.group(group_id, "2000001"), query)
        for query in queries[CONTEXTS:]:
            await memory.search_events(core.Scene.operator(), query)
        return [imported, opened, resident(psutil.Process()), child_opened, children_resident()]


async def _build(folder: Path, events: int) -> list[float]:
    collection = _collection(folder)
    for batch in batches(group_years(events)):
        texts, metadatas = [line.text for line in batch], [event_metadata(event_of(line)) for line in batch]
        collection.upsert([line.id for line in batch], vectors_of(texts), metadatas, texts)
    return []


async def _hold(folder: Path, _: int) -> list[float]:
    """Open the built collection and query it; return its resident MB before and after."""
    collection, where = _collection(folder), chroma_filter(ReadFilter(core.Scene.operator()))
    questions = vectors_of(Speech(3).texts(SEARCHES))
    collection.count()  # loads the index
    opened = resident(psutil.Process())
    for question in questions:
        collection.query(question[np.newaxis], n_results=LIMIT, where=where)
    return [opened, resident(psutil.Process())]


def _collection(folder: Path) -> Any:
    import chromadb  # noqa: PLC0415  # the processes of bare Chroma only, never the one whose memory is measured
    from chromadb.config import Settings  # noqa: PLC0415

    client = chromadb.PersistentClient(str(folder / "bare"), Settings(anonymized_telemetry=False))
    space = {"hnsw": {"space": "cosine"}}
    return client.get_or_create_collection("bare", embedding_function=None, configuration=space)  # type: ignore[arg-type]


if __name__ == "__main__":
    command = {"observe": _observe, "build": _build, "hold": _hold}[sys.argv[1]]
    print(json.dumps(asyncio.run(command(Path(sys.argv[2]), int(sys.argv[3])))))
