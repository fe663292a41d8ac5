"""Search of events and, if requested, of the raw log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..domain.hit import Hit, Reading
from ..settings import Live, Settings
from .messages import MessageSearch
from .query import Query
from .retriever import Retriever, SearchResult

LINE = 0.5  # factor of a log line's score; events carry more information


class Search:
    """Searches events and the log within what a reading admits."""

    def __init__(self, events: Retriever, messages: MessageSearch, settings: Live[Settings]) -> None:
        """Combine the two searches."""
        self._events = events
        self._messages = messages
        self._settings = settings

    async def find(self, reading: Reading, text: str, *, top_k: int) -> SearchResult:
        """Return at most ``top_k`` hits of the reading's kinds, best first; log lines only for kind "message".

        Beside events a line's score is reduced, and source lines of found events are left out.
        """
        query = await self._events.asked(text, reading.scene)
        if "message" not in reading.kinds:
            return await self._known(reading, query, top_k)
        said = await self._said(reading, query, top_k)
        if set(reading.kinds) == {"message"}:
            return said
        known = await self._known(reading, query, top_k)
        best = _best(known.hits, said.hits, top_k)
        return SearchResult(best, (*known.degraded, *(part for part in said.degraded if part not in known.degraded)))

    async def _known(self, reading: Reading, query: Query, top_k: int) -> SearchResult:
        events = replace(reading, kinds=tuple(kind for kind in reading.kinds if kind != "message"))
        return await self._events.search(events, query, top_k=top_k, decay=self._settings.current.query.tool_decay)

    async def _said(self, reading: Reading, query: Query, top_k: int) -> SearchResult:
        lines = replace(reading, kinds=())
        return await self._messages.search(lines, query, top_k=top_k, decay=self._settings.current.query.tool_decay)


def _best(known: Iterable[Hit], said: Iterable[Hit], limit: int) -> tuple[Hit, ...]:
    """Merge both, best first, without the source lines of found events."""
    events = tuple(known)
    told = {(hit.event.scope, source) for hit in events for source in hit.event.message_ids}
    lines = (replace(hit, score=hit.score * LINE) for hit in said if (hit.event.scope, hit.event.id) not in told)
    return tuple(sorted((*events, *lines), key=lambda hit: -hit.score))[:limit]
