"""The time from ``remember`` until a search finds the text, with an otherwise idle rule-based historian.

By words: the embedder never answers, so only the lexical leg can find the text. By vector: the query shares no word
with the text and has the same vector. The operator's scope is wider than a place and uses Chroma where the workload
does not fit into memory.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
import time
from array import array
from collections.abc import Sequence
from pathlib import Path

import cognitive_memory_core as core
from cognitive_memory_core.ports.models import Calibration

from .measure import Report, Sample
from .topics import FINGERPRINT, TopicVectors, filled, vectors_of
from .workload import Noon

GROUP, PERSON = "100001", "2000101"
PATIENCE = 30.0  # seconds
PAUSE = 0.002
WARMING = 1_000_000  # added to a number so that no sample has it
LEXICAL_REACH, VECTOR_REACH = 100, 1000  # ms
NUMBER = re.compile(r"(\d+) ?号茶")


class NumberVectors(TopicVectors):
    """Gives a text about tea number 7 and the query ``zq7`` the same vector, that of the number."""

    async def embed_documents(self, texts: Sequence[str]) -> list[array[float]]:
        """Return the vectors of the numbers in the texts."""
        numbers = [found[1] if (found := NUMBER.search(text)) else text for text in texts]
        return [array("f", row.tobytes()) for row in vectors_of(numbers)]

    async def embed_query(self, text: str) -> array[float]:
        """Return the vector of the number in the query."""
        return array("f", vectors_of([text.removeprefix("zq")])[0].tobytes())


class NoAnswer:
    """An embedder that never answers for documents and answers at once for queries."""

    fingerprint = FINGERPRINT
    calibration = Calibration(unrelated=0.0, paraphrase=1.0)

    async def embed_documents(self, texts: Sequence[str]) -> list[array[float]]:
        """Wait for ever."""
        await asyncio.Event().wait()
        return []

    async def embed_query(self, text: str) -> array[float]:
        """Return the query's vector."""
        return array("f", vectors_of([text])[0].tobytes())


SETTINGS = core.Settings(queue=core.QueueSettings(turns_per_minute=0))  # one person says everything here


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of samples and events, folder of the export file."""
    parser.add_argument("--samples", type=int, default=50)
    parser.add_argument("--events", type=int, default=12_000)  # too many for an exact search by the operator
    parser.add_argument("--data", type=Path, help="a folder that keeps the export file from run to run")


def run(options: argparse.Namespace) -> Report:
    """Remember and search repeatedly."""
    report = Report(f"found: from remember to found, beside {options.events} events", ("what", "n", "p50 ms", "p95 ms"))
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_measured(report, options, Path(folder)))
    report.notes.append(f"reach: {LEXICAL_REACH} ms by words, {VECTOR_REACH} ms by vector")
    return report


async def _measured(report: Report, options: argparse.Namespace, folder: Path) -> None:
    kept, group = options.data or folder, core.Scene.group(GROUP, PERSON, user_name="小雨")
    data = folder / "data"
    async with core.CognitiveMemory.open(SETTINGS, data, clock=Noon(), embedder=NumberVectors()) as memory:
        await filled(memory, options.events, kept)
        for what, scene, start in (("group", group, 0), ("operator", core.Scene.operator(), options.samples)):
            sample = await _sampled(memory, scene, range(start, start + options.samples), "zq{}")
            report.add(f"by vector, {what}", options.samples, sample.p50, sample.p95)
    async with core.CognitiveMemory.open(SETTINGS, data, clock=Noon(), embedder=NoAnswer()) as memory:
        start = 2 * options.samples
        sample = await _sampled(memory, group, range(start, start + options.samples), "{}号茶", is_embedded=False)
        report.add("by words, group", options.samples, sample.p50, sample.p95)


async def _sampled(
    memory: core.CognitiveMemory, scene: core.Scene, numbers: range, question: str, *, is_embedded: bool = True
) -> Sample:
    sample = Sample()
    for number in (numbers.start + WARMING, *numbers):  # the first one loads what is loaded once
        with sample.watch():
            await memory.remember(_turn(number))
            await _until_found(memory, scene, number, question.format(number))
        if is_embedded and not await memory.drain(PATIENCE):
            raise SystemExit(f"not idle: {await memory.status()}")
        await asyncio.sleep(0.05)  # the historian is idle
    return Sample(sample.seconds[1:])


async def _until_found(memory: core.CognitiveMemory, scene: core.Scene, number: int, question: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        hits = await memory.search_events(scene, question)
        if any((said := NUMBER.search(hit.event.text)) and int(said[1]) == number for hit in hits):
            return
        await asyncio.sleep(PAUSE)
    raise SystemExit(f"number {number} not found within {PATIENCE:.0f} s: {await memory.status()}")


def _turn(number: int) -> core.Turn:
    scene = core.Scene.group(GROUP, PERSON, user_name="小雨")
    return core.Turn(scene, memo=f"第 {number} 轮答过", observations=[f"小雨说喜欢 {number}号茶"])
