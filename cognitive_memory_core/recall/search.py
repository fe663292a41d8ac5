"""Search of events and, if requested, of the raw log."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..domain.event import Event
from ..domain.hit import Hit
from ..domain.read_filter import ReadFilter
from ..domain.scope import Scope
from ..settings import Live, Settings
from ..store.events import EventLedger
from .deadlines import AWAY
from .message_search import MessageSearch
from .query import Query
from .retriever import Retriever, SearchResult

LINE = 0.5  # factor of a log line's score beside events, which carry more information
TRACED = 0.8  # factor of an event's score that is found through a line that it was made of
_LineKey = tuple[Scope, str]


class Search:
    """Searches events and the log within what a read filter admits."""

    def __init__(
        self,
        events: Retriever,
        messages: MessageSearch,
        settings: Live[Settings],
        sources: EventLedger | None = None,
    ) -> None:
        """Combine the two searches; ``sources`` finds the events that were made from a line."""
        self._events = events
        self._messages = messages
        self._settings = settings
        self._sources = sources

    async def find(self, read_filter: ReadFilter, text: str, *, top_k: int) -> SearchResult:
        """Return at most ``top_k`` hits of the read filter's kinds, best first; log lines only for the kind "message".

        If the filter also has kinds of events, the scores of lines are lowered, and a line from which an event was made
        is replaced by that event, whose score is then at least :data:`TRACED` times that of the line.
        """
        query = await self._events.asked(text, read_filter.scene)
        if "message" not in read_filter.kinds:
            return await self._known(read_filter, query, top_k)
        if set(read_filter.kinds) == {"message"}:
            return await self._said(read_filter, query, top_k)
        events = _without_lines(read_filter)
        known, said = await asyncio.gather(self._known(events, query, top_k), self._said(read_filter, query, 2 * top_k))
        best = _best(await self._traced(events, known.hits, said.hits), said.hits, top_k)
        return SearchResult(best, (*known.degraded, *(part for part in said.degraded if part not in known.degraded)))

    async def _known(self, read_filter: ReadFilter, query: Query, top_k: int) -> SearchResult:
        return await self._events.search(read_filter, query, top_k=top_k, decay=self._settings.current.query.tool_decay)

    async def _said(self, read_filter: ReadFilter, query: Query, top_k: int) -> SearchResult:
        lines = replace(read_filter, kinds=())
        return await self._messages.search(lines, query, top_k=top_k, decay=self._settings.current.query.tool_decay)

    async def _traced(self, read_filter: ReadFilter, known: Sequence[Hit], said: Sequence[Hit]) -> list[Hit]:
        """Add the events made from the lines ``said``; each scores at least :data:`TRACED` times its best line."""
        lines = {_key(hit): hit for hit in said}
        if self._sources is None or not lines:
            return list(known)
        try:
            made = await self._sources.made_of(lines.keys(), read_filter)
        except AWAY:
            made = []
        found = {hit.event.id: hit for hit in known}
        for event in made:
            if read_filter.admits(event) and (of_event := [lines[key] for key in _sources_of(event) if key in lines]):
                found[event.id] = _raised(found.get(event.id), event, max(of_event, key=lambda hit: hit.score))
        return list(found.values())


def _without_lines(read_filter: ReadFilter) -> ReadFilter:
    return replace(read_filter, kinds=tuple(kind for kind in read_filter.kinds if kind != "message"))


def _raised(known: Hit | None, event: Event, line: Hit) -> Hit:
    """Return an event's hit, its score and relevance raised to at least ``TRACED`` times those of its best line."""
    score, relevance = TRACED * line.score, TRACED * line.relevance
    if known is None:
        return Hit(event, score, relevance=relevance)
    return replace(known, score=max(known.score, score), relevance=max(known.relevance, relevance))


def _best(events: Sequence[Hit], said: Iterable[Hit], limit: int) -> tuple[Hit, ...]:
    """Merge hits of events and of lines, best first, without lines from which a found event was made."""
    told = {key for hit in events for key in _sources_of(hit.event)}
    lines = (replace(hit, score=hit.score * LINE) for hit in said if _key(hit) not in told)
    return tuple(sorted((*events, *lines), key=lambda hit: -hit.score))[:limit]


def _key(hit: Hit) -> _LineKey:
    return hit.event.scope, hit.event.id


def _sources_of(event: Event) -> list[_LineKey]:
    return [(event.scope, source) for source in event.message_ids]
