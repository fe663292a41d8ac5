"""Chroma stores with known rows, the processes that hold them, and a comparison of what they return."""

from __future__ import annotations

import asyncio
import time
from array import array
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import TypeVar

import numpy as np
import psutil
from numpy.typing import NDArray

from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.ports import EmbeddedEvent, Generation
from cognitive_memory_core.settings.schema import VectorStoreSettings
from cognitive_memory_core.vectors.chroma.process import Bounds
from cognitive_memory_core.vectors.chroma.store import ChromaStore
from tests.support.builders import an_event
from tests.support.vector_stores import chroma_children

from .fault_row import Seen
from .workload import NOW

MODEL = "benchmark-faults"
EVERYTHING = ReadFilter(Scene.operator())
CHROMAS = (".sqlite3", ".sqlite3-journal", ".bin", ".pickle")
BATCH = 200
SAMPLE = 40  # rows that are searched for by their own vector
CLOSE = 1e-3  # cosines closer than this count as equal
T = TypeVar("T")


def known_rows(count: int, dimensions: int, *, groups: int = 5, seed: int = 7) -> list[EmbeddedEvent]:
    """Return rows in a few groups whose unit vectors lie around common centres."""
    rows: list[EmbeddedEvent] = []
    for number, vector in enumerate(unit_vectors(count, dimensions, seed)):
        scene = Scene.group(f"{10_000 + number % groups}", f"{2_000_000 + number % 50}")
        event = an_event(f"第 {number} 件事", scene, happened_at=NOW, id=f"{number:032x}")
        rows.append(EmbeddedEvent(event, MODEL, array("f", vector.tobytes())))
    return rows


def unit_vectors(count: int, dimensions: int, seed: int) -> NDArray[np.float32]:
    """Return unit vectors around one centre per hundred; the centres depend on the dimensions alone."""
    centres = np.random.default_rng(dimensions).standard_normal((100, dimensions))
    random = np.random.default_rng(seed)
    drawn = centres[random.integers(100, size=count)] + random.standard_normal((count, dimensions))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


@asynccontextmanager
async def opened(folder: Path, seconds: float) -> AsyncIterator[ChromaStore]:
    """Open a store over a folder with this time limit per call, and close it afterwards."""
    bounds = Bounds(writing=seconds, opening=seconds, searching=min(seconds, 2.0), hanging=seconds)
    store = ChromaStore(folder, VectorStoreSettings(), bounds)
    try:
        yield store
    finally:
        await store.close()


async def filled(store: ChromaStore, rows: Sequence[EmbeddedEvent]) -> Generation:
    """Build a new generation with these rows and put it in use."""
    generation = await store.begin(MODEL, len(rows[0].vector or ()))
    for start in range(0, len(rows), BATCH):
        await store.upsert(generation, rows[start : start + BATCH])
    await store.put_in_use(generation)
    return generation


async def patiently(call: Callable[[], Awaitable[T]], seconds: float) -> T:
    """Repeat a call until it succeeds; raises UnavailableError after ``seconds``."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return await call()
        except UnavailableError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.05)


async def examined(
    store: ChromaStore,
    generation: Generation,
    rows: Sequence[EmbeddedEvent],
    *,
    sample: int = SAMPLE,
    allowed: Sequence[EmbeddedEvent] = (),
) -> Seen:
    """Compare what a generation lists and finds with ``rows``; rows in ``allowed`` may be present too.

    Lost rows are not listed, or ``unfound``: not found by their own vector.
    """
    wanted, listed, found = {row.event.id for row in rows}, await store.listed(generation), Seen()
    for row in rows[:: max(len(rows) // sample, 1)]:
        assert row.vector is not None
        near = await store.nearest(generation, row.vector, EVERYTHING, 5)
        is_there = any(event_id == row.event.id and cosine >= 1 - CLOSE for event_id, cosine in near)
        found.update(lost=not is_there, unfound=not is_there, twice=len(near) - len(dict(near)))
    extra = listed - wanted - {row.event.id for row in allowed}
    found.update(lost=len(wanted - listed), twice=len(extra))
    return found


def the_child(of: int | None = None, *, patience: float = 20.0) -> psutil.Process:
    """Wait for the child process that runs a Chroma store and return it."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if children := chroma_children(of):
            return children[-1]
        time.sleep(0.005)
    raise TimeoutError("no child came up")


@dataclass
class Watch:
    """Checks repeatedly which processes that start meanwhile, of any parent, have a Chroma file below a folder open."""

    folder: Path
    overlaps: int = 0
    looks: int = 0
    seen: set[int] = field(default_factory=set[int])
    _is_over: Flag = field(default_factory=Flag)
    _before: frozenset[int] = frozenset()  # what ran when the watch began has nothing open here

    @contextmanager
    def on(self) -> Iterator[Watch]:
        """Check in a thread while the block runs."""
        self._before = frozenset(psutil.pids())
        looking = Thread(target=self._look)
        looking.start()
        try:
            yield self
        finally:
            self._is_over.set()
            looking.join()

    def _look(self) -> None:
        while not self._is_over.wait(0.01):
            self.looks += 1
            holders = self._holders()
            self.seen |= holders
            # a handover is no overlap: the first process must still hold files after the last one was seen
            self.overlaps += len(holders) > 1 and len(holders & self._holders()) > 1

    def _holders(self) -> set[int]:
        return {pid for pid in psutil.pids() if pid not in self._before and self._holds(pid)}

    def _holds(self, pid: int) -> bool:
        with suppress(psutil.Error, OSError):
            paths = [file.path for file in psutil.Process(pid).open_files()]
            return any(path.endswith(CHROMAS) and self.folder in Path(path).parents for path in paths)
        return False
