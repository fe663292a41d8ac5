"""Vectors beside events, and exact search over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul

from ... import sentences
from ...domain.event import Event
from ...domain.hit import Reading
from ...errors import BadArgument
from ...ports.ledger import EmbeddedEvent, VectorRow
from ...ports.models import Vector
from .state import State


class InMemoryShelf:
    """One vector an event; storing another model's replaces it."""

    def __init__(self, state: State) -> None:
        """Share a state with the other ports."""
        self._state = state

    async def waiting(self, fingerprint: str, limit: int) -> list[tuple[str, str]]:
        """Give ids and texts of standing events without a vector of this fingerprint, oldest first."""
        self._state.fingerprint = fingerprint
        return [(event.id, event.text) for event in self._waiting(fingerprint)][: max(limit, 0)]

    async def store(self, fingerprint: str, rows: Sequence[VectorRow]) -> None:
        """Keep vectors; a row of an event that is gone is dropped, a vector that is no number is refused."""
        for row in rows:
            if not is_finite(row.vector):
                raise BadArgument(sentences.bad_value("vector", row.event_id, "有限的数"))
        self._state.fingerprint = fingerprint
        self._state.vectors.update(
            {row.event_id: (fingerprint, row.vector) for row in rows if row.event_id in self._state.events}
        )

    async def lag(self, fingerprint: str) -> int:
        """Count the standing events without a vector of this fingerprint."""
        self._state.fingerprint = fingerprint
        return len(self._waiting(fingerprint))

    def _waiting(self, fingerprint: str) -> list[Event]:
        vectors = self._state.vectors
        return [event for event in self._state.standing() if vectors.get(event.id, ("",))[0] != fingerprint]


class InMemoryIndex:
    """Cosine over all that a reading admits, of vectors of one model: the one that is followed."""

    def __init__(self, state: State) -> None:
        """Share a state with the other ports."""
        self._state = state

    def follow(self, fingerprint: str) -> None:
        """Compare only vectors of this model from now on."""
        self._state.fingerprint = fingerprint

    async def nearest(self, vector: Vector, reading: Reading, limit: int) -> list[tuple[str, float]]:
        """Give event ids with their cosine, best first; [] for a vector of another length, or no direction."""
        if not self._state.fingerprint or not is_finite(vector) or not _length(vector):
            return []
        admitted = (event.id for event in reversed(self._state.events.values()) if reading.admits(event))
        scored = [
            (event_id, _cosine(vector, other)) for event_id in admitted if (other := self._like(vector, event_id))
        ]
        return sorted(scored, key=lambda pair: -pair[1])[: max(limit, 0)]

    async def upsert(self, rows: Sequence[EmbeddedEvent]) -> None:
        """Take note of the model; the vectors are the shelf's."""
        if rows:
            self._state.fingerprint = rows[-1].fingerprint or self._state.fingerprint

    def _like(self, vector: Vector, event_id: str) -> Vector | None:
        fingerprint, other = self._state.vectors.get(event_id, ("", None))
        is_alike = other is not None and fingerprint == self._state.fingerprint and len(other) == len(vector)
        return other if is_alike else None


def is_finite(vector: Vector) -> bool:
    """Tell whether a vector holds something, and nothing but numbers."""
    return len(vector) > 0 and all(map(math.isfinite, vector))


def _cosine(one: Vector, other: Vector) -> float:
    return sum(map(mul, one, other)) / (_length(one) * _length(other) or 1.0)


def _length(vector: Vector) -> float:
    return math.sqrt(sum(map(mul, vector, vector)))
