"""What a search finds: events, and the raw log where that is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..domain.hit import Hit, Reading
from ..settings import Live, Settings
from .messages import MessageSearch
from .query import Query
from .retriever import Retriever, SearchResult

LINE = 0.5  # of a line's score counts beside an event: what was made of it says more than it does


class Search:
    """Searches both, within what a reading admits."""

    def __init__(self, events: Retriever, messages: MessageSearch, settings: Live[Settings]) -> None:
        """Join the two searches."""
        self._events = events
        self._messages = messages
        self._settings = settings

    async def find(self, reading: Reading, text: str, *, top_k: int) -> SearchResult:
        """Find at most ``top_k`` hits of the kinds that are read, best first; lines of the log where they are named.

        Beside events a line counts less, and none is told that a found event was made of.
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
    """Join both, best first, without the lines that a found event was made of."""
    events = tuple(known)
    told = {(hit.event.scope, source) for hit in events for source in hit.event.message_ids}
    lines = (replace(hit, score=hit.score * LINE) for hit in said if (hit.event.scope, hit.event.id) not in told)
    return tuple(sorted((*events, *lines), key=lambda hit: -hit.score))[:limit]
