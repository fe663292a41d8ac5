"""The workload "group years": groups of Zipf-distributed sizes that chat for a year; equal numbers give equal lines.

A text's vector is its topic's centre plus its own part, both drawn along directions of decreasing weight: about twenty
directions carry most of it, as in real embeddings, so that nearest neighbours are meaningful. (Independent random
vectors of 1,536 dimensions are all equally far apart, which makes an approximate index look bad.)
"""

from __future__ import annotations

import asyncio
import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cognitive_memory_core as core
from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.scope import PlaceKind
from cognitive_memory_core.ports import Calibration, EmbeddedEvent
from cognitive_memory_core.store.ledger import Ledger
from tests.support.export_files import written

SEED = 7
DIMENSIONS = 1536
WORDS = 40_000
CHARACTERS = 3_000
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=timezone(timedelta(hours=8)))
PRIVATE_SHARE = 0.1
PEOPLE = 20  # per group
QUERY_LENGTH = 25
TOPICS = 500
DIRECTIONS = 128
OWN = 0.7  # weight of a text's own part; its topic's is 1.0
BATCH = 500
Matrix = NDArray[np.float32]
Row = NDArray[np.float32]


class TopicVectors:
    """An embedder without model latency; vectors known beforehand are returned without work."""

    fingerprint = f"benchmark-topics:{DIMENSIONS}"
    calibration = Calibration(unrelated=0.0, paraphrase=1.0)

    def __init__(self, known: Mapping[str, Row] | None = None) -> None:
        """Take the known vectors of some texts."""
        self._known = known or {}

    async def embed_documents(self, texts: Sequence[str]) -> list[array[float]]:
        """Return the texts' vectors."""
        return [array("f", row.tobytes()) for row in await asyncio.to_thread(vectors_of, texts)]

    async def embed_query(self, text: str) -> array[float]:
        """Return the query's vector."""
        row = self._known.get(text)
        return array("f", (vector_of(text) if row is None else row).tobytes())


@dataclass(frozen=True)
class Line:
    """One event of the workload: in a group, or in private if ``group_id`` is ""."""

    id: str
    text: str
    group_id: str
    user_id: str
    happened_at: datetime

    @property
    def scene(self) -> core.Scene:
        """Return the scene in which it was said."""
        return core.Scene.group(self.group_id, self.user_id) if self.group_id else core.Scene.private(self.user_id)


class Speech:
    """Chinese-looking text: words of a generated vocabulary, drawn by Zipf-Mandelbrot."""

    def __init__(self, seed: int) -> None:
        """Start a stream of text; equal seeds give equal text."""
        self._random = np.random.Generator(np.random.PCG64(seed))

    def text(self, length: int) -> str:
        """Return exactly ``length`` characters."""
        words, shares = vocabulary()
        drawn = np.searchsorted(shares, self._random.random(length))
        return "".join(words[index] for index in drawn)[:length]

    def texts(self, count: int, length: int = QUERY_LENGTH) -> list[str]:
        """Return several texts."""
        return [self.text(length) for _ in range(count)]


@lru_cache(maxsize=1_024)
def vector_of(text: str) -> Row:
    """Return the text's unit vector; of a query that was prepared it takes no time that is measured."""
    return vectors_of([text])[0]


