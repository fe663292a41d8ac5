"""Kills the process at random moments while turns are handed in; counts what was lost or written twice.

A child opens the memory, hands in turns, processes them, and reports each accepted turn to this process, which notes it
with an fsync. The child is killed with SIGKILL at a random moment and started again; after the last kill the rest is
handed in, the memory is drained, and its export is compared with the notes. Each new child hands in the last turns
again under the same request ids, as a caller does that never got an answer.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import orjson

import cognitive_memory_core as core
from cognitive_memory_core.ports.clock import Clock

from .measure import Report

ROOT = Path(__file__).resolve().parent.parent
AGAIN = 3  # turns that a new child hands in again
GROUPS = 7
TURN = re.compile(r"第 ?(\d+) ?轮")


@dataclass
class Ledger:
    """The accepted turns, noted durably by this process."""

    path: Path
    accepted: list[int] = field(default_factory=list)

    def note(self, number: int) -> None:
        """Note one accepted turn durably."""
        with self.path.open("a", encoding="ascii") as file:
            file.write(f"{number}\n")
            file.flush()
            os.fsync(file.fileno())
        self.accepted.append(number)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of turns and kills."""
    parser.add_argument("--turns", type=int, default=500)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=7)


def run(options: argparse.Namespace) -> Report:
    """Kill, restart and count."""
    columns = ("kills", "turns", "accepted", "events", "memos", "lost", "twice", "stuck", "reopened in s")
    report = Report("kills: SIGKILL while turns are accepted and worked on", columns)
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "accepted")
        data = Path(folder) / "data"
        kills, slowest = _killed(data, ledger, options.turns, options.kills, random.Random(options.seed))
        events, memos, stuck = asyncio.run(found(data, core.Settings()))
    accepted = set(ledger.accepted)
    lost = sum(1 for number in accepted if not events[number] or not memos[number])
    twice = sum(1 for found in (events, memos) for count in found.values() if count > 1)
    report.add(kills, options.turns, len(accepted), events.total(), memos.total(), lost, twice, stuck, slowest)
    report.failed = bool(lost or twice or stuck or len(accepted) < options.turns or kills < options.kills)
    report.notes.append("lost, twice: turns whose event or memo is missing, or there more than once (counts included)")
    report.notes.append("stuck: jobs that are pending, processing or failed after everything was drained")
    return report


def _killed(data: Path, ledger: Ledger, turns: int, kills: int, dice: random.Random) -> tuple[int, float]:
    done, slowest = 0, 0.0
    while len(ledger.accepted) < turns:
        before = len(ledger.accepted)
        left, remaining = kills - done, turns - before
        enough = before + min(dice.randint(1, 2 * remaining // (left + 1)), remaining - left) if left else turns + 1
        with _child(data, max(before - AGAIN, 0), turns) as child:
            slowest = max(slowest, _noted(child, ledger, enough))
            if left:
                time.sleep(dice.random() * 0.05)  # somewhere in the next turns or in the historian
                child.kill()
                done += 1
    return done, slowest


def _noted(child: subprocess.Popen[str], ledger: Ledger, enough: int) -> float:
    """Note the child's reports until there are enough; return the seconds until its first accepted turn."""
    started, first = time.perf_counter(), 0.0
    assert child.stdout is not None
    for line in child.stdout:
        first = first or time.perf_counter() - started
        if int(line) >= len(ledger.accepted):
            ledger.note(int(line))
        if len(ledger.accepted) >= enough:
            break
    return first


@contextmanager
def _child(data: Path, first: int, turns: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "benchmarks.kills", str(data), str(first), str(turns)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        yield child
        child.communicate()


async def exported(memory: core.CognitiveMemory) -> list[bytes]:
    """Return the lines of an export, written outside the data directory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out.jsonl"
        await memory.export(path)
        return path.read_bytes().splitlines()


async def found(
    data: Path, settings: core.Settings, clock: Clock | None = None
) -> tuple[Counter[int], Counter[int], int]:
    """Drain, export, and count events and memos by the turn that they name, and stuck jobs."""
    events: Counter[int] = Counter()
    memos: Counter[int] = Counter()
    async with core.CognitiveMemory.open(settings, data, clock=clock) as memory:
        assert await memory.drain(300)
        jobs = (await memory.status()).jobs
        lines = await exported(memory)
    for line in lines:
        row = orjson.loads(line)
        if row.get("type") in ("event", "memo"):
            (number,) = TURN.findall(row["text"])
            (events if row["type"] == "event" else memos)[int(number)] += row.get("count", 1)
    return events, memos, jobs.pending + jobs.processing + jobs.failed


async def _hand_in(data: Path, first: int, turns: int) -> None:
    settings = core.Settings(historian=core.HistorianSettings(shutdown_seconds=5))
    async with core.CognitiveMemory.open(settings, data) as memory:
        for number in range(first, turns):
            scene = core.Scene.group(str(10_001 + number % GROUPS), str(20_001 + number % GROUPS), user_name="小雨")
            said = f"小雨在第 {number} 轮说喜欢第 {number} 号茶"
            turn = core.Turn(
                scene, memo=f"第 {number} 轮答过", observations=[said], request_id=f"turn-{number}"
            )  # fmt: skip
            if await memory.remember(turn) is not None:
                print(number, flush=True)


if __name__ == "__main__":
    asyncio.run(_hand_in(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
