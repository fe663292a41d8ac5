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
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.memory.opened import Opened
from cognitive_memory_core.ports import Vector
from cognitive_memory_core.settings.schema import Live, VectorStoreSettings
from cognitive_memory_core.store.search.lines import FoundLine, FoundLines, LineSearch
from cognitive_memory_core.vectors.reconciler import IndexReconciler

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
class Watched:
    """An index that reports to a witness; with a ``reconciler``, vectors are searched in the store alone."""

    index: Any
    witness: Witness

    def found_events(
        self, connection: Any, terms: Sequence[str], read_filter: ReadFilter, limit: int
    ) -> list[tuple[Event, float]]:
        """Return events."""
        found = self.index.found_events(connection, terms, read_filter, limit)
        self.witness.note(read_filter, [event for event, _ in found])
        return found

    def found_lines(self, connection: Any, search: LineSearch) -> FoundLines:
        """Return log lines with those around them."""
        found = self.index.found_lines(connection, search)
        lines = [*found.lines]
        self.witness.note(search.read_filter, [one.line for one in lines])
        return FoundLines(lines, found.scores)

    def surround(
        self, connection: Any, found: Sequence[FoundLine], read_filter: ReadFilter, around: int | None = None
    ) -> None:
        """Give log lines those around them."""
        self.index.surround(connection, found, read_filter, around)
        beside = [line for one in found for line in (*one.before, *one.after, one.replied) if line]
        self.witness.note(replace(read_filter, user_id="", kinds=(), window=None), beside)

    def found_nearest(
        self, connection: Any, vector: Vector, read_filter: ReadFilter, limit: int
    ) -> list[tuple[Event, float]]:
        """Return events."""
        found = self.index.found_nearest(connection, vector, read_filter, limit)
        self.witness.note(read_filter, [event for event, _ in found])
        return found

    def __getattr__(self, name: str) -> Any:
        """Forward everything else without reporting."""
        return getattr(self.index, name)


@dataclass
class WatchedStore:
    """A vector store that reports to a witness; it is asked however few vectors there are."""

    reconciler: IndexReconciler
    ledger: Any
    witness: Witness

    async def nearest(self, vector: Vector, read_filter: ReadFilter, limit: int) -> list[tuple[str, float]]:
        """Return ids of events."""
        found = await self.reconciler.nearest(vector, read_filter, limit)
        self.witness.note(read_filter, await self.ledger.events.fetch([event_id for event_id, _ in found]))
        return found


@asynccontextmanager
async def opened(
    make: Make, data_dir: Path, clock: FrozenClock, witness: Witness, **settings: Any
) -> AsyncIterator[core.CognitiveMemory]:
    """Open an empty memory over a kind of store; background work runs only when the memory is drained."""
    live = Live(core.Settings(vector_store=VectorStoreSettings(backend=make), **settings))
    engine = Opened(live, data_dir, clock=clock)
    await engine.open_stores()
    ledger: Any = engine.ledger
    ledger.corpora = Watched(ledger.corpora, witness)
    engine.compose()
    if engine.reconciler:
        engine.recall.sources.wide_index = WatchedStore(engine.reconciler, ledger, witness).nearest
        index: Any = ledger.corpora
        index.is_wide = lambda _connection, _read_filter: True
    await engine.consent.load()
    memory = core.CognitiveMemory()
    memory._begin(engine, None, background=False)
    try:
        yield memory
    finally:
        await memory._end(engine)
