"""The longest blocking of the event loop while a workload is indexed, Chroma is killed, and people are forgotten.

``stall`` watches the everyday operations; this benchmark the large ones, while contexts are requested all the time.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from itertools import cycle
from pathlib import Path

import cognitive_memory_core as core

from .bystander import Bystander, bystander
from .family import chroma_children
from .measure import Report, Sample, loop_watched
from .topics import TopicVectors, vectors_of, whole, year_with_vectors
from .workload import Noon, Speech, group_years, groups_by_size, ranked

PATIENCE = 60.0  # seconds
PAUSE = 0.1
QUESTIONS = 500
Asking = Callable[[], Awaitable[object]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of events, folder of the export file."""
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--data", type=Path, help="a folder that keeps the export file from run to run")


def run(options: argparse.Namespace) -> Report:
    """Watch the event loop during each operation in turn."""
    columns = ("during", "s", "longest gap ms", "a bystander's ms", "context p50 ms", "context p95 ms")
    report = Report(f"upheaval: longest gap of the event loop, {options.events} events", columns)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_measured(report, options, Path(folder)))
    report.notes.append("reach: 20 ms, any operation; the first row is a loop that only asks for contexts")
    report.notes.append("a bystander: another process that only sleeps; its longest wait is the machine's own share")
    return report


async def _measured(report: Report, options: argparse.Namespace, folder: Path) -> None:
    group_id, user_id = _who(options.events)
    path = await asyncio.to_thread(year_with_vectors, options.events, options.data or folder)
    asked = Speech(6).texts(QUESTIONS)
    embedder = TopicVectors(dict(zip(asked, vectors_of(asked), strict=True)))
    questions = cycle(asked)
    opening = core.CognitiveMemory.open(core.Settings(), folder / "data", clock=Noon(), embedder=embedder)
    async with bystander() as beside, opening as memory:
        ask = partial(memory.context, core.Scene.group(group_id, "2000001"))
        during = partial(_during, report, beside, lambda: ask(next(questions)))
        await during("contexts only (2 s)", partial(asyncio.sleep, 2.0))
        await during("import", partial(memory.import_, path))
        await during("drain (indexing)", partial(whole, memory, options.events))
        await during("searches of the operator", partial(_searched, memory))
        await during("the Chroma child is killed, and again there", partial(_killed, memory))
        await during("reindex, until whole", partial(_reindexed, memory, options.events))
        await during("the Chroma child is killed while reindexing", partial(_killed_reindexing, memory, options.events))
        await during("backup", partial(memory.backup, folder / "backup"))
        await during("forget_user, until drained", partial(_forgotten, memory, user_id))
        await during("export", partial(memory.export, folder / "out.jsonl"))


async def _during(report: Report, beside: Bystander, ask: Asking, name: str, operation: Asking) -> None:
    taken = Sample()
    await beside.longest()
    async with _asked(ask) as answers, loop_watched() as gap:
        with taken.watch():
            await operation()
    p50, p95 = (answers.p50, answers.p95) if answers.seconds else (0.0, 0.0)
    report.add(name, taken.seconds[0], gap.longest, await beside.longest(), p50, p95)
    print(f"{name}: {taken.seconds[0]:.1f} s, {gap.longest:.1f} ms", flush=True)


@asynccontextmanager
async def _asked(ask: Asking) -> AsyncIterator[Sample]:
    """Request contexts while a block runs."""
    sample = Sample()

    async def go_on() -> None:
        while True:
            with sample.watch():
                await ask()
            await asyncio.sleep(PAUSE)

    asking = asyncio.create_task(go_on())
    try:
        yield sample
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


async def _searched(memory: core.CognitiveMemory, times: int = 20) -> None:
    speech = Speech(8)
    for _ in range(times):
        await memory.search_events(core.Scene.operator(), speech.text(25))


async def _killed(memory: core.CognitiveMemory) -> None:
    """Kill the child, search meanwhile, and wait until there is a new one."""
    gone = {child.pid for child in await _children()}
    for child in await _children():
        child.kill()
    await memory.remember(core.Turn(core.Scene.group("1", "1"), observations=["小雨喜欢乌龙茶"]))  # something to write
    await _searched(memory, 5)
    await asyncio.wait_for(_another(memory, gone), PATIENCE)


async def _another(memory: core.CognitiveMemory, gone: set[int]) -> None:
    while not {child.pid for child in await _children()} - gone:
        await _searched(memory, 1)
        await asyncio.sleep(PAUSE)
    await _searched(memory, 5)


async def _reindexed(memory: core.CognitiveMemory, events: int) -> None:
    await memory.reindex()
    await whole(memory, events)


async def _killed_reindexing(memory: core.CognitiveMemory, events: int) -> None:
    rebuilding = asyncio.create_task(memory.reindex())
    await asyncio.wait({rebuilding}, timeout=1.0)  # somewhere in the middle
    for child in await _children():
        child.kill()
    with suppress(core.UnavailableError):  # the failure is reported, and the old index serves
        await rebuilding
    await _reindexed(memory, events)


async def _forgotten(memory: core.CognitiveMemory, user_id: str) -> None:
    await memory.forget_user(core.Scene.operator(), user_id)
    await whole(memory, 0)


async def _children():  # noqa: ANN202  # psutil's processes, looked up off the loop
    return await asyncio.to_thread(chroma_children)


def _who(events: int) -> tuple[str, str]:
    """Return the median group and the person with the most lines, without keeping all lines in memory."""
    lines = list(group_years(events))
    return ranked(groups_by_size(lines))["median"][0], Counter(line.user_id for line in lines).most_common(1)[0][0]
