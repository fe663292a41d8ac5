"""Search of the message log: finds candidate lines by words and ranks them by ``line_scores``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from ..domain.hit import Hit
from ..domain.message import Passage
from ..domain.read_filter import ReadFilter
from ..errors import PermanentError, TransientError, UnavailableError
from ..ports.clock import Clock
from ..ports.words import LineSearch, PassageIndex
from ..settings import Decay
from .borrowed_terms import REACH
from .deadlines import with_deadline, with_timeout
from .line_measures import WEIGHTS, Weights
from .line_scores import hits_of, parts_of
from .query import NARROWED, Query, narrowed
from .ranking import collapsed, counting, decayed, naming, preferring
from .retriever import PATIENCE, SearchResult
from .search_request import MAX_RESULTS
from .trace import NO_TRACE, SearchTrace

CANDIDATES = 120  # lines that share words with the query; their adjacent lines are scored too
SPARE = 24  # more hits than wanted are weighed by people and age
ASKING = timedelta(minutes=2)  # lines this recent may be the query itself
INLINE = 4_000  # characters of lines that are ranked on the event loop in 2 ms; more are ranked in a thread
FLUSHING = 0.2  # share of the time limit spent on waiting for buffered lines to be written
_AWAY = (UnavailableError, TransientError, PermanentError, asyncio.TimeoutError)


class MessageSearch:
    """Searches the log for lines that a :class:`ReadFilter` admits."""

    def __init__(
        self,
        log: PassageIndex,
        clock: Clock,
        flush: Callable[[], Awaitable[object]],
        *,
        patience: float = PATIENCE,
        weights: Weights = WEIGHTS,
    ) -> None:
        """Search a log; ``flush`` is awaited first, so that the latest lines are written and found."""
        self._log = log
        self._clock = clock
        self._flush = flush
        self._patience = patience
        self._weights = weights

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
        ``candidates`` lines that share words with the query (None: 120 or more) are read with ``reach`` lines before
        and after each; the cost grows with both. With ``flushes_first`` the search waits until buffered lines are
        written; without, lines of the last 0.5 s may be missing. A ``trace`` records the hits after each step, and the
        parts of their scores.
        """
        limit = min(max(top_k, 0), MAX_RESULTS)
        if not (limit and query.terms):
            return SearchResult()
        end = asyncio.get_running_loop().time() + self._patience
        if flushes_first:
            with suppress(*_AWAY):  # a log whose writes fail may still be readable
                await with_timeout(self._patience * FLUSHING, self._flush())
        try:
            passages = await with_deadline(
                end, self._talk(read_filter, query, candidates or max(limit, CANDIDATES), reach)
            )
            rank = partial(_ranked, query, read_filter, passages, self._weights, decay, self._clock.now(), limit, trace)
            is_quick = _is_short(passages) and not trace.is_kept
            hits = rank() if is_quick else await with_deadline(end, asyncio.to_thread(rank))
        except _AWAY:
            return SearchResult((), ("lexical",))
        return SearchResult(hits)

    async def _talk(self, read_filter: ReadFilter, query: Query, limit: int, reach: int) -> Sequence[Passage]:
        searches = [LineSearch(query.terms, read_filter, limit)]
        more = min(limit, NARROWED)
        searches += [LineSearch(query.terms, narrow, more) for narrow in narrowed(read_filter, query)]
        return await self._log.passages(searches, _wide(read_filter), reach)


def _wide(read_filter: ReadFilter) -> ReadFilter:
    """Return the read filter for surrounding lines, which admits all that the scene may read."""
    return replace(read_filter, user_id="", kinds=(), window=None)


def _is_short(passages: Sequence[Passage]) -> bool:
    return sum(len(line.text) for passage in passages for line in passage) <= INLINE


def _readable(passages: Sequence[Passage], read_filter: ReadFilter) -> list[Passage]:
    """Remove lines that the scene may not read, even if the store returned them."""
    wide = _wide(read_filter)
    return [tuple(line for line in passage if wide.admits_line(line)) for passage in passages]


def _ranked(  # noqa: PLR0917  # bound at once, to be called in a thread
    query: Query,
    read_filter: ReadFilter,
    passages: Sequence[Passage],
    weights: Weights,
    decay: Decay | None,
    now: datetime,
    limit: int,
    trace: SearchTrace,
) -> tuple[Hit, ...]:
    is_cut = read_filter == _wide(read_filter) and query.window is None  # a time that is named may raise any line
    most = limit + SPARE if is_cut else None
    lines, since = _readable(passages, read_filter), now - ASKING
    hits = hits_of(query.terms, lines, weights, asked_since=since, asides=query.asides, most=most)
    if trace.is_kept:
        trace.parts = parts_of(query.terms, lines, weights, asked_since=since, asides=query.asides)
    found = trace.note("found", [hit for hit in hits if read_filter.admits(hit.event)])
    named = trace.note("people", naming(found, query.people))
    counted = trace.note("numbers", counting(named, query.said))
    ordered = trace.note("age", decayed(trace.note("time", preferring(counted, query.window)), decay, now))
    return tuple(trace.note("duplicates", collapsed(ordered, limit)))
