"""The cost of a turn's context, compared with exact numpy plus postings in memory in the same run.

Groups at rank 1, rank 5 and the median of the workload (see workload.py); every query is new; models answer in 0 ms.
The events are written into the ledger with their vectors. A group needs no vector store, so none runs unless requested.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cognitive_memory_core as core
from cognitive_memory_core.text.terms import index_terms, query_terms
from tests.support.clock import FrozenClock

from .measure import Report, Sample, freeze, percentile
from .workload import NOW, Line, Speech, TopicVectors, group_years, groups_by_size, laid, ranked, vector_of

AT_ONCE = 8
K = 12
K1, B = 1.2, 0.75
Search = Callable[[str], object]
WRITTEN = 1_000  # lines observed before they are written
SPOKEN = timedelta(seconds=40)  # between two lines of the log
TRIED = 50  # queries over raw lines
SETTLING = 4.0  # seconds at least after a group's first query, while its postings are loaded
LOADED = 1_000  # rows per second that a busy machine loads
COLUMNS = ("events", "rank", "rows", "both p95", "context p50", "context p95", "x p95", "8 at once p95", "writing p95",
           "processor p50 ms")  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: sizes of the workload, number of queries, vector store."""
    parser.add_argument("--events", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--lines", type=int, nargs="+", default=[20_000, 100_000], help="lines of one group's log")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--store", choices=("exact", "chroma"), default="exact")
    parser.add_argument("--directory", type=Path, help="a folder on the disk to measure (default: temporary files)")


def run(options: argparse.Namespace) -> Report:
    """Measure every size."""
    report = Report("context: one group scene, new queries, ms", COLUMNS)
    for events in options.events:
        with tempfile.TemporaryDirectory(dir=options.directory) as folder:
            asyncio.run(_measure(report, list(group_years(events)), options, Path(folder)))
    report.notes += [asyncio.run(_with_lines(lines, options)) for lines in options.lines]
    report.notes.append("both: exact search by numpy, and the group's postings in memory; x p95: against both")
    medians = [float(row[4]) for row in report.rows if row[1] == "median"]
    report.notes.append(f"growth of the median group's p50, first to last size: {medians[-1] / medians[0]:.2f} x")
    return report


async def _measure(report: Report, lines: Sequence[Line], options: argparse.Namespace, folder: Path) -> None:
    queries: int = options.queries
    await laid(lines, folder)
    settings = core.Settings(
        historian=core.HistorianSettings(concurrency=2),
        vector_store=core.VectorStoreSettings(backend=options.store),
        queue=core.QueueSettings(turns_per_minute=0),  # one person writes continuously beside the queries
    )
    async with core.CognitiveMemory.open(settings, folder, clock=FrozenClock(NOW), embedder=TopicVectors()) as memory:
        assert await memory.drain(600)
        freeze()
        for rank, (group_id, rows) in ranked(groups_by_size(lines)).items():
            scope = [line for line in lines if line.group_id == group_id]
            asked, words = Speech(100 + rows), _postings_search(scope)
            exact = _numpy_search(scope)
            alone, both = Sample(), Sample()
            scene = core.Scene.group(group_id, "2000001")
            await memory.context(scene, asked.text(25))
            await asyncio.sleep(max(SETTLING, rows / LOADED))
            for query in asked.texts(queries):
                vector_of(query)  # not measured
                with both.watch():
                    exact(query)
                    words(query)
                with alone.watch():
                    await memory.context(scene, query)
            together = await _asked(memory, scene, asked.texts(queries), AT_ONCE)
            writing = await _while_writing(memory, scene, asked.texts(queries))
            figures = (both.p95, alone.p50, alone.p95, alone.p95 / both.p95, together.p95, writing.p95)
            report.add(len(lines), rank, rows, *figures, alone.processor)


async def _with_lines(lines: int, options: argparse.Namespace) -> str:
    """Return what contexts with raw lines cost in a group with so many of them and no events, in processor time."""
    speech, scene = Speech(lines), core.Scene.group("100001", "2000001")
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        settings = core.Settings(vector_store=core.VectorStoreSettings(backend="exact"))
        opening = core.CognitiveMemory.open(settings, Path(folder), background=False, clock=FrozenClock(NOW))
        async with opening as memory:
            await _spoken(memory, speech, lines)
            await memory.context(scene, speech.text(25))
            await asyncio.sleep(max(SETTLING, lines / LOADED))
            if (await memory.status()).totals.messages < lines:
                raise SystemExit("not every line was written")
            freeze()
            sample = await _asked(memory, scene, speech.texts(min(options.queries, TRIED)))
    most, longest = 1000 * percentile(sample.worked, 0.95), 1000 * max(sample.seconds)
    return f"{lines} lines, no events: processor ms p50 {sample.processor:.1f}, p95 {most:.1f}, longest {longest:.0f}"


async def _spoken(memory: core.CognitiveMemory, speech: Speech, lines: int) -> None:
    begun = NOW - lines * SPOKEN
    for number, text in enumerate(speech.texts(lines)):
        person = core.Scene.group("100001", f"20000{number % 40:02}")
        await memory.observe(core.Message(f"m{number}", person, text, begun + number * SPOKEN))
        if number % WRITTEN == 0:
            await memory.drain(60)
    assert await memory.drain(600)


async def _asked(memory: core.CognitiveMemory, scene: core.Scene, queries: Sequence[str], at_once: int = 1) -> Sample:
    """Ask for contexts, so many at once."""
    sample = Sample()

    async def ask(query: str) -> None:
        with sample.watch():
            await memory.context(scene, query)

    for query in queries:
        vector_of(query)  # not measured
    for start in range(0, len(queries), at_once):
        await asyncio.gather(*map(ask, queries[start : start + at_once]))
    return sample


async def _while_writing(memory: core.CognitiveMemory, scene: core.Scene, queries: Sequence[str]) -> Sample:
    writer = asyncio.create_task(_write(memory))
    await asyncio.sleep(0.2)
    sample = await _asked(memory, scene, queries)
    writer.cancel()
    with suppress(asyncio.CancelledError):
        await writer
    await memory.drain(60)
    return sample


async def _write(memory: core.CognitiveMemory) -> None:
    """Keep the historian busy in other groups."""
    speech = Speech(9)
    for number in range(10**6):
        scene = core.Scene.group(str(900_000 + number % 10), "2000009")
        await memory.remember(core.Turn(scene, observations=speech.texts(1, 30)))


# What is compared: exact numpy over a scope, and its postings in memory, the fastest bare lexical query found.


def _best(scores: NDArray[Any]) -> object:
    best = np.argpartition(-scores, min(K, len(scores) - 1))[:K]
    return best[np.argsort(-scores[best])]


def _numpy_search(lines: Sequence[Line]) -> Search:
    """Return an exact vector search of one scope: one matrix product, then the best ``K``."""
    matrix = np.stack([vector_of(line.text) for line in lines])

    def search(query: str) -> object:
        return _best(matrix @ vector_of(query))

    return search


def _postings_search(lines: Sequence[Line]) -> Search:
    """Return a search over one scope's postings, held in memory with precomputed BM25 weights."""
    bodies = [Counter(term for term in index_terms(line.text) if len(term) > 1) for line in lines]
    mean = sum(body.total() for body in bodies) / len(bodies)
    holders: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for number, body in enumerate(bodies):
        for term, count in body.items():
            norm = K1 * (1 - B + B * body.total() / mean)
            holders[term].append((number, count * (K1 + 1) / (count + norm)))
    postings: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
    for term, found in holders.items():
        rarity = math.log(1 + (len(lines) - len(found) + 0.5) / (len(found) + 0.5))
        numbers, weights = zip(*found, strict=True)
        postings[term] = (np.array(numbers), rarity * np.array(weights))

    def search(query: str) -> object:
        scores = np.zeros(len(lines))
        for term in query_terms(query):
            if term in postings:
                numbers, weights = postings[term]
                scores[numbers] += weights
        return _best(scores)

    return search
