"""Search of the message log: asks the index for the lines that answer a query, and leaves out repeated ones."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

from ..domain.hit import Hit
from ..domain.read_filter import ReadFilter
from ..ports.clock import Clock
from ..ports.words import FoundLine, FoundLines, LineSearch, WordIndex
from ..settings import Decay
from ..text.statements.questions_for_numbers import asks_for_number
from .deadlines import AWAY, with_deadline, with_timeout
from .query import Query
from .ranking import sameness
from .retriever import PATIENCE, SearchResult
from .search_request import MAX_RESULTS

CANDIDATES = 120  # lines that share words with the query; their adjacent lines are scored too
REACH = 4  # lines before and after each of them
SPARE = 24  # more lines than wanted are read, because some repeat others
FLUSHING = 0.2  # share of the time limit spent on waiting for buffered lines to be written


class MessageSearch:
    """Searches the log for lines that a :class:`ReadFilter` admits."""

    def __init__(
        self, index: WordIndex, clock: Clock, flush: Callable[[], Awaitable[object]], *, patience: float = PATIENCE
    ) -> None:
        """Search a log; ``flush`` is awaited first, so that the latest lines are written and found."""
        self._index = index
        self._clock = clock
        self._flush = flush
        self._patience = patience

    async def search(self, read_filter: ReadFilter, query: Query, *, top_k: int, decay: Decay | None) -> SearchResult:
        """Return at most ``top_k`` (and 200) lines, best first; a hit's event has kind "message" and the line's id.

        Each hit has the surrounding lines that the scene may read, including those that ``read_filter`` excludes.
        Waits until buffered lines are written, so that the latest ones are found.
        """
        limit = min(max(top_k, 0), MAX_RESULTS)
        if not (limit and query.terms):
            return SearchResult()
        end = asyncio.get_running_loop().time() + self._patience
        with suppress(*AWAY):  # a log whose writes fail may still be readable
            await with_timeout(self._patience * FLUSHING, self._flush())
        found = await self.find(read_filter, query, limit, decay, candidates=max(limit, CANDIDATES), end=end)
        return SearchResult((), ("lexical",)) if found is None else SearchResult(tuple(map(_hit, found.lines)))

    async def find(
        self,
        read_filter: ReadFilter,
        query: Query,
        limit: int,
        decay: Decay | None,
        *,
        candidates: int = CANDIDATES,
        reach: int = REACH,
        spare: int = SPARE,
        explains: bool = False,
        end: float | None = None,
    ) -> FoundLines | None:
        """Return at most ``limit`` lines, none that repeats another; None if the log cannot be searched in time.

        ``candidates`` lines that share words with the query are scored, with ``reach`` lines before and after each; the
        cost grows with both. Lines of the last 0.5 s may be missing.
        """
        asks_number = asks_for_number(query.said)
        of_query = query.asides, query.window, query.people, asks_number, decay, explains
        search = LineSearch(query.terms, read_filter, limit + spare, self._clock.now(), candidates, reach, *of_query)
        end = asyncio.get_running_loop().time() + self._patience if end is None else end
        try:
            found = await with_deadline(end, self._index.lines(search))
        except AWAY:
            return None
        distinct: dict[object, FoundLine] = {}
        for one in found.lines:
            if read_filter.admits_line(one.line):
                distinct.setdefault(sameness(one.line.as_event()), one)
        best = tuple(distinct.values())[:limit]
        return replace(found, lines=tuple(_admitted(one, read_filter) for one in best))


def _admitted(found: FoundLine, read_filter: ReadFilter) -> FoundLine:
    """Return a line with only those lines beside it that the scene may read, whatever the index returned."""
    admits = replace(read_filter, user_id="", kinds=(), window=None).admits_line
    replied = found.replied if found.replied and admits(found.replied) else None
    before, after = (tuple(filter(admits, side)) for side in (found.before, found.after))
    return replace(found, before=before, after=after, replied=replied)


def _hit(found: FoundLine) -> Hit:
    line, relevance = found.line, found.relevance
    return Hit(
        line.as_event(), found.score, 0.0, relevance, relevance, (*found.before, *found.after), line.reply_to or ""
    )
