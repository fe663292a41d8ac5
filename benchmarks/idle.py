"""Memory of an idle bot with the default store, compared with one that only has exact search: MB, bot and children.

Each is filled first, then opened in a separate process with a complete index. Memory is read four times: after opening,
after some chat and queries, after its index was brought up to date, and some minutes later.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from itertools import islice
from pathlib import Path

import psutil

import cognitive_memory_core as core

from .family import children_resident, resident
from .measure import Report
from .workload import NOW, Line, Speech, group_years, write_export

ROOT = Path(__file__).resolve().parent.parent
STORES = ("chroma", "exact")
REACH = 10  # MB above exact search alone
MESSAGES, TURNS, CONTEXTS = 200, 20, 50
PATIENCE = 600.0  # seconds
STATES = ("opened", "talked", "indexed", "rested")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of events, and how long the store may take to stop."""
    parser.add_argument("--events", type=int, default=5_000)
    parser.add_argument("--rest", type=float, default=150.0, help="seconds to wait for the store to end")
    parser.add_argument("--directory", type=Path, help="a folder on the disk to use (default: temporary files)")


def run(options: argparse.Namespace) -> Report:
    """Fill a directory for each store, then open it and sample."""
    columns = ("store", "events", *(f"{state} {whose}" for state in STATES for whose in ("bot", "child")))
    report, together = Report("memory of an idle bot: resident, MB", columns), dict[str, Sequence[float]]()
    for store in STORES:
        with tempfile.TemporaryDirectory(dir=options.directory, ignore_cleanup_errors=True) as folder:
            for step in ("fill", "look"):
                figures = _observe(step, folder, store, options.events, options.rest)
        together[store] = [bot + child for bot, child in zip(figures[::2], figures[1::2], strict=True)]
        report.add(store, options.events, *figures)
    over = [ours - exact for ours, exact in zip(together["chroma"], together["exact"], strict=True)]
    said = ", ".join(f"{state} {more:.0f}" for state, more in zip(STATES, over, strict=True))
    report.notes.append(f"over exact search alone: {said}; reach {REACH} at most, except just after indexing")
    report.notes.append(
        f"talked: {MESSAGES} lines, {TURNS} turns, {CONTEXTS} contexts; rested: {options.rest:.0f} s at most"
    )
    return report


def _observe(step: str, folder: str, store: str, events: int, rest: float) -> list[float]:
    command = [sys.executable, "-m", "benchmarks.idle", step, folder, store, str(events), str(rest)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


async def _filled(folder: Path, store: str, events: int) -> list[float]:
    async with _opened(folder, store) as memory:
        await asyncio.to_thread(write_export, _lines(events), folder / "year.jsonl")
        await memory.import_(folder / "year.jsonl")
        if not await memory.drain(PATIENCE):
            raise SystemExit(f"not indexed: {await memory.status()}")
    return []


async def _looked(folder: Path, store: str, events: int, rest: float) -> list[float]:
    async with _opened(folder, store) as memory:
        await memory.drain(PATIENCE)
        figures = _figures()
        await _talk(memory, _lines(events))
        figures += _figures()
        await memory.drain(PATIENCE)
        figures += _figures()
        ends = time.monotonic() + rest
        while children_resident() and time.monotonic() < ends:  # noqa: ASYNC110  # nothing tells
            await asyncio.sleep(1)
        return figures + _figures()


def _opened(folder: Path, store: str) -> AbstractAsyncContextManager[core.CognitiveMemory]:
    settings = core.Settings(vector_store=core.VectorStoreSettings(backend=store))  # type: ignore[arg-type]
    return core.CognitiveMemory.open(settings, folder)


async def _talk(memory: core.CognitiveMemory, lines: Sequence[Line]) -> None:
    """Chat and ask in many groups, and wait until the historian is done; the index may lag."""
    speech, scenes = Speech(3), [line.scene for line in lines]
    for number in range(MESSAGES):
        await memory.observe(core.Message(f"idle{number}", scenes[number], speech.text(25), NOW))
    for number in range(TURNS):
        await memory.remember(core.Turn(scenes[number], memo=speech.text(12), observations=speech.texts(2, 30)))
    for number in range(CONTEXTS):
        await memory.context(scenes[-1 - number], speech.text(25))
    while (status := await memory.status()).jobs.pending or status.jobs.processing or status.index_lag:  # noqa: ASYNC110
        await asyncio.sleep(0.1)


def _lines(events: int) -> list[Line]:
    return list(islice(group_years(events), events))


def _figures() -> list[float]:
    return [resident(psutil.Process()), children_resident()]


async def _main(step: str, folder: Path, store: str, events: int, rest: float) -> list[float]:
    return await (_filled(folder, store, events) if step == "fill" else _looked(folder, store, events, rest))


if __name__ == "__main__":
    _step, _folder, _store, _events, _rest = sys.argv[1:]
    print(json.dumps(asyncio.run(_main(_step, Path(_folder), _store, int(_events), float(_rest)))))
