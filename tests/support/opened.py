"""The whole memory over every kind of store, with a witness that sees each row before the memory filters it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import cognitive_memory_core as core
from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.read_filter import ReadFilter
from cognitive_memory_core.open_memory import OpenMemory
from cognitive_memory_core.ports.models import Vector
from cognitive_memory_core.ports.supplied_components import SuppliedParts
from cognitive_memory_core.ports.words import FoundLines, LineSearch
from cognitive_memory_core.settings import Live, VectorStoreSettings
from cognitive_memory_core.vectors.reconciler import IndexReconciler
from cognitive_memory_core.wiring import Adapters, opened_adapters

from .clock import FrozenClock
from .planted import Standing, tokens_in
from .reading_rule import may_read

Make = Literal["exact", "chroma"]


@dataclass
class Witness:
    """Records the rows that stores return and the read filter that was asked for, before anything is filtered out."""

    seen: list[tuple[ReadFilter, Sequence[Event]]] = field(default_factory=list[tuple[ReadFilter, Sequence[Event]]])

    def foreign(self, standing: Standing) -> set[str]:
        """Return the tokens returned for readings that must not see them, and clear the records."""
        seen, self.seen = self.seen, []
        return {
            token
            for read_filter, events in seen
            for token in tokens_in([event.text for event in events])
            if not may_read(standing.planted[token], read_filter.scene, standing)
        }

    def note(self, read_filter: ReadFilter, rows: Sequence[Event | Message]) -> None:
        """Record the rows of one search."""
        self.seen.append((read_filter, [row.as_event() if isinstance(row, Message) else row for row in rows]))


@dataclass
class WatchedWords:
    """A lexical index that reports to a witness."""

    index: Any
    witness: Witness

    async def events(self, terms: Sequence[str], read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Return events."""
        found = await self.index.events(terms, read_filter, limit)
        self.witness.note(read_filter, [event for event, _ in found])
        return found

    async def lines(self, search: LineSearch) -> FoundLines:
        """Return log lines with those around them."""
        found = await self.index.lines(search)
        self.witness.note(
            search.read_filter, [line for one in found.lines for line in (one.line, *one.before, *one.after)]
        )
        return found

    def __getattr__(self, name: str) -> Any:
        """Forward everything else without reporting."""
        return getattr(self.index, name)


@dataclass
class WatchedVectors:
    """An exact index that reports to a witness; with a ``reconciler``, searches go to the vector store instead."""

    index: Any
    adapters: Adapters
    witness: Witness
    reconciler: IndexReconciler | None = None

    async def nearest(self, vector: Vector, read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Return events, and report them."""
        found = await self._found(vector, read_filter, limit)
        self.witness.note(read_filter, [event for event, _ in found])
        return found

    async def _found(self, vector: Vector, read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        if self.reconciler is None:
            return await self.index.nearest(vector, read_filter, limit)
        cosines = dict(await self.reconciler.nearest(vector, read_filter, limit))
        return [(event, cosines[event.id]) for event in await self.adapters.ledger.events.fetch(list(cosines))]

    async def is_wide(self, read_filter: ReadFilter) -> bool:
        """Return False: the memory has only this index."""
        return False

    def __getattr__(self, name: str) -> Any:
        """Forward everything else without reporting."""
        return getattr(self.index, name)


@asynccontextmanager
async def opened(
    make: Make, data_dir: Path, clock: FrozenClock, witness: Witness, **settings: Any
) -> AsyncIterator[core.CognitiveMemory]:
    """Open an empty memory over a kind of store; background work runs only when the memory is drained."""
    live = Live(core.Settings(vector_store=VectorStoreSettings(backend=make), **settings))
    adapters = await opened_adapters(live, data_dir, SuppliedParts(clock=clock))
    ledger: Any = adapters.ledger
    vectors = ledger.index = WatchedVectors(ledger.index, adapters, witness)
    engine = OpenMemory(replace(adapters, lexical=WatchedWords(adapters.lexical, witness)), live)
    reconciler = engine.opened.reconciler
    vectors.reconciler = reconciler if isinstance(reconciler, IndexReconciler) else None
    await engine.opened.consent.load()
    memory = core.CognitiveMemory()
    memory._state = engine
    try:
        yield memory
    finally:
        await engine.close()
