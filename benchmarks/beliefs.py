"""A group's beliefs: search at several sizes, and one run of evolution without the model's time."""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import cognitive_memory_core as core
from cognitive_memory_core.ports.models import Ask

from .measure import Report, Sample
from .workload import NOW, Noon, Speech

T = TypeVar("T")
SCENE = core.Scene.group("736150284", "2000001", user_name="豆沙", group_name="开发组")
SEARCHES, RUNS, LINES = 200, 10, 200
DRAIN = 600.0  # seconds


@dataclass
class ReadyChat:
    """A model that answers at once: it confirms ten beliefs and creates nothing."""

    answer: str

    async def ask(self, ask: Ask[T]) -> T:
        """Return the parsed answer."""
        return ask.parse(self.answer)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: numbers of beliefs."""
    parser.add_argument("--beliefs", type=int, nargs="+", default=[30, 1_000])


def run(options: argparse.Namespace) -> Report:
    """Measure each size in a memory of its own."""
    report = Report("beliefs", ("beliefs", "search p50 ms", "search p95 ms", "run p50 ms", "run p95 ms"))
    for count in options.beliefs:
        with tempfile.TemporaryDirectory() as folder:
            searching, running = asyncio.run(_measured(count, Path(folder)))
        report.add(count, searching.p50, searching.p95, running.p50, running.p95)
    report.notes.append(f"{SEARCHES} searches; {RUNS} runs over {LINES} lines with a model that answers at once")
    return report


async def _measured(count: int, folder: Path) -> tuple[Sample, Sample]:
    rows = "\n".join(f'{{"action": "keep", "old_id": "B{at}", "lines": [{at}]}}' for at in range(1, 11))
    settings = core.Settings(vector_store=core.VectorStoreSettings(backend="exact"), daily_calls=0)
    chat = ReadyChat(rows)
    async with core.CognitiveMemory.open(
        settings, folder / "data", background=False, clock=Noon(), chat=chat
    ) as memory:
        speech = Speech(5)
        await memory.import_(_grown(folder / "beliefs.jsonl", [speech.text(25) for _ in range(count)]))
        for number in range(LINES):
            scene = core.Scene.group(SCENE.group_id, str(2_000_001 + number % 9), user_name=f"成员{number % 9}")
            at = NOW - timedelta(minutes=5 * (LINES - number))
            await memory.observe(core.Message(f"m{number}", scene, speech.text(20), at))
        assert await memory.drain(DRAIN)
        searching, running = Sample(), Sample()
        for _ in range(SEARCHES):
            question = speech.text(15)
            with searching.watch():
                await memory.search_beliefs(SCENE, question, threshold=0.0)
        for _ in range(RUNS):
            with running.watch():
                evolution = await memory.evolve(SCENE)
            assert evolution.kept, evolution.message
    return searching, running


def _grown(path: Path, statements: Sequence[str]) -> Path:
    """Write an export with these beliefs: nothing but a run of evolution creates any."""
    place = {"type": "belief", "agent": SCENE.agent, "place": "group", "place_id": SCENE.group_id}
    dated = {"created_at": NOW.isoformat(), "updated_at": NOW.isoformat(), "supporters": ["2000001", "2000002"]}
    rows: list[dict[str, object]] = [{"format": "cognitive-memory", "version": 1}]
    rows += [{**place, **dated, "id": f"b{at}", "statement": one} for at, one in enumerate(dict.fromkeys(statements))]
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), "utf-8")
    return path
