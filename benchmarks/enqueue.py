"""What ending a turn costs: ``remember`` beside a bare durable write of the same bytes, in the same run.

The bare write is what no durable queue can do without: a temporary file in the same folder, fsync, ``os.replace``,
fsync of the folder, in an executor.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import secrets
import tempfile
from pathlib import Path

import cognitive_memory_core as core

from .measure import Report, Sample
from .workload import Speech

GROUPS = 50
WARM_UP = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say how many turns and where."""
    parser.add_argument("--turns", type=int, default=500)
    parser.add_argument("--directory", type=Path, help="a folder on the disk to measure (default: temporary files)")


def run(options: argparse.Namespace) -> Report:
    """Measure with the historian at rest, then while it works."""
    return asyncio.run(_run(options.turns, options.directory))


async def _run(turns: int, directory: Path | None) -> Report:
    report = Report("enqueue: one finished turn made durable", ("what", "n", "p50 ms", "p95 ms", "p50 x", "p95 x"))
    with tempfile.TemporaryDirectory(dir=directory) as folder:
        bare, idle, busy = await _measured(turns, Path(folder))
    report.add("bare durable write", turns, bare.p50, bare.p95, 1.0, 1.0)
    report.add("remember, historian at rest", turns, idle.p50, idle.p95, idle.p50 / bare.p50, idle.p95 / bare.p95)
    report.add("remember, historian writing", turns, busy.p50, busy.p95, busy.p50 / idle.p50, busy.p95 / idle.p95)
    report.notes.append("x: at rest against the bare write; writing against at rest")
    return report


async def _measured(turns: int, folder: Path) -> tuple[Sample, Sample, Sample]:
    bare, idle, busy = Sample(), Sample(), Sample()
    speech = Speech(11)
    (folder / "bare").mkdir()
    async with core.CognitiveMemory.open(core.Settings(), folder / "data") as memory:
        await memory.pause()
        for number in range(WARM_UP):
            await memory.remember(_turn(number, speech))
        payload = _payload(folder / "data" / "queues" / "pending")
        for number in range(turns):
            turn = _turn(number, speech)
            with bare.watch():
                await asyncio.to_thread(durable_write, folder / "bare", payload)
            with idle.watch():
                await memory.remember(turn)
        await memory.resume()
        for number in range(turns):
            turn = _turn(number, speech)
            with busy.watch():
                await memory.remember(turn)
    return bare, idle, busy


def durable_write(folder: Path, payload: bytes) -> None:
    """Write a file that would survive a power cut."""
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


def _turn(number: int, speech: Speech) -> core.Turn:
    scene = core.Scene.group(str(100_000 + number % GROUPS), str(2_000_000 + number))
    observations = speech.texts(2, 30)
    return core.Turn(scene, memo=speech.text(20), observations=observations, source_message=speech.text(40))


def _payload(pending: Path) -> bytes:
    """Take the bytes of a job as it lies there."""
    return next(path for path in sorted(pending.iterdir()) if path.suffix == ".json").read_bytes()
