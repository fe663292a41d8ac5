"""Isolation: random scenes over random histories, through every read path of the memory.

First every read path of the memory and its tools over every kind of store is compared with an independent
implementation of the design's table. Then the rule, its SQL, Chroma's filter and every search are compared with each
other, over pairs of a scene and a memory. Ids are drawn from a small pool, so that groups and people share numbers, and
some look like keywords of the filters.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sqlite3
import tempfile
import time
from array import array
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.read_filter import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.ports.vectors import EmbeddedEvent
from cognitive_memory_core.store.ledger import Ledger
from cognitive_memory_core.store.search.read_filter_sql import scene_filter
from cognitive_memory_core.vectors.chroma.read_filter_where import chroma_filter, event_metadata
from tests.support.where import matches

from .isolation_scenes import WAYS, plans, tallied
from .measure import Report
from .workload import NOW

IDS = ("1", "2", "01", "10001", "2000001", "2000002", "$ne", "*", "%", "' OR 1=1 --", "group", "private", "棠", "１")
AGENTS = ("default", "second")
MEMORIES = 500
FINGERPRINT = "isolation"
WORD = "乌龙"  # in every text, so that a search for it finds everything that may be found
DIMENSIONS = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of scenes, and of pairs of a scene and a memory."""
    parser.add_argument("--scenes", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--quick", action="store_true", help="a hundredth of both, which only shows that it works")
    parser.add_argument("--seed", type=int, default=7)


def run(options: argparse.Namespace) -> Report:
    """Use every read path and compare every reader with the rule."""
    report = Report("isolation: what was shown against the rule", ("reader", "asked", "readable", "leaks", "missing"))
    started = time.perf_counter()
    share = 100 if options.quick else 1
    _ask(report, options.scenes // share, options.seed)
    scenes = -(-options.pairs // share // MEMORIES)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_compare(report, scenes, random.Random(options.seed), Path(folder) / "ledger.db"))
    report.failed = any(row[3] or row[4] for row in report.rows)
    report.notes.append("leaks: shown, though the rule forbids it; missing: not shown, though the rule allows it")
    report.notes.append("rows of the legs: what stores gave; a leak there is what only the last check took out")
    report.notes.append(f"{time.perf_counter() - started:.0f} s, seed {options.seed}")
    return report


def _ask(report: Report, scenes: int, seed: int) -> None:
    for make, tally in tallied(plans(scenes, seed)).items():
        for way in WAYS:
            figures = (tally.asked[way], tally.shown[way], tally.leaked[way], tally.missing[way])
            report.add(f"{make}: {way}", *figures)
        report.add(f"{make}: rows of the legs", tally.asked.total(), tally.rows, tally.dropped, 0)
        if tally.example:
            report.notes.append(tally.example)


async def _compare(report: Report, scenes: int, dice: random.Random, path: Path) -> None:
    events = [_event(number, dice) for number in range(MEMORIES)]
    rows = [EmbeddedEvent(event, FINGERPRINT, array("f", _vector(dice))) for event in events]
    allowed, leaks, missing = 0, Counter[str](), Counter[str]()
    ledger = await Ledger.open(path)
    ledger.index.follow(FINGERPRINT)
    await ledger.archive.import_rows(rows)
    for _ in range(scenes):
        scene = _scene(dice)
        rule = {event.id for event in events if event.scope.readable_by(scene, sender_id=event.sender_id)}
        allowed += len(rule)
        for reader, found in (await _readers(ledger, path, events, scene, _vector(dice))).items():
            leaks[reader] += len(found - rule)
            missing[reader] += len(rule - found)
    await ledger.close()
    for reader in missing:
        report.add(reader, scenes * MEMORIES, allowed, leaks[reader], missing[reader])


async def _readers(
    ledger: Ledger, path: Path, events: Sequence[Event], scene: Scene, vector: list[float]
) -> dict[str, set[str]]:
    read_filter = ReadFilter(scene)
    where = chroma_filter(read_filter)
    listed = await ledger.events.recent(read_filter, MEMORIES)
    worded = await ledger.lexical.events([WORD], read_filter, MEMORIES)
    nearest = await ledger.index.nearest(array("f", vector), read_filter, MEMORIES)
    return {
        "SQL of the rule": await asyncio.to_thread(_by_sql, path, scene),
        "Chroma filter": {event.id for event in events if matches(where, event_metadata(event))},
        "list": {event.id for event in listed},
        "search by words": {event.id for event, _ in worded},
        "search by vector": {event.id for event, _ in nearest},
    }


def _by_sql(path: Path, scene: Scene) -> set[str]:
    clause, values = scene_filter(scene)
    with closing(sqlite3.connect(path)) as connection:
        return {row[0] for row in connection.execute(f"SELECT e.id FROM events e WHERE {clause}", values)}


def _event(number: int, dice: random.Random) -> Event:
    in_group = dice.random() < 0.5
    user_id = dice.choice(IDS)
    return Event(
        f"{number:032x}",
        f"{WORD}茶第{number}杯",
        user_id=user_id,
        group_id=dice.choice(IDS) if in_group else "",
        sender_id=dice.choice([user_id, user_id, dice.choice(IDS), ""]),
        subjects=tuple(dice.sample(IDS, dice.randint(0, 2))),
        request_type="group" if in_group else "private",
        happened_at=NOW,
        agent=dice.choice(AGENTS),
    )


def _scene(dice: random.Random) -> Scene:
    agent = dice.choice(AGENTS)
    kind = dice.random()
    if kind < 0.45:
        return Scene.group(dice.choice(IDS), dice.choice(IDS), agent=agent)
    if kind < 0.9:
        return Scene.private(dice.choice(IDS), agent=agent)
    return Scene.operator(agent)


def _vector(dice: random.Random) -> list[float]:
    return [dice.gauss(0, 1) for _ in range(DIMENSIONS)]
