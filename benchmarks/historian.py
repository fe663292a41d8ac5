"""The historian's throughput with a model that answers in 0 ms, compared with the bare writes that it needs.

Each job stores an event and updates two profiles: that of the speaker and that of the group. The time runs from the
first turn handed in until :meth:`drain` returns True, with events embedded and indexed and every fact merged.

The bare writes of a job: its file (temporary file, fsync, replace, folder fsync), its move, one ledger transaction
(event, terms, vector, two facts), its deletion. For each profile that was really written (facts that come together are
merged together): a revision and the profile (each temporary file, fsync, replace, folder fsync), and the transaction
that settles its facts. Both alternate in one run; the figures are medians of the rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import count, islice
from pathlib import Path

import cognitive_memory_core as core
from cognitive_memory_core.text.terms import index_terms
from tests.support.puppet import MERGE, Puppet

from .enqueue import durable_write
from .measure import Report, Sample, freeze, loop_watched
from .workload import NOW, TopicVectors, exported, group_years, vector_of

GROUPS, PEOPLE = 10, 100
PATIENCE = 600.0
ENOUGH, SHARE = 100.0, 0.4
PROFILE_FILE = ("---\nentity_type: member\nentity_id: '2000001'\n---\n\n" + "喜欢喝茶和爬山，" * 60).encode()
SETTLED = "DELETE FROM facts WHERE job = ? AND target = ?"
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
    columns = ("vector store", "jobs", "jobs/s", "bare jobs/s", "share", "merges a job", "longest stall ms")
    columns += ("processor ms a job",)
    title = f"historian: event + 2 profiles, 0 ms model, {PEOPLE} people, {options.events} events before"
    report = Report(title, columns)
    for backend in options.backends:
        with tempfile.TemporaryDirectory(dir=options.directory, ignore_cleanup_errors=True) as folder:
            asyncio.run(_measured(options, backend, Path(folder), report))
    return report


async def _measured(options: argparse.Namespace, backend: str, folder: Path, report: Report) -> None:
    chat, turns, total = Puppet(), _turns(), options.jobs * options.rounds
    paces, bare_paces, sample, merges, stall = list[float](), list[float](), Sample(), 0.0, 0.0
    given = {"vector_store": {"backend": backend}, "profile": {"merge_delay_seconds": 0}, "daily_calls": 0}
    settings = core.Settings.from_mapping(given)
    bare = _Bare(folder / "bare", options.events)
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
            bare_paces.append(await asyncio.to_thread(bare.worked, options.jobs, merges))
        stored = (await memory.status()).totals.events
    pace, bare_pace = statistics.median(paces), statistics.median(bare_paces)
    share = statistics.median(ours / least for ours, least in zip(paces, bare_paces, strict=True))
    report.add(backend, total, pace, bare_pace, share, merges, stall, 1000 * sum(sample.worked) / total)
    is_whole, is_enough = stored == options.events + PEOPLE + total, pace >= ENOUGH and share >= SHARE
    report.failed |= not is_whole
    report.notes += [] if is_whole else [f"{backend}: NOT EVERYTHING WAS STORED"]
    report.notes.append(f"{backend}: {'within' if is_enough else 'BELOW'} {ENOUGH:g} jobs/s and {SHARE:g} of bare")


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


class _Bare:
    """The least that a durable historian writes, sequentially in one thread."""

    def __init__(self, folder: Path, events: int) -> None:
        for name in ("pending", "processing", "profiles", "history"):
            (folder / name).mkdir(parents=True)
        self._folder = folder
        self._path = folder / "bare.db"
        self._number = 0
        with closing(self._database()) as database:
            database.executescript(
                "CREATE TABLE events (id TEXT PRIMARY KEY, fields TEXT, vector BLOB);"
                "CREATE TABLE facts (job TEXT, target TEXT, PRIMARY KEY (job, target)) WITHOUT ROWID;"
                "CREATE VIRTUAL TABLE words USING fts5(scope, body, content='', tokenize='unicode61');"
            )
            with database:
                for number in range(events):
                    self._event(database, f"before {number}", f"茶客在茶会带了 {number} 号{WITH[number % len(WITH)]}")

    def worked(self, number: int, merges: float) -> float:
        """Write what ``number`` jobs write, with ``merges`` profiles per job; return jobs per second."""
        due, started = 0.0, time.perf_counter()
        with closing(self._database()) as database:
            for _ in range(number):
                name = self._job(database)
                due += merges
                for target in range(int(due + 1e-9)):
                    self._profile_lines(database, name, str(target))
                    due -= 1
        return number / (time.perf_counter() - started)

    def _job(self, database: sqlite3.Connection) -> str:
        self._number += 1
        name = f"job {self._number}"
        payload = (
            f'{{"id": "{name}", "observations": ["茶客在茶会教写诗，带了 {self._number} 号毛笔"]}}' + " " * 600
        ).encode()
        durable_write(self._folder / "pending", payload)
        (waiting,) = (self._folder / "pending").iterdir()
        claimed = waiting.replace(self._folder / "processing" / waiting.name)
        with database:
            self._event(database, name, f"茶客在茶会教写诗，带了 {self._number} 号毛笔")
            database.executemany("INSERT INTO facts VALUES (?, ?)", [(name, "0"), (name, "1")])
        claimed.unlink()
        return name

    def _profile_lines(self, database: sqlite3.Connection, name: str, target: str) -> None:
        durable_write(self._folder / "history", PROFILE_FILE)
        durable_write(self._folder / "profiles", PROFILE_FILE)
        with database:
            database.execute(SETTLED, (name, target))

    def _event(self, database: sqlite3.Connection, name: str, text: str) -> None:
        fields, terms = f'{{"text": "{text}"}}' + " " * 300, " ".join(index_terms(text))
        row = database.execute("INSERT INTO events VALUES (?, ?, ?)", (name, fields, vector_of(text).tobytes()))
        database.execute("INSERT INTO words (rowid, scope, body) VALUES (?, ?, ?)", (row.lastrowid, "g700001", terms))

    def _database(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path)
        database.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;")
        return database
