"""Handles all requests to a store's generations. Used in Chroma's own process only."""

from __future__ import annotations

import functools
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...ports.vectors import Generation
from .collection_backends import VERSION, Collection, CollectionBackend, FolderBackend, ServerBackend
from .collection_owner import Foreign
from .generation_in_use import Pointer, digest_of
from .generations_on_disk import clear_generations
from .protocol import (
    Answer,
    Begin,
    Done,
    Failed,
    FindInUse,
    InUse,
    Listed,
    Listing,
    Nearest,
    NearestIds,
    Open,
    Opened,
    PutInUse,
    Ready,
    Remove,
    Request,
    Start,
    Sweep,
    Swept,
    Upsert,
)
from .read_filter_where import SCHEMA_VERSION

PROBED, TOGETHER = 16, 32  # number of probed offsets, and rows probed at each, when a generation is opened
CLOSE = 1e-3  # distance below which a row counts as found by its own vector
PAGE = 10_000
SPARE = 24  # extra nearest rows fetched when the filter is applied afterwards


class Gone(Exception):
    """The requested generation is no longer stored."""


class Damaged(Exception):
    """A generation is stored but damaged."""


@dataclass(frozen=True)
class _OpenGeneration:
    generation: Generation
    events: Collection


class GenerationRequests:
    """Handles requests one at a time; exceptions of Chroma are not caught here."""

    def __init__(self, start: Start) -> None:
        """Connect to the server, if one is configured; open nothing else."""
        root = Path(start.folder)
        self._folder, self._pointer = root, Pointer(root)
        self._server = digest_of(start.url, start.tenant, start.database)
        self._backend: CollectionBackend = ServerBackend(start) if start.url else FolderBackend(root)
        self._database = start.database_name
        self._opened: dict[int, _OpenGeneration] = {}
        self._last = 0

    def answer(self, request: Request | Answer) -> Answer:
        """Handle a request and return its answer."""
        try:
            return _answered(request, self)
        except Gone:
            return Failed("gone")
        except Foreign:
            return Failed("foreign", self._database)

    def ready(self) -> Ready:
        """Remove old generations and return that the store is ready."""
        self._remove_older()
        return Ready(VERSION)

    def in_use(self) -> int | None:
        """Return the number of the generation in use."""
        return self._pointer.read()

    def open(self, number: int) -> Opened:
        """Open a generation, anew if it is open, and check that a search in it finds its own rows."""
        self._close(number)
        try:
            events = self._backend.open(number)
            if events is None:
                return Opened(None)
            generation = _generation(number, events)
            _probe(generation, events)
        except Exception as error:  # whatever the fault is, a new generation replaces this one
            self._close(number)
            if self._backend.is_unavailable(error):
                raise
            return Opened(None, str(error) if isinstance(error, Damaged) else type(error).__name__)
        self._opened[number] = _OpenGeneration(generation, events)
        if number == self._pointer.read():
            self._pointer.note_server(self._server)
        return Opened(generation)

    def begin(self, fingerprint: str, dimensions: int) -> Opened:
        """Create the next generation, with a number above all earlier ones."""
        self._last = max(self._last, self._pointer.read() or 0, *self._backend.numbers(), 0) + 1
        generation = Generation(self._last, secrets.token_hex(16), fingerprint, dimensions)
        build_id = {
            "birth": generation.build_id,
            "fingerprint": fingerprint,
            "dimensions": dimensions,
            "schema_version": SCHEMA_VERSION,
            "chroma_version": VERSION,
        }
        self._opened[self._last] = _OpenGeneration(generation, self._backend.create(self._last, build_id))
        return Opened(generation)

    def put_in_use(self, generation: Generation) -> None:
        """Make the generation the one in use."""
        self.events(generation)
        self._pointer.write(generation.number, self._server)
        if self._server:
            clear_generations(self._folder)  # those of the embedded store, from before the move

    def sweep(self) -> bool:
        """Remove generations that are not in use, large ones in parts; return True when all of them are removed."""
        others = sorted(self._backend.numbers() - {self._pointer.read()})
        for number in others:
            self._opened.pop(number, None)
        return all(self._backend.remove(number) for number in others)

    def events(self, generation: Generation) -> Collection:
        """Return the events collection of a generation; raises Gone if it is not open, was removed, or was replaced."""
        opened = self._opened.get(generation.number)
        if (
            opened is None
            or opened.generation.build_id != generation.build_id
            or not self._backend.is_there(generation.number)
        ):
            raise Gone
        return opened.events

    def _close(self, number: int) -> None:
        self._opened.pop(number, None)
        self._backend.close(number)

    def _remove_older(self) -> None:
        """Remove generations older than the one in use, for example one that could not be deleted while it was open."""
        for number in self._backend.numbers():
            if number < (self._pointer.read() or 0):
                self._backend.remove(number)


