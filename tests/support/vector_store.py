"""A vector store in memory with exact search."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import mul
from uuid import uuid4

from cognitive_memory_core import sentences
from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.ports import EmbeddedEvent, Generation, Vector


@dataclass
class _HeldGeneration:
    """A generation with its rows, each an event with its unit vector."""

    generation: Generation
    rows: dict[str, tuple[Event, Vector]] = field(default_factory=dict[str, tuple[Event, Vector]])


class InMemoryVectorStore:
    """A vector store with one generation in use and at most one being built."""

    def __init__(self) -> None:
        """Start without a generation."""
        self._in_use: _HeldGeneration | None = None
        self._growing: _HeldGeneration | None = None

    async def open(self) -> Generation | None:
        """Return the generation in use."""
        return None if self._in_use is None else self._in_use.generation

    async def begin(self, fingerprint: str, dimensions: int) -> Generation:
        """Create an empty generation beside the one in use, replacing an earlier attempt."""
        number = 1 if self._in_use is None else self._in_use.generation.number + 1
        self._growing = _HeldGeneration(Generation(number, uuid4().hex, fingerprint, dimensions))
        return self._growing.generation

    async def put_in_use(self, generation: Generation) -> None:
        """Put a generation in use and delete the others."""
        self._in_use, self._growing = self._copy(generation), None

    async def upsert(self, generation: Generation, rows: Sequence[EmbeddedEvent]) -> None:
        """Store rows with vectors."""
        self._copy(generation).rows.update({row.event.id: (row.event, _unit(row.vector)) for row in rows})

    async def remove(self, generation: Generation, event_ids: Sequence[str]) -> None:
        """Remove rows."""
        held = self._copy(generation).rows
        for event_id in event_ids:
            held.pop(event_id, None)

    async def listed(self, generation: Generation) -> frozenset[str]:
        """Return the ids of all rows."""
        return frozenset(self._copy(generation).rows)

    async def nearest(
        self, generation: Generation, vector: Vector, read_filter: ReadFilter, limit: int
    ) -> list[tuple[str, float]]:
        """Return event ids with their cosine, best first."""
        asked = _unit(vector)
        rows = self._copy(generation).rows.values()
        scored = [(event.id, sum(map(mul, asked, unit))) for event, unit in rows if read_filter.admits(event)]
        return sorted(scored, key=lambda pair: -pair[1])[: max(limit, 0)]

    async def is_there(self) -> bool:
        """Return whether a generation is in use."""
        return self._in_use is not None

    async def sleep(self) -> None:
        """Do nothing, since there is no process to end."""

    def _copy(self, generation: Generation) -> _HeldGeneration:
        for copy in (self._in_use, self._growing):
            if copy is not None and copy.generation.build_id == generation.build_id:
                return copy
        raise UnavailableError(sentences.storage_errors.GENERATION_GONE)


def _unit(vector: Vector | None) -> Vector:
    """Return a vector scaled to length one."""
    single = array("f", vector or ())
    length = math.hypot(*single)
    return array("d", (number / length for number in single))
