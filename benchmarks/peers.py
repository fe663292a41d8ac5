"""The memory compared with alternatives: mem0, plain Chroma, BM25 with jieba, exact numpy.

Each system gets the same workload and the same queries in a separate process. Packages that are not installed are
reported and left out: ``pip install -e '.[bench]'``. Nothing here uses a model or the network.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import numpy as np

from .faults.child import ChildFailed, answered
from .measure import Cell, Report, percentile
from .peers_systems import (
    BULK,
    MEANING,
    NEW,
    PEERS,
    WARMING,
    WORDS,
    K,
    Matrix,
    Peer,
    Question,
    ask,
    fill,
    write_questions,
)
from .workload import Line, Speech, group_years, groups_by_size, ranked, vectors_of

COLUMNS = ("events", "system", "rank 1 p50", "rank 1 p95", "rank 5 p50", "rank 5 p95", "median p50", "median p95",
           "by words %", "by meaning %", "add s", "resident MB", "peak MB")  # fmt: skip
PIECE = 12  # characters of a query by words
NEARNESS = 0.7  # weight of the event's vector in a query by meaning; its own random vector has the same
PACKAGES = ("chromadb", "mem0ai", "bm25s", "jieba", "numpy")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: sizes of the workload, number of queries."""
    parser.add_argument("--events", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--queries", type=int, default=200, help="new questions at each rank")
    parser.add_argument("--known", type=int, default=40, help="questions of each kind with an answer, at each rank")
    parser.add_argument("--directory", type=Path, help="a folder on the disk to measure (default: temporary files)")


def run(options: argparse.Namespace) -> Report:
    """Fill and query every system at every size."""
    report = Report("peers: one group's search, ms", COLUMNS)
    for events in options.events:
        with tempfile.TemporaryDirectory(dir=options.directory) as folder:
            write_questions(Path(folder), *questions_of(events, options.queries, options.known))
            _measure(report, Path(folder), events)
    missing = {peer.name: ", ".join(peer.missing) for peer in PEERS.values() if peer.missing}
    report.notes += [f"left out: {name}; not installed: {packages}" for name, packages in missing.items()]
    report.notes += list(_notes())
    return report


def _measure(report: Report, folder: Path, events: int) -> None:
    """Fill every store, then query the systems one right after the other, so that the machine's load is similar."""
    spent: dict[str, dict[str, Any]] = {}
    present = [peer for peer in PEERS.values() if not peer.missing]
    for store, peer in {peer.store: peer for peer in present}.items():
        if (figures := _tried(report, fill, peer, folder, events)) is not None:
            spent[store] = figures
    for peer in present:
        if peer.store in spent and (asked := _tried(report, ask, peer, folder, events)) is not None:
            report.add(events, peer.name, *_cells(asked, spent[peer.store]))


def _tried(report: Report, work: Callable[..., Any], peer: Peer, folder: Path, events: int) -> dict[str, Any] | None:
    """Work in a process; on failure report it and return None, so that the other figures are kept."""
    told = f"{work.__name__} {peer.name} at {events:,} events"
    print(told, file=sys.stderr)
    quiet = {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder / "mem0-settings"), "ANONYMIZED_TELEMETRY": "False"}
    try:
        return answered(work, peer.name, folder, events, env=quiet)
    except ChildFailed as error:
        report.failed = True
        report.notes.append(f"failed: {told}: {error}")
        return None


def _cells(asked: dict[str, Any], spent: dict[str, Any]) -> Iterator[Cell]:
    yield from (1000 * percentile(taken, share) for taken in asked["seconds"].values() for share in (0.50, 0.95))
    yield from (100 * asked["found"][kind] for kind in (WORDS, MEANING))
    yield from (spent["seconds"], asked["resident"], spent["peak"])


def _notes() -> Iterator[str]:
    yield f"by words, by meaning: questions whose event is among the {K} results, or in the context's text"
    yield f"each group is asked {WARMING} times and left alone for a moment before the clock runs"
    yield "add s: with the vectors given; the memory's is an import of an export file, until all is indexed"
    yield f"mem0 gets a year of more than {BULK} events in batches of 500 through its vector store class, not by add"
    yield "resident MB: the process that asked, and its child; peak MB: the same while the year was added"
    yield ", ".join(f"{found.name} {found.version}" for found in distributions() if found.name in PACKAGES)


def questions_of(events: int, new: int, known: int) -> tuple[list[Question], Matrix]:
    """Return ``new`` queries for timing and ``known`` of each kind with a known answer, at each rank."""
    lines = list(group_years(events))
    questions: list[Question] = []
    vectors: list[Matrix] = []
    for rank, (group_id, rows) in ranked(groups_by_size(lines)).items():
        speech, random = Speech(300 + rows), np.random.Generator(np.random.PCG64(rows))
        scope = [line for line in lines if line.group_id == group_id]
        fresh = speech.texts(new + WARMING)
        questions += [Question(NEW, rank, group_id, text) for text in fresh]
        vectors.append(vectors_of(fresh))
        for kind in (WORDS, MEANING):
            looked_for = [scope[at] for at in random.choice(rows, min(known, rows), replace=False)]
            asked = [_piece(line.text, random) if kind == WORDS else speech.text(25) for line in looked_for]
            questions += [Question(kind, rank, group_id, text, line.text)
                          for text, line in zip(asked, looked_for, strict=True)]  # fmt: skip
            vectors.append(vectors_of(asked) if kind == WORDS else _near(looked_for, asked))
    return questions, np.concatenate(vectors)


def _piece(text: str, random: np.random.Generator) -> str:
    start = int(random.integers(len(text) - PIECE + 1))
    return text[start : start + PIECE]


def _near(lines: Sequence[Line], asked: Sequence[str]) -> Matrix:
    mixed = NEARNESS * (vectors_of([line.text for line in lines]) + vectors_of(asked))
    return (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)
