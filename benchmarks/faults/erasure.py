"""A21: after a person was forgotten and the purge ran, no byte of theirs is left in any file of the data directory."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import cognitive_memory_core as core

from ..fault_row import Extent, Row
from .embedding import PATIENCE, SeededModel

PIECE = 16  # numbers of a vector that are searched for in sequence
PERSON, OTHER = "8613377001", "8613377002"
NAME = "柚子精灵"
THEIRS = core.Scene.group("100001", PERSON, user_name=NAME)
OTHERS = core.Scene.group("100001", OTHER, user_name="小雨")
PRIVATE = core.Scene.private(PERSON, user_name=NAME)
_BARE = """
import json, sys, chromadb, numpy
from chromadb.config import Settings
folder, count = sys.argv[1], int(sys.argv[2])
client = chromadb.PersistentClient(folder, Settings(anonymized_telemetry=False))
rows = client.create_collection("rows", embedding_function=None)
vectors = numpy.random.default_rng(7).standard_normal((count, 48)).astype(numpy.float32)
ids = [str(n) for n in range(count)]
rows.upsert(ids=ids, documents=[f"canary-{n}-secret" for n in ids], embeddings=vectors)
rows.delete(ids=ids)
print(json.dumps(vectors.tolist()))
"""


def a21(extent: Extent) -> Row:
    """Plant a person's words everywhere, forget the person, purge, and search every file."""
    count = extent.of(100, 20)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        row = asyncio.run(_forgotten(Path(folder) / "data", count))
        texts, vectors = _left_by_bare_chroma(Path(folder) / "bare", count)
    note = f"{row.note}; bare Chroma keeps {texts} of {count} texts and {vectors} of {count} vectors"
    return replace(row, note=note)


async def _forgotten(data: Path, count: int) -> Row:
    model = SeededModel("one")
    canaries = [f"{NAME}私藏的第 {number} 个秘密{number * 7919:x}" for number in range(count)]
    async with core.CognitiveMemory.open(core.Settings(), data, embedder=model) as memory:
        await _planted(memory, canaries)
        texts = [event.text for event in await memory.events(core.Scene.operator(), limit=200)]
        texts += [event.text for event in await memory.events(core.Scene.operator(), limit=200, offset=200)]
        looked_for = _looked_for(canaries, [text for text in texts if NAME in text or PERSON in text], model)
        before = _found(data, looked_for)
        started = time.perf_counter()
        erased = await memory.forget_user(core.Scene.operator(), PERSON)
        is_gone = await _is_purged(memory)
        seconds = time.perf_counter() - started
        open_left = _found(data, looked_for)
        others = len(await memory.events(core.Scene.operator(), limit=200))
    left = _found(data, looked_for) + open_left
    note = f"{before} of {len(looked_for)} traces were on disk; {erased.events} events gone, {erased.reworded} reworded"
    failed = before < len(looked_for) // 2 or not others or not is_gone
    return Row(len(looked_for), left, 0, 0, seconds, note, failed)


async def _planted(memory: core.CognitiveMemory, canaries: Sequence[str]) -> None:
    now = datetime.now(timezone.utc)
    for number, text in enumerate(canaries):
        scene = PRIVATE if number % 4 == 0 else THEIRS
        await memory.observe(core.Message(f"m{number}", scene, text, now))
        await memory.remember(core.Turn(scene, memo=f"答了：{text}", observations=[text], source_message=text))
        if number % 5 == 0:
            await memory.remember(core.Turn(OTHERS, observations=[f"小雨听{NAME}({PERSON})说：{text}"]))
    for text in canaries[:10]:
        await memory.pin(THEIRS, text)
    await memory.remember(core.Turn(OTHERS, observations=["小雨自己喜欢乌龙茶"]))
    assert await memory.drain(PATIENCE)
    for text in canaries[:5]:
        await memory.pause()
        await memory.remember(core.Turn(THEIRS, memo=text, observations=[f"还在排队：{text}"]))


async def _is_purged(memory: core.CognitiveMemory) -> bool:
    deadline = time.monotonic() + PATIENCE
    while (await memory.status()).purge.erased_at is not None:
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.1)
    return True


def _looked_for(canaries: Sequence[str], texts: Sequence[str], model: SeededModel) -> list[bytes]:
    """Return every possible trace in a file: ids, names, phrases, escaped phrases, and pieces of vectors."""
    phrases = [*canaries, NAME, PERSON]
    escaped = [json.dumps(phrase)[1:-1] for phrase in phrases if not phrase.isascii()]
    vectors = [model.vector(text)[:PIECE] for text in texts]
    return [phrase.encode() for phrase in (*phrases, *escaped)] + [vector.tobytes() for vector in vectors]


def _found(folder: Path, traces: Iterable[bytes]) -> int:
    content = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return sum(any(trace in data for data in content) for trace in traces)


def _left_by_bare_chroma(folder: Path, count: int) -> tuple[int, int]:
    done = subprocess.run([sys.executable, "-c", _BARE, str(folder), str(count)], stdout=subprocess.PIPE, check=True)
    vectors = [array("f", row[:PIECE]).tobytes() for row in json.loads(done.stdout.splitlines()[-1])]
    return _found(folder, [f"canary-{number}-secret".encode() for number in range(count)]), _found(folder, vectors)
