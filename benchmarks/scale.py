"""A memory far beyond one group of friends: ledger, memory and context from 50,000 to a million events.

Events are written into the ledger with vectors of 512 dimensions, as the local embedder's are; nothing is embedded.
At each size the memory is opened anew in a process of its own with the exact store, and asked in the median group, in
the largest and over everything. At the sizes named by ``--rebuild``, the vector index is built from the ledger.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import psutil

import cognitive_memory_core as core
from cognitive_memory_core.ports.models import Calibration
from cognitive_memory_core.ports.vectors import EmbeddedEvent
from cognitive_memory_core.store.ledger import Ledger

from .family import MB, children_resident, resident
from .measure import Report, Sample
from .topics import Matrix, batches, event_of, vectors_of, whole
from .workload import Line, Noon, Speech, group_years

ROOT = Path(__file__).resolve().parent.parent
DIMENSIONS = 512
SIZES = (50_000, 100_000, 250_000, 500_000, 1_000_000)
TOGETHER = 2_000  # rows per transaction
QUESTIONS, SEARCHES = 40, 5
COLUMNS = (
    "events", "groups", "ledger MB", "written s", "opened s", "rows", "context p50", "context p95",
    "rows of the largest", "its p50", "its p95", "search of all p50", "resident MB", "index s", "child MB",
)  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """What one size was like; times of questions in ms, of everything else in s; 0 for an index that was not built."""

    opened: float
    p50: float
    p95: float
    largest_p50: float
    largest_p95: float
    everything_p50: float
    resident: float
    index: float
    child: float


class ShortVectors:
    """An embedder without latency whose vectors are as long as the local embedder's."""

    fingerprint = f"benchmark-scale:{DIMENSIONS}"
    calibration = Calibration(unrelated=0.0, paraphrase=1.0)

    async def embed_documents(self, texts: Sequence[str]) -> list[array[float]]:
        """Return the texts' vectors."""
        return [array("f", row.tobytes()) for row in await asyncio.to_thread(short, texts)]

    async def embed_query(self, text: str) -> array[float]:
        """Return the query's vector."""
        return (await self.embed_documents([text]))[0]


def short(texts: Sequence[str]) -> Matrix:
    """Return unit vectors of ``DIMENSIONS``."""
    rows = vectors_of(texts)[:, :DIMENSIONS]
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: sizes, where an index is built, the time after which no further size is begun."""
    parser.add_argument("--events", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--rebuild", type=int, nargs="*", default=[SIZES[0]])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--directory", type=Path, help="a folder on the disk to use (default: temporary files)")


def run(options: argparse.Namespace) -> Report:
    """Grow one ledger through the sizes."""
    report = Report("scale: one ledger from 50,000 to a million events", COLUMNS)
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        _grow(report, Path(folder), options)
    report.notes.append("groups have Zipf-distributed sizes; the median group is the one in the middle by rows")
    report.notes.append(f"no size was begun later than {options.minutes:g} minutes after the start")
    return report


def _grow(report: Report, folder: Path, options: argparse.Namespace) -> None:
    lines, places, done, began = group_years(max(options.events)), Counter[str](), 0, time.monotonic()
    for size in sorted(options.events):
        started = time.monotonic()
        if started - began > 60 * options.minutes:
            report.notes.append(f"{size} events and more were not reached")
            return
        asyncio.run(_lay(islice(lines, size - done), folder, places))
        done, written = size, time.monotonic() - started
        (median, rows), (largest, most) = _middle(places), places.most_common(1)[0]
        seen = _asked(folder, median, largest, size if size in options.rebuild else 0)
        ledger = sum(path.stat().st_size for path in folder.glob("ledger.db*")) / MB
        report.add(
            size, len(places), ledger, written, seen.opened, rows, seen.p50, seen.p95, most, seen.largest_p50,
            seen.largest_p95, seen.everything_p50, seen.resident, seen.index, seen.child,
        )  # fmt: skip
        print(report.rows[-1], file=sys.stderr, flush=True)


def _middle(places: Counter[str]) -> tuple[str, int]:
    by_size = places.most_common()
    return by_size[len(by_size) // 2]


async def _lay(lines: Iterator[Line], folder: Path, places: Counter[str]) -> None:
    """Write lines with their vectors into the ledger, which no memory has open."""
    ledger = await Ledger.open(folder / "ledger.db")
    try:
        for batch in batches(lines, TOGETHER):
            places.update(line.group_id for line in batch if line.group_id)
            vectors = await asyncio.to_thread(short, [line.text for line in batch])
            rows = [
                EmbeddedEvent(event_of(line), ShortVectors.fingerprint, array("f", vector.tobytes()))
                for line, vector in zip(batch, vectors, strict=True)
            ]
            await ledger.archive.import_rows(rows)
        await ledger.vectors.store(ShortVectors.fingerprint, [])
    finally:
        await ledger.close()


def _asked(folder: Path, median: str, largest: str, indexed: int) -> Seen:
    command = [sys.executable, "-m", "benchmarks.scale", str(folder), median, largest, str(indexed)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return Seen(**json.loads(done.stdout.splitlines()[-1]))


async def _ask(folder: Path, median: str, largest: str, indexed: int) -> Seen:
    exact, chroma = (core.VectorStoreSettings(backend=name) for name in ("exact", "chroma"))
    started, speech = time.monotonic(), Speech(len(median) + indexed)
    settings = core.Settings(vector_store=exact)
    async with core.CognitiveMemory.open(settings, folder, clock=Noon(), embedder=ShortVectors()) as memory:
        opened = time.monotonic() - started
        middle = await _contexts(memory, median, speech)
        top = await _contexts(memory, largest, speech)
        everything = Sample()
        for query in speech.texts(SEARCHES):
            with everything.watch():
                await memory.search_events(core.Scene.operator(), query)
        held = resident(psutil.Process())
    index, child = await _indexed(core.Settings(vector_store=chroma), folder, indexed) if indexed else (0.0, 0.0)
    return Seen(opened, middle.p50, middle.p95, top.p50, top.p95, everything.p50, held, index, child)


async def _contexts(memory: core.CognitiveMemory, group_id: str, speech: Speech) -> Sample:
    """Time contexts in a group, without the first, which loads the group."""
    scene, sample = core.Scene.group(group_id, "2000001"), Sample()
    await memory.context(scene, speech.text(25))
    for query in speech.texts(QUESTIONS):
        with sample.watch():
            await memory.context(scene, query)
    return sample


async def _indexed(settings: core.Settings, folder: Path, events: int) -> tuple[float, float]:
    """Build the vector index of all events; return the seconds, and the memory of the store's process."""
    async with core.CognitiveMemory.open(settings, folder, clock=Noon(), embedder=ShortVectors()) as memory:
        started = time.monotonic()
        await memory.reindex()
        await whole(memory, events)
        return time.monotonic() - started, children_resident()


if __name__ == "__main__":
    print(json.dumps(asdict(asyncio.run(_ask(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))))))
