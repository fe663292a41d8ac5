"""The flood of F21: a steady ten thousand jobs a minute, then a burst into one group; everything is counted."""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import orjson

import cognitive_memory_core as core
from cognitive_memory_core.settings import QueueSettings

from ..measure import Sample, percentile
from . import world

A_MINUTE = 10_000  # jobs
GROUPS = 20  # that share half of the flood; one more group has the other half
LOOK = 0.25  # seconds between two samples of the queue
BURST = 2_500  # jobs in one group: more than its limit
AT_ONCE = 64
NUMBER = re.compile(r"第 ?(\d+) ?轮")


@dataclass
class Flood:
    """What was handed in, what was accepted, and what it cost."""

    accepted: set[int] = field(default_factory=set)
    handed: int = 0
    refused: int = 0
    enqueue: Sample = field(default_factory=Sample)
    context: Sample = field(default_factory=Sample)
    max_pending: int = 0


async def flooded(data: Path, seconds: float) -> dict[str, object]:
    """Flood a memory, drain it, and return the figures."""
    flood = Flood()
    settings = core.Settings(
        vector_store=world.SETTINGS.vector_store,
        queue=QueueSettings(turns_per_minute=0),  # otherwise the limit per person refuses before the queue's
    )
    async with core.CognitiveMemory.open(settings, data) as memory:
        looking = asyncio.create_task(_look(memory, flood))
        started = time.perf_counter()
        await _pour(memory, flood, seconds)
        poured = time.perf_counter() - started
        steady, refused = flood.handed, flood.refused
        figures = {"minutes": poured / 60, "rate": steady / poured * 60, "refused": refused}
        figures |= {"p95": flood.enqueue.p95, "p99": 1000 * percentile(flood.enqueue.seconds, 0.99)}
        figures |= {"context_p95": flood.context.p95, "counted": (await memory.status()).refused}
        looking.cancel()
        burst = await _burst(memory, flood)
        started = time.perf_counter()
        await memory.drain(1200)
        figures |= {"drained": time.perf_counter() - started, "max_pending": flood.max_pending, "rss": _rss()}
        jobs = (await memory.status()).jobs
        await memory.export(data.parent / "out.jsonl")
    stuck = jobs.pending + jobs.processing + jobs.failed
    return figures | burst | _counted(data.parent / "out.jsonl", flood) | {"stuck": stuck, "handed": flood.handed}


async def _pour(memory: core.CognitiveMemory, flood: Flood, seconds: float) -> None:
    """Hand in jobs at a steady pace, without waiting for earlier ones."""
    started, hands = time.perf_counter(), set[asyncio.Task[None]]()
    while (passed := time.perf_counter() - started) < seconds:
        while flood.handed < passed * A_MINUTE / 60:
            group = 0 if flood.handed % 2 else 1 + flood.handed // 2 % GROUPS
            hands.add(asyncio.create_task(_hand_in(memory, flood, flood.handed, group)))
            flood.handed += 1
        hands = {hand for hand in hands if not hand.done()}
        await asyncio.sleep(0.005)
    await asyncio.gather(*hands)


async def _burst(memory: core.CognitiveMemory, flood: Flood) -> dict[str, object]:
    """Fill one group beyond its limit while the historian is paused; another group must still be served."""
    await memory.pause()
    refused = flood.refused
    for _ in range(0, BURST, AT_ONCE):
        numbers = range(flood.handed, flood.handed + AT_ONCE)
        flood.handed += AT_ONCE
        await asyncio.gather(*(_hand_in(memory, flood, number, 99) for number in numbers))
    burst_refused, before = flood.refused - refused, len(flood.accepted)
    await _hand_in(memory, flood, flood.handed, 98)
    flood.handed += 1
    await memory.resume()
    return {"burst_refused": burst_refused, "other": "accepted" if len(flood.accepted) > before else "REFUSED"}


async def _hand_in(memory: core.CognitiveMemory, flood: Flood, number: int, group: int) -> None:
    scene = core.Scene.group(str(10_001 + group), str(20_001 + group), user_name="小雨")
    said = f"小雨在第 {number} 轮说喜欢第 {number} 号茶"
    turn = core.Turn(scene, memo=f"第 {number} 轮答过", observations=[said])
    try:
        with flood.enqueue.watch():
            await memory.remember(turn)
    except core.QueueFull:
        flood.refused += 1
    else:
        flood.accepted.add(number)


async def _look(memory: core.CognitiveMemory, flood: Flood) -> None:
    scene = core.Scene.group("10002", "20002", user_name="小雨")
    with contextlib.suppress(asyncio.CancelledError):
        while True:
            flood.max_pending = max(flood.max_pending, (await memory.status()).jobs.pending)
            with flood.context.watch():
                await memory.context(scene, "小雨喜欢什么茶")
            await asyncio.sleep(LOOK)


def _counted(path: Path, flood: Flood) -> dict[str, object]:
    found: dict[str, Counter[int]] = {"event": Counter(), "memo": Counter()}
    for line in path.read_bytes().splitlines():
        row = orjson.loads(line)
        if row.get("type") in found:
            found[row["type"]][int(NUMBER.findall(row["text"])[0])] += row.get("count", 1)
    lost = sum(1 for number in flood.accepted if not all(counts[number] for counts in found.values()))
    twice = sum(1 for counts in found.values() for count in counts.values() if count > 1)
    return {"lost": lost, "twice": twice}


def _rss() -> float:
    """Return the largest resident size so far, in MB; 0 if the system does not report it."""
    if sys.platform == "win32":
        return 0.0
    import resource  # noqa: PLC0415  # there is none on Windows

    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest / (1024 * 1024 if sys.platform == "darwin" else 1024)
