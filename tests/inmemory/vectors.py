"""Event vectors and exact search, in memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul

from cognitive_memory_core import sentences
from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.read_filter import ReadFilter
from cognitive_memory_core.errors import BadArgument
from cognitive_memory_core.ports.ledger import Checkpoint, EmbeddedEvent, VectorChange, VectorRow
from cognitive_memory_core.ports.models import Vector

from .state import InMemoryState


class InMemoryVectors:
    """One vector per event; storing one of another model replaces it."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state

    async def waiting(self, fingerprint: str, limit: int) -> list[tuple[str, str]]:
        """Return ids and texts of current events without a vector of this model, oldest first."""
        self._state.fingerprint = fingerprint
        return [(event.id, event.text) for event in self._waiting(fingerprint)][: max(limit, 0)]

    async def store(self, fingerprint: str, rows: Sequence[VectorRow]) -> None:
        """Store vectors; those of missing events are dropped, and those without a direction are refused."""
        for row in rows:
            if not has_direction(row.vector):
                raise BadArgument(
                    sentences.caller.bad_value("vector", row.event_id, sentences.storage_errors.VECTOR_WITH_DIRECTION)
                )
        self._state.fingerprint = fingerprint
        revision = self._state.next_revision()
        for row in rows:
            event = self._state.events.get(row.event_id)
            if event is not None and row.text in (None, event.text):
                self._state.put_vector(row.event_id, fingerprint, row.vector, revision)

    async def lag(self, fingerprint: str) -> int:
        """Return the number of current events without a vector of this model."""
        self._state.fingerprint = fingerprint
        return len(self._waiting(fingerprint))

    async def dimensions(self, fingerprint: str) -> int:
        """Return the vector length of a model from its oldest current event; 0 if there is none."""
        return self._state.dimensions(fingerprint)

    async def changes(self, fingerprint: str, after: Checkpoint, limit: int) -> list[VectorChange]:
        """Return the changes after a checkpoint in order, each with the event as it is now."""
        rows = {row.event.id: row for row in self._embedded(fingerprint)}
        return [VectorChange(mark, one, rows.get(one)) for mark, one in self._later(after)[: max(limit, 0)]]

    async def behind(self, fingerprint: str, after: Checkpoint) -> int:  # the port's: a change is one for any model
        """Return the number of changes that :meth:`changes` would still return."""
        return len(self._later(after))

    async def embedded_ids(self, fingerprint: str) -> frozenset[str]:
        """Return the ids of all current events with a vector of this model."""
        return frozenset(row.event.id for row in self._embedded(fingerprint))

    def _embedded(self, fingerprint: str) -> list[EmbeddedEvent]:
        pairs = [(event, self._state.vectors.get(event.id, ("", None))) for event in self._state.standing()]
        return [EmbeddedEvent(event, name, vector) for event, (name, vector) in pairs if vector and name == fingerprint]

    def _later(self, after: Checkpoint) -> list[tuple[Checkpoint, str]]:
        numbers = self._state.numbers
        marks = ((Checkpoint(revision, numbers[one]), one) for one, revision in self._state.changed.items())
        return sorted((mark, one) for mark, one in marks if mark > after)

    def _waiting(self, fingerprint: str) -> list[Event]:
        vectors = self._state.vectors
        return [event for event in self._state.standing() if vectors.get(event.id, ("",))[0] != fingerprint]


class InMemoryIndex:
    """Exact search over the events that a read filter admits, with vectors of the followed model."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state

    def follow(self, fingerprint: str) -> None:
        """Use only vectors of this model from now on."""
        self._state.fingerprint = fingerprint

    async def nearest(self, vector: Vector, read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Return events with their cosine, best first; [] for a vector of another length or without a direction."""
        if not self._state.fingerprint or not has_direction(vector):
            return []
        admitted = (event for event in reversed(self._state.events.values()) if read_filter.admits(event))
        scored = [(event, _cosine(vector, other)) for event in admitted if (other := self._like(vector, event.id))]
        return sorted(scored, key=lambda pair: -pair[1])[: max(limit, 0)]

    async def is_wide(self, read_filter: ReadFilter) -> bool:  # as the other ledger's
        """Return False, since no search reads from disk."""
        return False

    def _like(self, vector: Vector, event_id: str) -> Vector | None:
        fingerprint, other = self._state.vectors.get(event_id, ("", None))
        is_alike = other is not None and fingerprint == self._state.fingerprint and len(other) == len(vector)
        return other if is_alike else None


def has_direction(vector: Vector) -> bool:
    """Return whether a vector has a direction: it is neither zero nor contains NaN or infinity."""
    length = math.hypot(*vector)
    return math.isfinite(length) and length > 0


def _cosine(one: Vector, other: Vector) -> float:
    return sum(map(mul, one, other)) / (_length(one) * _length(other) or 1.0)


def _length(vector: Vector) -> float:
    return math.sqrt(sum(map(mul, vector, vector)))
