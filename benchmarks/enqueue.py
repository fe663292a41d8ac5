"""The cost of ending a turn: ``remember`` compared with a bare durable write of the same bytes in the same run.

The bare write is the minimum of any durable queue: a temporary file in the same folder, fsync, ``os.replace``, fsync of
the folder, in an executor. Blocks with an idle and a busy historian alternate, so that other load affects both alike.
Speakers have names and a few lines were said before, as in a real group.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import secrets
import tempfile
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import cognitive_memory_core as core

from .measure import Report, Sample
from .workload import NOW, Speech

GROUPS = 50
PEOPLE = 20  # per group
BLOCK = 25  # turns
WARM_UP = 20
BACKLOG = 4 * BLOCK  # waiting jobs when a block begins, so that the historian does not run out of work


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of turns, directory."""
    parser.add_argument("--turns", type=int, default=500)
    parser.add_argument("--directory", type=Path, help="a folder on the disk to measure (default: temporary files)")


def run(options: argparse.Namespace) -> Report:
    """Measure with the historian idle and busy, alternating."""
    return asyncio.run(_run(max(options.turns // BLOCK, 1), options.directory))


async def _run(blocks: int, directory: Path | None) -> Report:
    bare, idle, busy, turns, jobs, number = Sample(), Sample(), Sample(), _turns(), 0, blocks * BLOCK
    with tempfile.TemporaryDirectory(dir=directory) as name:
        folder = Path(name)
        (folder / "bare").mkdir()
        async with core.CognitiveMemory.open(core.Settings(), folder / "data") as memory:
            await memory.pause()
            for turn in islice(turns, WARM_UP):
                await memory.remember(turn)
            pending = (folder / "data" / "queues" / "pending").iterdir()
            payload = next(path for path in sorted(pending) if path.suffix == ".json").read_bytes()
            for _ in range(blocks):
                await _rest(memory)
                for turn in islice(turns, BLOCK):
                    with bare.watch():
                        await asyncio.to_thread(durable_write, folder / "bare", payload)
                    with idle.watch():
                        await memory.remember(turn)
                jobs += await _while_writing(memory, turns, busy)
            await _rest(memory)
    columns = ("what", "n", "p50 ms", "p95 ms", "p50 x", "p95 x", "jobs/s")
    report = Report("enqueue: one finished turn made durable", columns)
    report.add("bare durable write", number, bare.p50, bare.p95, 1.0, 1.0, "")
    rows = (("at rest", idle, bare, ""), ("writing", busy, idle, jobs / sum(busy.seconds)))
    for what, ours, beside, pace in rows:
        figures = (ours.p50, ours.p95, ours.p50 / beside.p50, ours.p95 / beside.p95)
        report.add(f"remember, historian {what}", number, *figures, pace)
    report.notes.append("x: at rest against the bare write; writing against at rest")
    report.notes.append("jobs/s: what the historian finished meanwhile, beside turns that come one behind the other")
    return report


async def _while_writing(memory: core.CognitiveMemory, turns: Iterator[core.Turn], busy: Sample) -> int:
    """Hand in a block of turns while the historian works; return how many jobs it finished meanwhile."""
    while (await memory.status()).jobs.pending < BACKLOG:
        await memory.remember(next(turns))
    block = list(islice(turns, BLOCK))
    await memory.resume()
    await asyncio.sleep(0.1)  # the historian has started
    before = await _unfinished(memory)
    for turn in block:
        with busy.watch():
            await memory.remember(turn)
    return before + BLOCK - await _unfinished(memory)


async def _rest(memory: core.CognitiveMemory) -> None:
    """Pause, and wait until no job is running and the index is up to date."""
    await memory.pause()
    while (status := await memory.status()).jobs.processing or status.index_lag:  # noqa: ASYNC110  # nothing tells
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)


async def _unfinished(memory: core.CognitiveMemory) -> int:
    jobs = (await memory.status()).jobs
    return jobs.pending + jobs.processing


def durable_write(folder: Path, payload: bytes) -> None:
    """Write a file durably."""
    name = secrets.token_hex(16)
    draft = folder / f".{name}"
    with draft.open("wb") as file:
        file.write(payload)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder / name)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _turns() -> Iterator[core.Turn]:
    """Yield turns of fifty groups in rotation, each after three lines by others."""
    speech = Speech(11)
    for number in count(1):
        scenes = [_scene(number, offset) for offset in range(4)]
        lines = [core.Message(f"{number}-{at}", scenes[at], speech.text(20), NOW) for at in (1, 2, 3)]
        texts = {"memo": speech.text(20), "observations": speech.texts(2, 30), "source_message": speech.text(40)}
        yield core.Turn(scenes[0], recent_messages=lines, **texts)


def _scene(number: int, offset: int) -> core.Scene:
    group, person = number % GROUPS, (number // GROUPS + offset) % PEOPLE
    name = chr(0x4E00 + 7 * group + person) + chr(0x5E00 + person)
    return core.Scene.group(str(100_000 + group), str(2_000_000 + PEOPLE * group + person), user_name=name)
