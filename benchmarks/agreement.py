"""Compares searches with exact search, in results and speed: operator scope, groups at rank 1, 5 and the median.

The memory is queried through its public API with everything but the vectors switched off: queries without known words,
no lexical share, no decay, no diversity. It is compared with exact numpy over the scope, and with bare Chroma using the
scope's filter.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import cognitive_memory_core as core

from . import bare_chroma
from .family import chroma_worked
from .measure import Report, Sample
from .topics import Matrix, TopicVectors, filled, vectors_of, wordless, year_vectors
from .workload import Line, Noon, Speech, group_years, groups_by_size, ranked

K = 12
REACH = 98.0
VECTORS_ONLY = core.Settings(
    query=core.QuerySettings(lexical_weight=0.0, diversity=0.0, time_decay_enabled=False),
)
Ids = list[list[str]]


@dataclass(frozen=True)
class Scope:
    """One scope of the workload: the asking scene, and the rows that may be found."""

    name: str
    scene: core.Scene
    rows: Sequence[int]


@dataclass
class Answers:
    """The results of one search method for each query, and the time of each."""

    ids: Ids
    taken: Sample


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of events and queries, folder of the export file."""
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--exact-queries", type=int, default=30, help="questions to the memory without Chroma")
    parser.add_argument("--data", type=Path, help="a folder that keeps the export file from run to run")


def run(options: argparse.Namespace) -> Report:
    """Run every query in every scope with three methods."""
    columns = ("scope", "rows", "by", "same top 12 %", "recall@12 %", "p50 ms", "p95 ms", "Chroma's processor ms")
    report = Report(f"agreement: {options.events} events, {options.queries} questions a scope", columns)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_measured(report, options, Path(folder)))
    report.notes.append(f"reach: the memory's top 12 equal exact numpy's in {REACH:.0f} % of the questions")
    report.notes.append("Chroma's processor ms, a question, of the memory's child: 0 where exact search answered")
    return report


async def _measured(report: Report, options: argparse.Namespace, folder: Path) -> None:
    lines = list(group_years(options.events))
    matrix = year_vectors(lines)
    questions = vectors_of(Speech(5).texts(options.queries))
    data = folder / "data"
    opening = core.CognitiveMemory.open(VECTORS_ONLY, data, clock=Noon(), embedder=TopicVectors(wordless(questions)))
    async with opening as memory:
        await filled(memory, options.events, options.data or folder)
        asked = [(scope, *await _by_memory(memory, scope, len(questions))) for scope in _scopes(lines)]
    alone = await _without_chroma(data, lines, questions[: options.exact_queries])
    await asyncio.to_thread(bare_chroma.build, folder, options.events)
    for scope, answers, worked in asked:
        exact = _by_numpy(lines, matrix, scope, questions)
        bare = Answers(*_timed(bare_chroma.ask(folder, options.events, scope.scene, questions, K)))
        ways = (
            ("memory", answers, worked),
            ("memory without Chroma", alone[scope.name], 0.0),
            ("numpy", exact, 0.0),
            ("bare Chroma", bare, 0.0),
        )
        for by, found, processor in ways:
            taken = (found.taken.p50, found.taken.p95, processor)
            report.add(scope.name, len(scope.rows), by, *_agreed(found, exact), *taken)


async def _without_chroma(data: Path, lines: Sequence[Line], questions: Matrix) -> dict[str, Answers]:
    """Query the memory's own exact search, used while Chroma is unavailable: fewer queries, as it is slow."""
    settings = VECTORS_ONLY.model_copy(update={"vector_store": core.VectorStoreSettings(backend="exact")})
    async with core.CognitiveMemory.open(
        settings, data, clock=Noon(), embedder=TopicVectors(wordless(questions))
    ) as memory:
        return {scope.name: (await _by_memory(memory, scope, len(questions)))[0] for scope in _scopes(lines)}


def _scopes(lines: Sequence[Line]) -> Iterator[Scope]:
    yield Scope("operator", core.Scene.operator(), range(len(lines)))
    for rank, (group_id, _) in ranked(groups_by_size(lines)).items():
        rows = [at for at, line in enumerate(lines) if line.group_id == group_id]
        yield Scope(f"group, rank {rank}", core.Scene.group(group_id, "2000001"), rows)


async def _by_memory(memory: core.CognitiveMemory, scope: Scope, count: int) -> tuple[Answers, float]:
    """Query the memory; return the answers, and the processor time of its Chroma child per query in ms."""
    await memory.search_events(scope.scene, "zq0", top_k=K)  # loads what is loaded once
    answers, before = Answers([], Sample()), chroma_worked()
    for number in range(count):
        with answers.taken.watch():
            hits = await memory.search_events(scope.scene, f"zq{number}", top_k=K)
        answers.ids.append([hit.event.id for hit in hits])
    return answers, 1000 * (chroma_worked() - before) / count


def _by_numpy(lines: Sequence[Line], matrix: Matrix, scope: Scope, questions: Matrix) -> Answers:
    answers, own = Answers([], Sample()), matrix[np.asarray(scope.rows)]
    for question in questions:
        with answers.taken.watch():
            scores = own @ question
            best = np.argpartition(-scores, min(K, len(scores) - 1))[:K]
            best = best[np.argsort(-scores[best])]
        answers.ids.append([lines[scope.rows[at]].id for at in best])
    return answers


def _timed(answer: tuple[Ids, list[float]]) -> tuple[Ids, Sample]:
    ids, seconds = answer
    return ids, Sample(seconds)


def _agreed(found: Answers, exact: Answers) -> tuple[float, float]:
    """Return the percentage of queries with the same ids, and the percentage of exact ids that were found."""
    pairs = [(set(mine), set(best)) for mine, best in zip(found.ids, exact.ids, strict=False)]
    same = sum(mine == best for mine, best in pairs) / len(pairs)
    recall = sum(len(mine & best) for mine, best in pairs) / sum(len(best) for _, best in pairs)
    return 100 * same, 100 * recall