@functools.singledispatch
def _answered(request: Request | Answer, _: GenerationRequests) -> Answer:
    return Failed("failed", f"{type(request).__name__}?")


@_answered.register
def _(_: Start, generations: GenerationRequests) -> Answer:
    return generations.ready()


@_answered.register
def _(_: FindInUse, generations: GenerationRequests) -> Answer:
    return InUse(generations.in_use())


@_answered.register
def _(request: Open, generations: GenerationRequests) -> Answer:
    return generations.open(request.number)


@_answered.register
def _(request: Begin, generations: GenerationRequests) -> Answer:
    return generations.begin(request.fingerprint, request.dimensions)


@_answered.register
def _(request: PutInUse, generations: GenerationRequests) -> Answer:
    generations.put_in_use(request.generation)
    return Done()


@_answered.register
def _(_: Sweep, generations: GenerationRequests) -> Answer:
    return Swept(generations.sweep())


@_answered.register
def _(request: Upsert, generations: GenerationRequests) -> Answer:
    generations.events(request.generation).upsert(
        ids=request.ids,
        documents=request.texts,
        metadatas=request.metadata,
        embeddings=_units(request.block, request.generation.dimensions),
    )
    return Done()


@_answered.register
def _(request: Remove, generations: GenerationRequests) -> Answer:
    generations.events(request.generation).delete(ids=request.ids)
    return Done()


@_answered.register
def _(request: Listing, generations: GenerationRequests) -> Answer:
    events, ids = generations.events(request.generation), list[str]()
    while page := events.get(limit=PAGE, offset=len(ids), include=[])["ids"]:
        ids += page
    return Listed(ids)


@_answered.register
def _(request: Nearest, generations: GenerationRequests) -> Answer:
    events = generations.events(request.generation)
    loose = _search_unfiltered(request, events) if list(request.where) == ["agent"] else None
    if loose is not None:
        return loose
    found = _query(request, events, n_results=request.limit, where=request.where, include=["distances"])
    return NearestIds(found["ids"][0], [float(distance) for distance in found["distances"][0]])


def _search_unfiltered(request: Nearest, events: Collection) -> NearestIds | None:
    """Search without the filter and filter the result, because Chroma evaluates a filter on every row.

    Returns None if so many of the nearest rows belong to another agent that the filter is needed.
    """
    most = request.limit + SPARE
    found = _query(request, events, n_results=most, include=["distances", "metadatas"])
    rows = zip(found["ids"][0], found["distances"][0], found["metadatas"][0], strict=True)
    agent = request.where["agent"]["$eq"]
    kept = [(row, float(distance)) for row, distance, metadata in rows if metadata.get("agent") == agent]
    if len(kept) < request.limit and len(found["ids"][0]) == most:
        return None
    return NearestIds([row for row, _ in kept[: request.limit]], [distance for _, distance in kept[: request.limit]])


def _query(request: Nearest, events: Collection, **how: Any) -> dict[str, Any]:
    return events.query(query_embeddings=_units(request.block, request.generation.dimensions), **how)


def _units(block: bytes, dimensions: int) -> NDArray[np.float32]:
    numbers: NDArray[np.float64] = np.frombuffer(block, dtype=np.float32).astype(np.float64)
    rows = cast("NDArray[np.float64]", np.reshape(numbers, (-1, dimensions)))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def _generation(number: int, events: Collection) -> Generation:
    build_id: dict[str, Any] = events.metadata or {}
    how = events.configuration
    if (build_id["schema_version"], build_id["chroma_version"]) != (SCHEMA_VERSION, VERSION):
        raise Damaged("version")
    if how["hnsw"]["space"] != "cosine" or how.get("embedding_function") is not None:
        raise Damaged("configuration")
    return Generation(number, str(build_id["birth"]), str(build_id["fingerprint"]), int(build_id["dimensions"]))


def _probe(generation: Generation, events: Collection) -> None:
    """Load the index and search for rows at evenly spread offsets by their own vectors; raises Damaged on a miss."""
    count = events.count()
    for offset in _probe_offsets(count):
        rows = events.get(limit=TOGETHER, offset=offset, include=["embeddings"])["embeddings"]
        if rows.shape != (min(TOGETHER, count), generation.dimensions):
            raise Damaged("vectors")
        found = events.query(query_embeddings=rows, n_results=1, include=["distances"])["distances"]
        if not all(row and abs(row[0]) <= CLOSE for row in found):  # NaN is not close either
            raise Damaged("search")


def _probe_offsets(count: int) -> list[int]:
    """Return the offsets to probe, including the last rows."""
    last = max(count - TOGETHER, 0)
    return sorted({last * part // PROBED for part in range(PROBED + 1)}) if count else []
