"""Where the processor time of a context goes: the event loop, the threads, and the functions that take most of it.

The folder is kept between runs if one is given, since writing 100,000 events takes longer than measuring them. With
``--lines`` the group has that many lines of the log and no events.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import gc
import pstats
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import local
from typing import Any

import cognitive_memory_core as core

from .measure import Report, percentile, work_counted
from .spoken_log import spoken
from .workload import Noon, Speech, TextVectors, group_years, groups_by_size, ranked, vector_of
from .year_in_ledger import laid

COLUMNS = ("asked in", "rows", "processor p50 ms", "p10 ms", "p95 ms", "of it loop p50 ms", "time p50 ms",
           "time p95 ms", "hops", "rounds")  # fmt: skip
LEDGER = "ledger.db"
SETTLING = 3_000  # rows per second that are loaded after the first question, at least


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: size, number of contexts, folder, and how many functions to show."""
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--lines", type=int, default=0, help="lines of one group's log, instead of events")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--folder", type=Path, help="a data directory, filled if it is empty and kept")
    parser.add_argument("--ranks", nargs="+", default=["1", "5", "median"])
    parser.add_argument("--profile", type=int, default=0, help="show that many functions by the time they take")


def run(options: argparse.Namespace) -> Report:
    """Measure the contexts of each group."""
    report = Report(f"turn: {options.queries} contexts a group, new queries", COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_measure(report, options, options.folder or Path(folder)))
    return report


async def _measure(report: Report, options: argparse.Namespace, folder: Path) -> None:
    groups = await (_log_of if options.lines else _year_of)(options, folder)
    settings = core.Settings(vector_store=core.VectorStoreSettings(backend="exact"))
    embedder = None if options.lines else TextVectors()
    async with core.CognitiveMemory.open(settings, folder, clock=Noon(), embedder=embedder, background=False) as memory:
        for name, (group_id, rows) in groups.items():
            scene, speech = core.Scene.group(group_id, "2000001"), Speech(100 + rows)
            await memory.context(scene, speech.text(25))
            await asyncio.sleep(max(2.0, rows / SETTLING))
            await _asked(memory, scene, speech.texts(20))
            gc.collect()
            report.add(name, rows, *await _asked(memory, scene, speech.texts(options.queries)))
            if options.profile:
                report.notes.append(await _profiled(memory, scene, speech.texts(options.queries), options.profile))


async def _year_of(options: argparse.Namespace, folder: Path) -> dict[str, tuple[str, int]]:
    lines = list(group_years(options.events))
    if not (folder / LEDGER).exists():
        await laid(lines, folder)
    groups = ranked(groups_by_size(lines))
    return {f"rank {rank}": groups[rank] for rank in options.ranks}


async def _log_of(options: argparse.Namespace, folder: Path) -> dict[str, tuple[str, int]]:
    if not (folder / LEDGER).exists():
        await spoken(options.lines, folder)
    return {"log": ("100001", options.lines)}


async def _asked(memory: core.CognitiveMemory, scene: core.Scene, queries: Sequence[str]) -> tuple[float, ...]:
    processor, loop, waited = list[float](), list[float](), list[float]()
    for query in queries:
        vector_of(query)  # not measured
        at, used, own = time.perf_counter(), time.process_time(), time.thread_time()
        await memory.context(scene, query)
        processor.append(1000 * (time.process_time() - used))
        loop.append(1000 * (time.thread_time() - own))
        waited.append(1000 * (time.perf_counter() - at))
    works = [await _counted(memory, scene, query) for query in queries[:10]]
    return (
        statistics.median(processor), percentile(processor, 0.1), percentile(processor, 0.95), statistics.median(loop),
        statistics.median(waited), percentile(waited, 0.95),
        statistics.median(hops for hops, _ in works), statistics.median(rounds for _, rounds in works),
    )  # fmt: skip


async def _counted(memory: core.CognitiveMemory, scene: core.Scene, query: str) -> tuple[int, int]:
    with work_counted() as work:
        await memory.context(scene, query)
    return work.hops, work.rounds


async def _profiled(memory: core.CognitiveMemory, scene: core.Scene, queries: Sequence[str], most: int) -> str:
    """Return the functions of all threads that take most time; the profiler itself slows down small ones most."""
    with _threads_profiled() as profiles:
        own = cProfile.Profile(time.thread_time)
        profiles.append(own)
        own.enable()
        for query in queries:
            await memory.context(scene, query)
        own.disable()
    stats = pstats.Stats(*profiles).strip_dirs()
    return "\n".join(_functions(stats, len(queries), most))


def _functions(stats: Any, contexts: int, most: int) -> Iterator[str]:
    for title, column in (("by own time", 2), ("with callees", 3)):
        yield f"-- {title}, ms a context (profiled)"
        for (file, line, name), found in sorted(stats.stats.items(), key=lambda row: -row[1][column])[:most]:
            yield f"{1000 * found[column] / contexts:8.3f} {found[0] / contexts:8.1f} x  {file}:{line} {name}"


@contextmanager
def _threads_profiled() -> Iterator[list[cProfile.Profile]]:
    """Profile every function that is handed to an executor, one profile a thread."""
    profiles, kept, submit = list[cProfile.Profile](), local(), ThreadPoolExecutor.submit

    def profiled(work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if not hasattr(kept, "profile"):
            kept.profile = cProfile.Profile(time.thread_time)
            profiles.append(kept.profile)
        kept.profile.enable()
        try:
            return work(*args, **kwargs)
        finally:
            kept.profile.disable()

    def submitted(pool: ThreadPoolExecutor, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return submit(pool, profiled, work, *args, **kwargs)

    ThreadPoolExecutor.submit = submitted
    try:
        yield profiles
    finally:
        ThreadPoolExecutor.submit = submit
