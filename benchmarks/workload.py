"""The workload "group years": groups of Zipf-distributed sizes that chat for a year; equal numbers give equal lines."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

import cognitive_memory_core as core
from cognitive_memory_core.ports import Calibration

SEED = 7
DIMENSIONS = 1536
WORDS = 40_000
CHARACTERS = 3_000
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=timezone(timedelta(hours=8)))
PRIVATE_SHARE = 0.1
PEOPLE = 20  # per group
QUERY_LENGTH = 25


class Noon:
    """A clock that stands at the end of the year."""

    def now(self) -> datetime:
        """Return that instant."""
        return NOW


class TextVectors:
    """An embedder without model latency: each text has its own fixed random unit vector."""

    fingerprint = f"benchmark:{DIMENSIONS}"
    calibration = Calibration(unrelated=0.0, paraphrase=1.0)

    async def embed_documents(self, texts: Sequence[str]) -> list[array[float]]:
        """Return the texts' vectors."""
        return [array("f", vector_of(text).tobytes()) for text in texts]

    async def embed_query(self, text: str) -> array[float]:
        """Return the query's vector."""
        return array("f", vector_of(text).tobytes())


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
def vector_of(text: str) -> NDArray[np.float32]:
    """Return the text's unit vector; of a query that was prepared it takes no time that is measured."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    drawn = np.random.Generator(np.random.PCG64(seed)).standard_normal(DIMENSIONS, dtype=np.float32)
    vector = (drawn / np.linalg.norm(drawn)).astype(np.float32)
    vector.setflags(write=False)
    return vector


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


def write_export(lines: Sequence[Line], path: Path) -> None:
    """Write lines as an export file that the memory can import."""
    with path.open("wb") as file:
        file.write(orjson.dumps({"format": "cognitive-memory", "version": 1}) + b"\n")
        for line in lines:
            file.write(orjson.dumps(event_fields(line)) + b"\n")


def event_fields(line: Line) -> dict[str, object]:
    """Return the fields of a line as an event of an export file."""
    return {
        "type": "event",
        "id": line.id,
        "text": line.text,
        "kind": "event",
        "request_type": "group" if line.group_id else "private",
        "group_id": line.group_id,
        "user_id": line.user_id,
        "sender_id": line.user_id,
        "happened_at": line.happened_at,
    }


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


def _zipf(count: int) -> NDArray[np.float64]:
    weights = 1.0 / np.arange(1, count + 1)
    return np.cumsum(weights) / weights.sum()
