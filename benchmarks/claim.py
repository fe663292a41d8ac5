"""The cost of claiming the next job with 100 and with 50,000 jobs waiting."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

import cognitive_memory_core as core
from cognitive_memory_core.domain.ids import derived_id
from cognitive_memory_core.domain.turn import Job
from cognitive_memory_core.queue.job_queue import FileQueue

from .measure import Report, Sample
from .workload import NOW, Noon, Speech

GROUPS = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of waiting jobs and of claims."""
    parser.add_argument("--pending", type=int, nargs="+", default=[100, 50_000])
    parser.add_argument("--claims", type=int, default=90)
    parser.add_argument("--directory", type=Path, help="a folder on the disk to measure (default: temporary files)")


def run(options: argparse.Namespace) -> Report:
    """Measure every size; each claimed job is completed before the next claim."""
    report = Report("claim: the next job", ("pending", "open s", "claims", "p50 ms", "p95 ms", "p50 x"))
    first = 0.0
    for pending in options.pending:
        with tempfile.TemporaryDirectory(dir=options.directory) as folder:
            opening, claiming = asyncio.run(_measured(pending, min(options.claims, pending), Path(folder)))
        first = first or claiming.p50
        report.add(pending, opening.p50 / 1000, len(claiming.seconds), claiming.p50, claiming.p95, claiming.p50 / first)
    report.notes.append(
        "x: against the first row; open: the time until a queue with that many files can be claimed from"
    )
    return report


async def _measured(pending: int, claims: int, folder: Path) -> tuple[Sample, Sample]:
    settings = core.QueueSettings(max_pending=10**6, max_pending_per_group=10**6, max_pending_mb=10**4)
    await _fill(settings, pending, folder)
    opening, claiming = Sample(), Sample()
    with opening.watch():
        queue = await FileQueue.open(folder, settings, Noon())
    await queue.recover()
    for _ in range(claims):
        with claiming.watch():
            claim = await queue.claim()
        assert claim is not None
        await queue.complete(claim)
    await queue.close()
    return opening, claiming


async def _fill(settings: core.QueueSettings, pending: int, folder: Path) -> None:
    """Let the queue write one job, then copy its file for the others without an fsync each."""
    queue = await FileQueue.open(folder, settings, Noon())
    scenes = [core.Scene.group(str(100_000 + group), "2000001") for group in range(GROUPS)]
    await queue.enqueue(Job(derived_id(0), core.Turn(scenes[0], observations=[Speech(5).text(30)]), NOW))
    await queue.close()
    (written,) = (folder / "pending").glob("*.json")
    content, instant = written.read_bytes(), int(written.name.partition("-")[0])
    for number in range(1, pending):
        job_id, group = derived_id(number), scenes[number % GROUPS].group_id
        copy = content.replace(derived_id(0).encode(), job_id.encode()).replace(b"100000", group.encode())
        name = written.name.replace(derived_id(0), job_id).replace(f"{instant:016}", f"{instant + number:016}")
        written.with_name(name).write_bytes(copy)
