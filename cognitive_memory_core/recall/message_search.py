"""Search of the message log: asks the index for the lines that answer a query, and leaves out repeated ones."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from math import prod

from ..domain.hit import Hit
from ..domain.read_filter import ReadFilter
from ..ports.clock import Clock
from ..ports.words import FoundLine, LineSearch, WordIndex
from ..settings import Decay
from ..text.statements.questions_for_numbers import asks_for_number
from .deadlines import AWAY, with_deadline, with_timeout
from .query import Query
from .ranking import collapsed
from .retriever import PATIENCE, SearchResult
from .search_request import MAX_RESULTS
from .trace import NO_TRACE, SearchTrace

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

    async def search(
        self,
        read_filter: ReadFilter,
        query: Query,
        *,
        top_k: int,
        decay: Decay | None,
        candidates: int | None = None,
        reach: int = REACH,
        flushes_first: bool = True,
        trace: SearchTrace = NO_TRACE,
    ) -> SearchResult:
        """Return at most ``top_k`` (and 200) lines, best first; a hit's event has kind "message" and the line's id.

        Each hit has the surrounding lines that the scene may read, including those that ``read_filter`` excludes.
        ``candidates`` lines that share words with the query (None: 120 or more) are scored with ``reach`` lines before
        and after each; the cost grows with both. With ``flushes_first`` the search waits until buffered lines are
        written; without, lines of the last 0.5 s may be missing. A ``trace`` records the hits after each step, and the
        parts of their scores.
        """
        limit = min(max(top_k, 0), MAX_RESULTS)
        if not (limit and query.terms):
            return SearchResult()
        end = asyncio.get_running_loop().time() + self._patience
        if flushes_first:
            with suppress(*AWAY):  # a log whose writes fail may still be readable
                await with_timeout(self._patience * FLUSHING, self._flush())
        search = LineSearch(
            query.terms,
            read_filter,
            limit + SPARE,
            self._clock.now(),
            candidates or max(limit, CANDIDATES),
            reach,
            query.asides,
            query.window,
            query.people,
            asks_for_number(query.said),
            decay,
            trace.is_kept,
        )
        try:
            found = await with_deadline(end, self._index.lines(search))
        except AWAY:
            return SearchResult((), ("lexical",))
        found = [one for one in found if read_filter.admits_line(one.line)]  # whatever the store returned
        hits = [_hit(one, read_filter) for one in found]
        if trace.is_kept:
            _note(trace, found, hits)
        return SearchResult(tuple(trace.note("duplicates", collapsed(hits, limit))))


def _hit(found: FoundLine, read_filter: ReadFilter) -> Hit:
    wide = replace(read_filter, user_id="", kinds=(), window=None)
    near = tuple(line for line in found.neighbours if wide.admits_line(line))
    score = found.relevance * prod(factor for _, factor in found.factors)
    reply_to = found.line.reply_to or ""
    return Hit(found.line.as_event(), score, 0.0, found.relevance, found.relevance, near, reply_to)


def _note(trace: SearchTrace, found: list[FoundLine], hits: list[Hit]) -> None:
    trace.parts = {(hit.event.scope, hit.event.id): one.parts for one, hit in zip(found, hits, strict=True)}
    scores = [one.relevance for one in found]
    trace.note("found", [replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)])
    for step in [name for name, _ in found[0].factors] if found else ():
        scores = [score * dict(one.factors)[step] for one, score in zip(found, scores, strict=True)]
        trace.note(step, [replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)])