def vectors_of(texts: Sequence[str]) -> Matrix:
    """Return the texts' unit vectors; the same text has the same vector everywhere."""
    seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") for text in texts]
    own = np.stack([np.random.Generator(np.random.PCG64(seed)).standard_normal(DIRECTIONS) for seed in seeds])
    centres, weights, directions = _space()
    latent = centres[[seed % TOPICS for seed in seeds]] + OWN * own * weights
    drawn = latent @ directions
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def group_years(events: int) -> Iterator[Line]:
    """Yield ``events`` lines of a year in ``max(10, events / 500)`` groups; one line in ten is private."""
    random = np.random.Generator(np.random.PCG64(SEED))
    speech = Speech(SEED + 1)
    shares = _zipf(max(10, events // 500))
    for number in range(events):
        place, private, person, age, length = random.random(5)
        group = int(np.searchsorted(shares, place)) + 1
        group_id = "" if private < PRIVATE_SHARE else f"{100_000 + group}"
        user_id = f"{2_000_000 + 100 * group + int(person * PEOPLE)}"
        happened_at = NOW - timedelta(days=365 * age)
        yield Line(f"{number:032x}", speech.text(20 + int(length * 21)), group_id, user_id, happened_at)


def batches(lines: Iterable[Line], size: int = BATCH) -> Iterator[list[Line]]:
    """Yield the lines in batches."""
    lines = iter(lines)
    while batch := list(islice(lines, size)):
        yield batch


def event_of(line: Line) -> Event:
    """Return the event that the memory creates when it imports a line."""
    place: PlaceKind = "group" if line.group_id else "private"
    who, at = line.user_id, line.happened_at
    return Event(line.id, line.text, "event", who, line.group_id, who, request_type=place, happened_at=at)


def exported(lines: Sequence[Line], path: Path, vectors: Matrix | None = None) -> Path:
    """Write lines as events of an export file, with their vectors if some are given."""
    rows = [{"type": "event", "kind": "event", **asdict(line), "sender_id": line.user_id} for line in lines]
    for number, row in enumerate(rows):
        row["request_type"] = "group" if row["group_id"] else "private"
        if vectors is not None:
            row |= {"vector": vectors[number], "embedding": TopicVectors.fingerprint}
    return written(rows, path)


async def laid(lines: Sequence[Line], folder: Path) -> None:
    """Write lines into the ledger of a data directory that no memory has open; nothing is left to embed."""
    ledger, model = await Ledger.open(folder / "ledger.db"), TopicVectors.fingerprint
    try:
        for batch in batches(lines):
            vectors = vectors_of([line.text for line in batch])
            pairs = zip(batch, vectors, strict=True)
            rows = [EmbeddedEvent(event_of(line), model, array("f", vector.tobytes())) for line, vector in pairs]
            await ledger.archive.import_rows(rows)
        await ledger.vectors.store(model, [])
    finally:
        await ledger.close()


def bare_collection(folder: str) -> Any:
    """Open chromadb by itself in a folder, with its defaults but for the space; return its collection."""
    import chromadb  # noqa: PLC0415  # the processes of bare Chroma only, never the one whose memory is measured
    from chromadb.config import Settings  # noqa: PLC0415

    client = chromadb.PersistentClient(folder, Settings(anonymized_telemetry=False))
    space: Any = {"hnsw": {"space": "cosine"}}
    return client.get_or_create_collection("year", embedding_function=None, configuration=space)


async def whole(memory: core.CognitiveMemory, events: int, seconds: float = 3600) -> None:
    """Wait until every event is indexed; exit with an error if that fails, since the figures would be meaningless."""
    is_done = await memory.drain(seconds)
    status = await memory.status()
    if not is_done or status.index_lag or status.index.behind or status.totals.events < events:
        raise SystemExit(f"not whole after {seconds:.0f} s at most: {status}")


def groups_by_size(lines: Sequence[Line]) -> list[tuple[str, int]]:
    """Return the groups with their number of lines, largest first."""
    return Counter(line.group_id for line in lines if line.group_id).most_common()


def ranked(groups: Sequence[tuple[str, int]]) -> dict[str, tuple[str, int]]:
    """Return the groups at rank 1, rank 5 and the median."""
    return {"1": groups[0], "5": groups[4], "median": groups[len(groups) // 2]}


@cache
def vocabulary() -> tuple[list[str], NDArray[np.float64]]:
    """Return the words of the generated text and their shares, added up."""
    random = np.random.Generator(np.random.PCG64(SEED))
    words: dict[str, None] = {}
    while len(words) < WORDS:
        length = 2 + int(np.searchsorted([0.75, 0.95], random.random()))
        common = (random.random(length) ** 2 * CHARACTERS).astype(int)  # some are much more common
        words["".join(chr(0x4E00 + at) for at in common)] = None
    weights = 1.0 / (np.arange(1, WORDS + 1) + 2.7) ** 1.07
    return list(words), np.cumsum(weights) / weights.sum()


@cache
def _space() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the topics' centres, the weights of the directions, and the directions."""
    random = np.random.Generator(np.random.PCG64(SEED))
    weights = 1.0 / np.sqrt(np.arange(1, DIRECTIONS + 1))
    directions, _ = np.linalg.qr(random.standard_normal((DIMENSIONS, DIRECTIONS)))
    return random.standard_normal((TOPICS, DIRECTIONS)) * weights, weights, np.ascontiguousarray(directions.T)


def _zipf(count: int) -> NDArray[np.float64]:
    weights = 1.0 / np.arange(1, count + 1)
    return np.cumsum(weights) / weights.sum()
