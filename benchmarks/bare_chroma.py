"""Bare Chroma in a separate process, for comparison with the memory and its index.

All settings are Chroma's defaults except the cosine space, which the memory needs too. ``python -m
benchmarks.bare_chroma COMMAND FOLDER EVENTS`` is started by the functions here and prints JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from cognitive_memory_core.domain.read_filter import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.vectors.chroma.read_filter_where import chroma_filter, event_metadata

from .topics import BATCH, Matrix, batches, event_of, vectors_of
from .workload import group_years

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

ROOT = Path(__file__).resolve().parent.parent
NAME = "bare"


@dataclass(frozen=True)
class Spent:
    """Wall-clock and processor seconds."""

    seconds: float
    worked: float


def build(folder: Path, events: int) -> Spent:
    """Upsert the workload into a new collection, 500 rows per batch; return the time that Chroma took."""
    answer = _started("build", folder, events)
    return Spent(answer["seconds"], answer["worked"])


def ask(folder: Path, events: int, scene: Scene, questions: Matrix, limit: int) -> tuple[list[list[str]], list[float]]:
    """Query a built collection with the scene's filter; return the ids, and the seconds of each query."""
    np.save(folder / "questions.npy", questions)
    (folder / "asked.json").write_bytes(orjson.dumps({"where": chroma_filter(ReadFilter(scene)), "limit": limit}))
    answer = _started("ask", folder, events)
    return answer["ids"], answer["seconds"]


def hold(folder: Path, events: int) -> tuple[float, float]:
    """Open a built collection and query it as :func:`ask` does; return its resident MB before and after."""
    answer = _started("hold", folder, events)
    return answer["opened"], answer["used"]


def _started(command: str, folder: Path, events: int) -> dict[str, Any]:
    program = [sys.executable, "-m", "benchmarks.bare_chroma", command, str(folder), str(events)]
    done = subprocess.run(program, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _collection(folder: Path) -> Collection:
    import chromadb  # noqa: PLC0415  # this file's own process only, never the one whose memory is measured
    from chromadb.config import Settings  # noqa: PLC0415

    client = chromadb.PersistentClient(str(folder / "bare"), Settings(anonymized_telemetry=False))
    if NAME in [collection.name for collection in client.list_collections()]:
        return client.get_collection(NAME, embedding_function=None)
    return client.create_collection(NAME, embedding_function=None, configuration={"hnsw": {"space": "cosine"}})


def _build(folder: Path, events: int) -> dict[str, Any]:
    collection, seconds, worked = _collection(folder), 0.0, 0.0
    for batch in batches(group_years(events), BATCH):
        texts, ids = [line.text for line in batch], [line.id for line in batch]
        metadatas: list[Any] = [event_metadata(event_of(line)) for line in batch]
        vectors = vectors_of(texts)
        started, before = time.perf_counter(), time.process_time()
        collection.upsert(ids, vectors, metadatas, texts)
        seconds, worked = seconds + time.perf_counter() - started, worked + time.process_time() - before
    return {"seconds": seconds, "worked": worked}


def _ask(folder: Path, _: int) -> dict[str, Any]:
    collection, asked = _collection(folder), orjson.loads((folder / "asked.json").read_bytes())
    questions = np.load(folder / "questions.npy")
    collection.query(questions[:1], n_results=asked["limit"])  # loads the index
    ids: list[list[str]] = []
    seconds: list[float] = []
    for question in questions:
        started = time.perf_counter()
        found = collection.query(question[np.newaxis], n_results=asked["limit"], where=asked["where"])
        seconds.append(time.perf_counter() - started)
        ids.append(found["ids"][0])
    return {"ids": ids, "seconds": seconds}


def _hold(folder: Path, _: int) -> dict[str, Any]:
    import psutil  # noqa: PLC0415  # not needed by the others

    collection, asked = _collection(folder), orjson.loads((folder / "asked.json").read_bytes())
    collection.count()  # loads the index
    opened = psutil.Process().memory_info().rss
    for question in np.load(folder / "questions.npy"):
        collection.query(question[np.newaxis], n_results=asked["limit"], where=asked["where"])
    return {"opened": opened / 1024**2, "used": psutil.Process().memory_info().rss / 1024**2}


if __name__ == "__main__":
    _, command, folder, events = sys.argv
    print(json.dumps({"build": _build, "ask": _ask, "hold": _hold}[command](Path(folder), int(events))))
