"""The workload "group years" with vectors distributed as a model's are, and its export file, written once.

A text's vector is its topic's centre plus its own part, both drawn along directions of decreasing weight: about twenty
directions carry most of it, as in real embeddings, so that nearest neighbours are meaningful. (Independent random
vectors of 1,536 dimensions are all equally far apart, which makes an approximate index look bad.)
"""

from __future__ import annotations

import asyncio
import hashlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

import cognitive_memory_core as core
from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.ports import Calibration

from .workload import DIMENSIONS, SEED, Line, event_fields

TOPICS = 500
DIRECTIONS = 128
OWN = 0.7  # weight of a text's own part; its topic's is 1.0
BATCH = 500
FINGERPRINT = f"benchmark-topics:{DIMENSIONS}"
HEADER = orjson.dumps({"format": "cognitive-memory", "version": 1}) + b"\n"
Matrix = NDArray[np.float32]
Row = NDArray[np.float32]


class TopicVectors:
    """An embedder without model latency; vectors known beforehand are returned without work."""

    fingerprint = FINGERPRINT
    calibration = Calibration(unrelated=0.0, paraphrase=1.0)

    def __init__(self, known: Mapping[str, Row] | None = None) -> None:
        """Take the known vectors of some texts."""
        self._known = known or {}

    async def embed_documents(self, texts: Sequence[str]) -> list[array[float]]:
        """Return the texts' vectors."""
        return [array("f", row.tobytes()) for row in await asyncio.to_thread(vectors_of, texts)]

    async def embed_query(self, text: str) -> array[float]:
        """Return the query's vector."""
        if (row := self._known.get(text)) is not None:
            return array("f", row.tobytes())
        return (await self.embed_documents([text]))[0]


def vectors_of(texts: Sequence[str]) -> Matrix:
    """Return the texts' unit vectors; the same text has the same vector everywhere."""
    seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") for text in texts]
    own = np.stack([np.random.Generator(np.random.PCG64(seed)).standard_normal(DIRECTIONS) for seed in seeds])
    centres, weights, directions = _space()
    latent = centres[[seed % TOPICS for seed in seeds]] + OWN * own * weights
    drawn = latent @ directions
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def batches(lines: Iterable[Line], size: int = BATCH) -> Iterator[list[Line]]:
    """Yield the lines in batches."""
    lines = iter(lines)
    while batch := list(islice(lines, size)):
        yield batch


def event_of(line: Line) -> Event:
    """Return the event that the memory creates when it imports a line."""
    return Event(
        line.id,
        line.text,
        user_id=line.user_id,
        group_id=line.group_id,
        sender_id=line.user_id,
        request_type="group" if line.group_id else "private",
        happened_at=line.happened_at,
    )


async def whole(memory: core.CognitiveMemory, events: int, seconds: float = 3600) -> None:
    """Wait until every event is indexed; exit with an error if that fails, since the figures would be meaningless."""
    if not await memory.drain(seconds):
        raise SystemExit(f"not indexed within {seconds:.0f} s: {await memory.status()}")
    status = await memory.status()
    if status.index_lag or status.index.behind or status.totals.events < events:
        raise SystemExit(f"not whole: {status}")


def write_part(lines: Sequence[Line], vectors: Matrix, path: Path) -> None:
    """Write some lines with their vectors as an export file."""
    with path.open("wb") as file:
        file.write(HEADER)
        for line, vector in zip(lines, vectors, strict=True):
            fields = event_fields(line) | {"vector": vector, "embedding": FINGERPRINT}
            file.write(orjson.dumps(fields, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE))


@cache
def _space() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the topics' centres, the weights of the directions, and the directions."""
    random = np.random.Generator(np.random.PCG64(SEED))
    weights = 1.0 / np.sqrt(np.arange(1, DIRECTIONS + 1))
    directions, _ = np.linalg.qr(random.standard_normal((DIMENSIONS, DIRECTIONS)))
    return random.standard_normal((TOPICS, DIRECTIONS)) * weights, weights, np.ascontiguousarray(directions.T)
