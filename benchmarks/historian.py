"""The historian's throughput with a model that answers in 0 ms, and the processor time of a job.

Each job stores an event and updates two profiles: that of the speaker and that of the group. The time runs from the
first turn handed in until :meth:`drain` returns True, with events embedded and indexed and every fact merged.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import cognitive_memory_core as core
from tests.support.puppet import MERGE, Puppet

from .measure import Report, Sample, freeze, loop_watched
from .workload import NOW, TopicVectors, exported, group_years

GROUPS, PEOPLE = 10, 100
PATIENCE = 600.0
ENOUGH = 40.0  # jobs a second
LIKES = ("乌龙茶", "爬山", "桌游", "听雨", "摄影", "写诗", "骑车", "做饭", "养猫", "看展", "修表", "游泳")
WITH = ("毛笔", "相机", "铁壶", "地图", "吉他", "棋盘", "雨伞", "风筝", "账本", "竹椅")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of jobs, rounds and existing events, stores, directory."""
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--events", type=int, default=10_000, help="how many the ledger holds before")
    parser.add_argument("--backends", nargs="*", default=["exact", "chroma"])
    parser.add_argument("--directory", type=Path, help="a folder on the disk to measure (default: temporary files)")


def run(options: argparse.Namespace) -> Report:
    """Measure with each vector store."""
    columns = ("vector store", "jobs", "jobs/s", "merges a job", "longest stall ms", "processor ms a job")
    title = f"historian: event + 2 profiles, 0 ms model, {PEOPLE} people, {options.events} events before"
    report = Report(title, columns)
    for backend in options.backends:
        with tempfile.TemporaryDirectory(dir=options.directory, ignore_cleanup_errors=True) as folder:
            asyncio.run(_measured(options, backend, Path(folder), report))
    return report


async def _measured(options: argparse.Namespace, backend: str, folder: Path, report: Report) -> None:
    chat, turns, total = Puppet(), _turns(), options.jobs * options.rounds
    paces, sample, merges, stall = list[float](), Sample(), 0.0, 0.0
    given = {"vector_store": {"backend": backend}, "profile": {"merge_delay_seconds": 0}, "daily_calls": 0}
    settings = core.Settings.from_mapping(given)
    async with core.CognitiveMemory.open(settings, folder / "data", embedder=TopicVectors(), chat=chat) as memory:
        freeze()
        years = list(group_years(options.events))
        await memory.import_(await asyncio.to_thread(exported, years, folder / "years.jsonl"))
        assert await memory.drain(PATIENCE)
        await _worked(memory, turns, PEOPLE)  # everybody has a profile before the first round
        for _ in range(options.rounds):
            before = chat.count(MERGE)
            async with loop_watched() as gap:
                with sample.watch():
                    paces.append(await _worked(memory, turns, options.jobs))
            stall, merges = max(stall, gap.longest), (chat.count(MERGE) - before) / options.jobs
        stored = (await memory.status()).totals.events
    pace = statistics.median(paces)
    report.add(backend, total, pace, merges, stall, 1000 * sum(sample.worked) / total)
    is_whole = stored == options.events + PEOPLE + total
    report.failed |= not is_whole
    report.notes += [] if is_whole else [f"{backend}: NOT EVERYTHING WAS STORED"]
    report.notes.append(f"{backend}: {'within' if pace >= ENOUGH else 'BELOW'} {ENOUGH:g} jobs/s")


async def _worked(memory: core.CognitiveMemory, turns: Iterator[core.Turn], number: int) -> float:
    """Hand jobs in and wait until nothing waits; return jobs per second."""
    handed = list(islice(turns, number))
    started = time.perf_counter()
    for turn in handed:
        await memory.remember(turn)
    assert await memory.drain(PATIENCE)
    return number / (time.perf_counter() - started)


def _turns() -> Iterator[core.Turn]:
    """Yield turns of a hundred people in ten groups in rotation, all different."""
    dice = random.Random(7)
    for number in count(1):
        person = number % PEOPLE
        group_id, user_id = str(700_001 + person % GROUPS), str(3_000_001 + person)
        scene = core.Scene.group(group_id, user_id, user_name=f"茶客{chr(0x5E03 + person)}", group_name="茶会")
        likes, tool = dice.choice(LIKES), dice.choice(WITH)
        said = f"{scene.user_name}({user_id}) 在茶会({group_id}) 教{likes}，带了 {number} 号{tool}"
        ids = [f"m{number}"]
        yield core.Turn(scene, observations=[said], source_message=said, message_ids=ids, happened_at=NOW)
