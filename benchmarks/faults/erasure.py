"""A21: after a person was forgotten and the purge ran, no byte of theirs is left in any file of the data directory."""

from __future__ import annotations

import asyncio
import json
import tempfile
from array import array
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

import numpy as np

import cognitive_memory_core as core
from tests.support.waiting import until_not

from ..fault_row import Extent, Row, Seen
from ..workload import bare_collection
from . import world
from .child import answered
from .embedding import PATIENCE, SeededModel

PIECE = 16  # numbers of a vector that are searched for in sequence
PERSON, OTHER = "8613377001", "8613377002"
NAME = "柚子精灵"
THEIRS = core.Scene.group("100001", PERSON, user_name=NAME)
OTHERS = core.Scene.group("100001", OTHER, user_name="小雨")
PRIVATE = core.Scene.private(PERSON, user_name=NAME)


def a21(extent: Extent) -> Row:
    """Plant a person's words everywhere, forget the person, purge, and search every file."""
    count = extent.of(100, 20)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        seen, is_good = asyncio.run(_forgotten(Path(folder) / "data", count))
        drawn, bare = answered(left, Path(folder) / "bare", count), Path(folder) / "bare"
        seen["texts that bare Chroma keeps"] = _found(
            bare, [f"canary-{number}-secret".encode() for number in range(count)]
        )
        seen["vectors that it keeps"] = _found(bare, [array("f", row[:PIECE]).tobytes() for row in drawn])
    return seen.row(seen.pop("traces"), failed=not is_good)


async def _forgotten(data: Path, count: int) -> tuple[Seen, bool]:
    model = SeededModel("one")
    canaries = [f"{NAME}私藏的第 {number} 个秘密{number * 7919:x}" for number in range(count)]
    async with core.CognitiveMemory.open(core.Settings(), data, embedder=model) as memory:
        await _planted(memory, canaries)
        texts, seen = [event.text for event in await world.listed(memory)], Seen()
        looked_for = _looked_for(canaries, [text for text in texts if NAME in text or PERSON in text], model)
        before = _found(data, looked_for)
        with seen.timed():
            erased = await memory.forget_user(core.Scene.operator(), PERSON)
            await until_not(partial(_is_unpurged, memory))
        seen["lost"] += _found(data, looked_for)
        others = len(await world.listed(memory))
    seen["lost"] += _found(data, looked_for)
    seen.update({"traces": len(looked_for), "of them on disk": before})
    seen.update({"events gone": erased.events, "events reworded": erased.reworded})
    return seen, before >= len(looked_for) // 2 and others > 0


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


async def _is_unpurged(memory: core.CognitiveMemory) -> bool:
    return (await memory.status()).purge.erased_at is not None


def _looked_for(canaries: Sequence[str], texts: Sequence[str], model: SeededModel) -> list[bytes]:
    """Return every possible trace in a file: ids, names, phrases, escaped phrases, and pieces of vectors."""
    phrases = [*canaries, NAME, PERSON]
    escaped = [json.dumps(phrase)[1:-1] for phrase in phrases if not phrase.isascii()]
    vectors = [model.vector(text)[:PIECE] for text in texts]
    return [phrase.encode() for phrase in (*phrases, *escaped)] + [vector.tobytes() for vector in vectors]


def _found(folder: Path, traces: Iterable[bytes]) -> int:
    content = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return sum(any(trace in data for data in content) for trace in traces)


def left(folder: str, count: int) -> list[list[float]]:
    """Store texts and vectors in bare Chroma and delete them; return the vectors."""
    rows, ids = bare_collection(folder), [str(number) for number in range(count)]
    vectors = np.random.default_rng(7).standard_normal((count, 48)).astype(np.float32)
    rows.upsert(ids=ids, documents=[f"canary-{number}-secret" for number in ids], embeddings=vectors)
    rows.delete(ids=ids)
    return vectors.tolist()
