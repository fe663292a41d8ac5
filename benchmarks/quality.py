"""The quality report: how long it takes and what it needs at many events, and what it says of a labelled group chat.

``--events`` are written into a ledger, one in fifty of them said again with another ending and one in a hundred with
another number; the report is made in a process of its own, while a ticker watches the event loop. With ``--data`` a
memory lives through the chat, as in ``answers``, and its report is written to ``--out`` as Markdown, JSON and a page.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil

import cognitive_memory_core as core
from cognitive_memory_core.ports.vectors import EmbeddedEvent
from cognitive_memory_core.store.ledger import Ledger

from .answers_modes import MODES, Trial, life
from .answers_sets import chat_of
from .growth import ROOT
from .measure import Report, loop_watched
from .topics import batches, event_of
from .workload import Line, Noon, TextVectors, group_years

REST = 5.0  # seconds for which the loop is watched without a report
TOGETHER = 2_000  # rows of one transaction
AGAIN, OTHERWISE = 50, 100  # one event in so many
MOST_SECONDS, MOST_MB = 30.0, 400.0  # reach


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of events, the chat and its modes, and the folder for the reports."""
    parser.add_argument("--events", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--directory", type=Path, help="a folder on the disk to use (default: temporary files)")
    parser.add_argument("--data", type=Path, help="groupchat-zh, teamchat-zh or LoCoMo (JSON)")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=["rules", "gold"], metavar="MODE")
    parser.add_argument("--out", type=Path, help="folder for the reports of the chat")


def run(options: argparse.Namespace) -> Report:
    """Make reports of ledgers of each size, then of the chat."""
    columns = (
        "what",
        "events",
        "s",
        "cpu s",
        "without texts s",
        "more MB",
        "loop ms",
        "at rest ms",
        "near",
        "opposed",
        "named",
    )
    report = Report("quality: the report", columns)
    for events in options.events:
        for is_one in (False, True):
            with tempfile.TemporaryDirectory(dir=options.directory) as name:
                asyncio.run(_laid(_planted(events, is_one=is_one), Path(name)))
                figures = _observed(Path(name))
            report.add("one group" if is_one else "groups", events, *figures)
            report.failed |= figures[1] > MOST_SECONDS or figures[3] > MOST_MB
    for mode in options.modes if options.data else ():
        made = asyncio.run(_of_chat(options.data, mode))
        found = made.examination
        near, opposed = (found.near, found.contradictions) if found else (0, 0)
        report.add(f"chat, {mode}", made.events, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, near, opposed, len(made.dominant))
        if options.out:
            _write(made, options.out, mode)
    report.notes.append(f"reach: at most {MOST_SECONDS:g} s of a processor and {MOST_MB:g} MB more at 100,000 events")
    report.notes.append(
        "loop: the longest delay of a tick of the event loop while the report is made; at rest: without"
    )
    report.notes.append(f"planted: 1 in {AGAIN} events again with another ending, 1 in {OTHERWISE} with another number")
    return report


async def _laid(lines: Iterable[Line], folder: Path) -> None:
    """Write lines into a ledger without vectors, which the report does not read."""
    ledger = await Ledger.open(folder / "ledger.db")
    for batch in batches(lines, TOGETHER):
        await ledger.archive.import_rows([EmbeddedEvent(event_of(line)) for line in batch])
    await ledger.close()


def _planted(events: int, *, is_one: bool) -> Iterator[Line]:
    """Yield lines of groups, some of them again: with another ending, or with another number."""
    lines = group_years(events)
    for number, line in enumerate(replace(one, group_id="100001") if is_one else one for one in lines):
        if number % AGAIN == 0:
            yield replace(line, id=f"{events + number:032x}", text=f"{line.text}了呢")
        if number % OTHERWISE == 0:
            yield replace(line, text=f"{line.text}共 12 个")
            yield replace(line, id=f"{2 * events + number:032x}", text=f"{line.text}共 30 个")
        else:
            yield line


def _observed(folder: Path) -> list[float]:
    command = [sys.executable, "-m", "benchmarks.quality", str(folder)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


async def _measured(folder: Path) -> list[float]:
    settings = core.Settings(vector_store=core.VectorStoreSettings(backend="exact"))
    options = {"background": False, "clock": Noon(), "embedder": TextVectors()}
    async with core.CognitiveMemory.open(settings, folder, **options) as memory:
        operator = core.Scene.operator()
        began = time.perf_counter()
        await memory.report(operator, examine=False)
        without = time.perf_counter() - began
        async with loop_watched() as rest:
            await asyncio.sleep(REST)
        before = psutil.Process().memory_info().rss
        async with loop_watched() as gap:
            began, busy = time.perf_counter(), time.process_time()
            made = await memory.report(operator)
            took, busy = time.perf_counter() - began, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    found = made.examination
    near, opposed = (found.near, found.contradictions) if found else (0, 0)
    return [took, busy, without, (peak - before) / 1e6, gap.longest, rest.longest, near, opposed, len(made.dominant)]


async def _of_chat(path: Path, mode: str) -> core.QualityReport:
    made: list[core.QualityReport] = []

    async def at_end(memory: core.CognitiveMemory) -> None:
        made.append(await memory.report(core.Scene.operator(), days=90))

    await life(chat_of(path), mode, Trial(at_end=at_end))
    return made[0]


def _write(report: core.QualityReport, folder: Path, mode: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    zone = core.Settings().zone
    put = partial(Path.write_text, encoding="utf-8")
    put(folder / f"report-{mode}.md", core.report_markdown(report, zone))
    put(folder / f"report-{mode}.html", core.report_page(report, zone))
    put(folder / f"report-{mode}.json", json.dumps(core.report_figures(report), ensure_ascii=False, indent=1))


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_measured(Path(sys.argv[1])))))
