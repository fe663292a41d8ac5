"""The cost of withdrawals for others: another group's turn while forty messages are withdrawn from a long queue."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

import cognitive_memory_core as core
from cognitive_memory_core.domain.ids import derived_id
from cognitive_memory_core.domain.turn import Job
from cognitive_memory_core.queue.job_queue import FileQueue

from .measure import Report, Sample
from .workload import NOW, Noon, Speech

HERE = core.Scene.group("100001", "2000001", user_name="小雨")
THERE = core.Scene.group("100002", "2000002", user_name="小满")
LINES = 3  # recent lines per job
TURNS = 5  # of the other group, alone and during the withdrawals
STEP = 0.002  # seconds between two checks


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of waiting jobs and of withdrawals."""
    parser.add_argument("--pending", type=int, default=2_000)
    parser.add_argument("--withdrawals", type=int, default=40)
    parser.add_argument("--directory", type=Path, help="a folder on the disk to measure (default: temporary files)")


def run(options: argparse.Namespace) -> Report:
    """Measure the other group's turns alone, then during the withdrawals."""
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        return asyncio.run(_measured(options.pending, options.withdrawals, Path(folder)))


async def _measured(pending: int, withdrawals: int, folder: Path) -> Report:
    report = Report("withdraw: another group's turn", ("what", "n", "remember p95 ms", "stored p95 ms", "all s"))
    queue = core.QueueSettings(max_pending_per_group=pending, turns_per_minute=0)
    settings = core.Settings.from_mapping({"vector_store": {"backend": "exact"}, "queue": queue.model_dump()})
    await _fill(pending, queue, folder / "queues")
    async with core.CognitiveMemory.open(settings, folder) as memory:
        remember, stored = await _turns(memory)
        report.add("alone", TURNS, remember.p95, stored.p95, "")
        started, step = time.perf_counter(), max(pending // (2 * withdrawals), 1)
        ids = [f"{pending - 1 - step * number}-1" for number in range(withdrawals)]
        going = [asyncio.create_task(memory.recall_message(HERE, message_id)) for message_id in ids]
        ended = asyncio.gather(*going)
        ended.add_done_callback(lambda _: seconds.append(time.perf_counter() - started))
        seconds: list[float] = []
        remember, stored = await _turns(memory)
        await ended
        report.add(f"beside {withdrawals} withdrawals", TURNS, remember.p95, stored.p95, seconds[0])
    report.notes.append(f"{pending} jobs of one group wait; all s: until every message was withdrawn")
    return report


async def _fill(pending: int, settings: core.QueueSettings, folder: Path) -> None:
    queue, speech = await FileQueue.open(folder, settings, Noon()), Speech(3)
    for first in range(0, pending, 50):
        numbers = range(first, min(first + 50, pending))
        await asyncio.gather(*(queue.enqueue(_job(number, speech)) for number in numbers))
    await queue.close()


def _job(number: int, speech: Speech) -> Job:
    lines = [core.Message(f"{number}-{line}", HERE, speech.text(20), NOW) for line in range(LINES)]
    turn = core.Turn(HERE, observations=[speech.text(30)], recent_messages=lines, message_ids=[f"{number}"])
    return Job(derived_id("waiting", number), turn, NOW)


async def _turns(memory: core.CognitiveMemory) -> tuple[Sample, Sample]:
    remember, stored = Sample(), Sample()
    before = len(await memory.events(THERE, limit=100))
    for number in range(before, before + TURNS):
        with stored.watch():
            with remember.watch():
                await memory.remember(core.Turn(THERE, observations=[f"小满({THERE.user_id}) 喜欢第 {number} 号茶"]))
            while len(await memory.events(THERE, limit=100)) <= number:  # noqa: ASYNC110  # as a person would
                await asyncio.sleep(STEP)
    return remember, stored
