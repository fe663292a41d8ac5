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
import time
from dataclasses import dataclass, field
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
    columns = ("what", "n", "p50 ms", "p95 ms", "p50 x", "p95 x", "jobs/s")
    report = Report("enqueue: one finished turn made durable", columns)
    with tempfile.TemporaryDirectory(dir=directory) as folder:
        figures = await _measured(blocks, Path(folder))
    bare, idle, busy, turns = figures.bare, figures.idle, figures.busy, blocks * BLOCK
    report.add("bare durable write", turns, bare.p50, bare.p95, 1.0, 1.0, "")
    report.add("remember, historian at rest", turns, idle.p50, idle.p95, idle.p50 / bare.p50, idle.p95 / bare.p95, "")
    pace = figures.jobs / figures.seconds
    report.add("remember, historian writing", turns, busy.p50, busy.p95, busy.p50 / idle.p50, busy.p95 / idle.p95, pace)
    report.notes.append("x: at rest against the bare write; writing against at rest")
    report.notes.append("jobs/s: what the historian finished meanwhile, beside turns that come one behind the other")
    return report


@dataclass
class _Figures:
    """The measured times, and how many jobs the historian finished in how many seconds."""

    bare: Sample = field(default_factory=Sample)
    idle: Sample = field(default_factory=Sample)
    busy: Sample = field(default_factory=Sample)
    jobs: int = 0
    seconds: float = 0.0


async def _measured(blocks: int, folder: Path) -> _Figures:
    figures, turns = _Figures(), _Turns()
    (folder / "bare").mkdir()
    async with core.CognitiveMemory.open(core.Settings(), folder / "data") as memory:
        await memory.pause()
        for _ in range(WARM_UP):
            await memory.remember(turns.next())
        payload = _payload(folder / "data" / "queues" / "pending")
        for _ in range(blocks):
            await _rest(memory)
            for _ in range(BLOCK):
                turn = turns.next()
                with figures.bare.watch():
                    await asyncio.to_thread(durable_write, folder / "bare", payload)
                with figures.idle.watch():
                    await memory.remember(turn)
            await _while_writing(memory, turns, figures)
        await _rest(memory)
    return figures


async def _while_writing(memory: core.CognitiveMemory, turns: _Turns, figures: _Figures) -> None:
    while (await memory.status()).jobs.pending < BACKLOG:
        await memory.remember(turns.next())
    block = [turns.next() for _ in range(BLOCK)]
    await memory.resume()
    await asyncio.sleep(0.1)  # the historian has started
    before, started = await _unfinished(memory), time.perf_counter()
    for turn in block:
        with figures.busy.watch():
            await memory.remember(turn)
    figures.seconds += time.perf_counter() - started
    figures.jobs += before + BLOCK - await _unfinished(memory)


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


class _Turns:
    """Turns of fifty groups in rotation."""

    def __init__(self) -> None:
        self._speech = Speech(11)
        self._number = 0

    def next(self) -> core.Turn:
        """Return a turn by somebody of the next group, after three lines by others."""
        self._number += 1
        speech = self._speech
        lines = [core.Message(f"{self._number}-{at}", self._scene(at), speech.text(20), NOW) for at in (1, 2, 3)]
        return core.Turn(
            self._scene(0),
            memo=speech.text(20),
            observations=speech.texts(2, 30),
            source_message=speech.text(40),
            recent_messages=lines,
        )

    def _scene(self, offset: int) -> core.Scene:
        group, person = self._number % GROUPS, (self._number // GROUPS + offset) % PEOPLE
        name = chr(0x4E00 + 7 * group + person) + chr(0x5E00 + person)
        return core.Scene.group(str(100_000 + group), str(2_000_000 + PEOPLE * group + person), user_name=name)


def _payload(pending: Path) -> bytes:
    """Return the bytes of a job file."""
    return next(path for path in sorted(pending.iterdir()) if path.suffix == ".json").read_bytes()
