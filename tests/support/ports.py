"""Hand-written fakes of the read path's ports: they return what they were given, or are unavailable."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Collection, Sequence
from typing import Any

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.note import Memo, Pin
from cognitive_memory_core.domain.read_filter import ReadFilter
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.ports.models import Calibration, Vector
from cognitive_memory_core.ports.words import FoundLine, FoundLines, LineSearch


class Away:
    """A store or model that raises for every call."""

    def __init__(self, error: Exception | None = None) -> None:
        """Take the error to raise; default UnavailableError."""
        self.error = error or UnavailableError("away")

    def __getattr__(self, name: str) -> Any:
        """Return a function that raises."""

        async def refuse(*_: object, **__: object) -> None:
            raise self.error

        return refuse


class Wrapping:
    """Forwards everything to another object; subclasses replace some of its methods."""

    def __init__(self, inner: Any) -> None:
        """Take the object."""
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        """Forward."""
        return getattr(self.inner, name)


class ListedEvents:
    """An event ledger with the given events; retired ones are not returned."""

    def __init__(self, *events: Event) -> None:
        """Take the events."""
        self._events = {event.id: event for event in events}

    async def fetch(self, event_ids: Sequence[str]) -> list[Event]:
        """Return the events that are not retired, in the order asked for."""
        found = (self._events.get(event_id) for event_id in event_ids)
        return [event for event in found if event is not None and event.retired_at is None]

    async def replacing(self, event_ids: Collection[str], read_filter: ReadFilter) -> list[Event]:
        """Return the events that name one of these as replaced."""
        return [one for one in self._events.values() if one.replaces in event_ids and read_filter.admits(one)]

    async def replaced_ids(self, limit: int) -> frozenset[str] | None:
        """Return the ids that events name as replaced; None if more than ``limit`` events do."""
        found = [one.replaces for one in self._events.values() if one.replaces]
        return None if len(found) > limit else frozenset(found)


class ListedWords:
    """A lexical index that returns these rows for every query and records the queries."""

    def __init__(
        self, events: Sequence[tuple[Event, float]] = (), messages: Sequence[tuple[Message, float]] = ()
    ) -> None:
        """Take the rows."""
        self._events = list(events)
        self._messages = list(messages)
        self.asked: list[tuple[tuple[str, ...], ReadFilter, int]] = []
        self.searches: list[LineSearch] = []

    async def events(self, terms: Sequence[str], read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Return the first rows without applying the filter, as a faulty store might."""
        self.asked.append((tuple(terms), read_filter, limit))
        return self._events[:limit]

    async def lines(self, search: LineSearch) -> FoundLines:
        """Return the first rows without applying the filter, as a faulty store might."""
        self.searches.append(search)
        return FoundLines(tuple(FoundLine(message, score) for message, score in self._messages[: search.limit]))


class ListedVectors:
    """A vector index that returns these events with their cosines for every query."""

    def __init__(self, *rows: tuple[Event, float]) -> None:
        """Take the rows."""
        self._rows = list(rows)
        self.limits: list[int] = []

    async def nearest(self, vector: Vector, read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Return the first rows without applying the filter, as a faulty store might."""
        self.limits.append(limit)
        return self._rows[:limit]


class CountingEmbedder:
    """An embedder that returns the given vectors in turn (the last one forever) and counts the queries."""

    fingerprint = "counting"
    calibration = Calibration(0.0, 1.0)

    def __init__(self, *answers: Sequence[float] | Exception) -> None:
        """Take the vectors."""
        self._answers = list(answers) or [(1.0, 0.0)]
        self.asked: list[str] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def embed_query(self, text: str) -> Vector:
        """Return the next vector, once permitted."""
        self.asked.append(text)
        answer = self._answers[min(len(self.asked), len(self._answers)) - 1]
        await self.may_answer.wait()
        if isinstance(answer, Exception):
            raise answer
        return array("f", answer)

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return the same vector for every text."""
        return [array("f", (1.0, 0.0)) for _ in texts]


class ListedNotes:
    """A notebook with the given memos and pins."""

    def __init__(self, memos: Sequence[Memo] = (), pins: Sequence[Pin] = ()) -> None:
        """Take the notes."""
        self._memos = list(memos)
        self._pins = list(pins)

    async def memos(self, scope: Scope, limit: int, *, without: Collection[str] = ()) -> list[Memo]:
        """Return the newest memos of the place, newest last."""
        return [memo for memo in self._memos if memo.scope == scope and memo.user_id not in without][-limit:]

    async def pins(self, scope: Scope) -> list[Pin]:
        """Return all pins of the place."""
        return [pin for pin in self._pins if pin.scope == scope]
