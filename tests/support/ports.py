"""Hand-written fakes of the read path's ports: they return what they were given, or are unavailable."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Callable, Collection, Sequence
from functools import wraps
from types import MethodType, SimpleNamespace
from typing import Any, cast

from cognitive_memory_core.consent import Consent
from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.notes import Memo, Pin
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.ports import Calibration, Clock, Vector
from cognitive_memory_core.recall.names import CurrentNames
from cognitive_memory_core.recall.one_pass import Sources
from cognitive_memory_core.recall.recall import Recall
from cognitive_memory_core.settings.schema import Live, Settings
from cognitive_memory_core.store.ledger import Ledger
from cognitive_memory_core.store.search.lines import FoundLine, FoundLines, LineSearch

from .clock import FrozenClock
from .ledgers import a_ledger


def direct(operation: Callable[..., Any]) -> Any:
    """Make a method over a connection what an operation of a table is: awaitable, or called at once with one."""

    @wraps(operation)
    async def submitted(table: Any, *args: Any, **kwargs: Any) -> Any:
        return operation(table, None, *args, **kwargs)

    return submitted


class Away:
    """A store or model that raises for every call."""

    fingerprint = "away"

    def __init__(self, error: Exception | None = None) -> None:
        """Take the error to raise; default UnavailableError."""
        self.error = error or UnavailableError("away")

    def load(self) -> None:
        """Load nothing."""

    def __getattr__(self, name: str) -> Any:
        """Return a function that raises: at once where a pass calls it, else when it is awaited."""

        def refuse(*_: object, **__: object) -> None:
            raise self.error

        return refuse if name == "read" or name.startswith(("found_", "is_")) else MethodType(direct(refuse), self)


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

    @direct
    def fetch(self, _: object, event_ids: Sequence[str]) -> list[Event]:
        """Return the events that are not retired, in the order asked for."""
        found = (self._events.get(event_id) for event_id in event_ids)
        return [event for event in found if event is not None and event.retired_at is None]

    @direct
    def replacing(self, _: object, event_ids: Collection[str], read_filter: ReadFilter) -> list[Event]:
        """Return the events that name one of these as replaced."""
        return [one for one in self._events.values() if one.replaces in event_ids and read_filter.admits(one)]


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

    def load(self) -> None:
        """Load nothing."""

    def found_events(
        self, _: object, terms: Sequence[str], read_filter: ReadFilter, limit: int
    ) -> list[tuple[Event, float]]:
        """Return the first rows without applying the filter, as a faulty store might."""
        self.asked.append((tuple(terms), read_filter, limit))
        return self._events[:limit]

    async def events(self, terms: Sequence[str], read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Return the same outside of a pass."""
        return self.found_events(None, terms, read_filter, limit)

    def found_lines(self, _: object, search: LineSearch) -> FoundLines:
        """Return the first rows without applying the filter, as a faulty store might."""
        self.searches.append(search)
        return FoundLines(tuple(FoundLine(message, score) for message, score in self._messages[: search.limit]))

    def surround(self, *_: object) -> None:
        """Leave the lines with what they have."""


class ListedVectors:
    """A vector index that returns these events with their cosines for every query."""

    def __init__(self, *rows: tuple[Event, float]) -> None:
        """Take the rows."""
        self._rows = list(rows)
        self.limits: list[int] = []

    def load(self) -> None:
        """Load nothing."""

    def found_nearest(
        self, _: object, vector: Vector, read_filter: ReadFilter, limit: int
    ) -> list[tuple[Event, float]]:
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


class ReactingEmbedder:
    """An embedder that embeds every text unless its reaction raises, and records its batches."""

    fingerprint = "model/2"
    calibration = Calibration(0.0, 1.0)

    def __init__(self, react: Callable[[Sequence[str]], None] = lambda _: None) -> None:
        """Call this reaction for each batch."""
        self.react = react
        self.asked: list[list[str]] = []
        self.answered: list[str] = []

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed texts."""
        self.asked.append(list(texts))
        self.react(texts)
        self.answered += texts
        return [array("f", (1.0, len(text))) for text in texts]

    async def embed_query(self, text: str) -> Vector:
        """Embed a text."""
        return array("f", (1.0, 0.0))


class ListedNotes:
    """A notebook with the given memos and pins."""

    def __init__(self, memos: Sequence[Memo] = (), pins: Sequence[Pin] = ()) -> None:
        """Take the notes."""
        self.held = list(memos)
        self._pins = list(pins)

    @direct
    def memos(self, _: object, scope: Scope, limit: int, *, without: Collection[str] = ()) -> list[Memo]:
        """Return the newest memos of the place, newest last."""
        return [memo for memo in self.held if memo.scope == scope and memo.user_id not in without][-limit:]

    @direct
    def pins(self, _: object, scope: Scope) -> list[Pin]:
        """Return all pins of the place."""
        return [pin for pin in self._pins if pin.scope == scope]


def a_recall(
    ledger: Any = None,
    embedder: Any = None,
    settings: Live[Settings] | None = None,
    *,
    consent: Consent | None = None,
    clock: Clock | None = None,
    events: Any = None,
    words: Any = None,
    vectors: Any = None,
    notes: Any = None,
    **parts: Any,
) -> Recall:
    """Return a recall over a ledger of which some tables are replaced."""
    ledger, clock = ledger or a_ledger(clock=clock or FrozenClock()), clock or FrozenClock()
    by_words, by_meaning = words or ledger.corpora, vectors or ledger.corpora
    corpora = SimpleNamespace(
        found_events=by_words.found_events,
        found_lines=by_words.found_lines,
        surround=getattr(by_words, "surround", ledger.corpora.surround),
        found_nearest=by_meaning.found_nearest,
        is_wide=getattr(by_meaning, "is_wide", ledger.corpora.is_wide),
    )
    given = {"events": events, "corpora": corpora, "notes": notes}
    tables = {name: getattr(ledger, name) for name in ("events", "notes", "names", "database")}
    replaced = SimpleNamespace(**(tables | {name: table for name, table in given.items() if table is not None}))
    settings = settings or Live(Settings())
    of_sources = {name: parts.pop(name, None) for name in ("profiles", "beliefs", "wide_index", "reranker")}
    sources = Sources(
        cast("Ledger", replaced),
        embedder or CountingEmbedder(),
        clock,
        consent or Consent(ledger, settings),
        CurrentNames(ledger.names),
        **of_sources,
    )
    return Recall(sources, settings, **parts)
