"""Hybrid retrieval: search by meaning and by words run concurrently, and either may be unavailable."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Protocol, TypeVar

from ..cancellation import seen
from ..domain.event import Event
from ..domain.hit import Hit
from ..domain.read_filter import ReadFilter
from ..domain.scope import Scene, Scope
from ..ports.clock import Clock
from ..ports.models import Embedder, Reranker, Vector
from ..ports.vectors import NearbyEvents
from ..ports.words import WordIndex
from ..settings import Decay, Live, Settings
from ..store.events import EventLedger
from ..store.names import NameBook
from .deadlines import AWAY, finished, shielded, with_deadline
from .naming import KnownNames
from .query import Query, query_of
from .ranking import (
    Scored,
    above,
    backed,
    collapsed,
    decayed,
    diversified,
    fused,
    matched,
    naming,
    preferring,
    reranked,
    shares_terms,
    widened,
)
from .search_request import SearchRequest, embedded_text
from .trace import NO_TRACE, SearchTrace

PATIENCE = 5.0  # seconds that a query waits for a leg; its embedding still completes and is cached for the next query
INLINE = 64  # candidates of some 30 characters, ranked in well under a millisecond; more are ranked in a thread
LONG = 300  # characters; a longer query is parsed in a thread
RERANKED_FROM = 2  # least ratio of candidates to hits for reranking: below it there is nothing to choose (seed 001)
NEAR = 0.5  # similarity of the best of hits without a common word: 0.76 or more for 347 questions of two sets (MiniLM),
# 0.2 to 0.65 for nonsense and for matters that were never spoken of
FEW = 3  # hits: an identity query ("who is ...") with fewer also gets the newest events of that person
MOST_REPLACED = 128  # events of a ledger that are known to replace others; with more, each search asks for its own
CHAIN = 3  # times that a statement may have been replaced by a newer one
LAST_LOOK = 0.1  # share of the time limit kept for that extra read, however much of it was used before
Result = TypeVar("Result")
ReplacedIds = frozenset[str] | None  # None: not known
CandidateSearch = Callable[[ReadFilter, int], Awaitable[list[Scored]]]


class FoundLines(Protocol):
    """The lines of the log that a search found for a query."""

    @property
    def scores(self) -> Mapping[int, float]:
        """The score of each line found, by :func:`line_key`."""
        ...


@dataclass(frozen=True)
class BegunReads:
    """What a caller has begun for a query: its vector (:meth:`Retriever.embedding`), and the search of the log."""

    embedding: Awaitable[Vector] | None = None
    lines: Awaitable[FoundLines] | None = None


NOTHING_BEGUN = BegunReads()


@dataclass(frozen=True)
class SearchResult:
    """The hits of a search, best first, and the names of the parts that were unavailable."""

    hits: tuple[Hit, ...] = ()
    degraded: tuple[str, ...] = ()


@dataclass
class _SearchLeg:
    """One half of a running search, by meaning or by words, with its candidates; ``part`` is its name in ``degraded``.

    ``rows`` is None until candidates are found.
    """

    part: str
    rows: list[Scored] | None = None
    is_whole: bool = False

    @property
    def degraded(self) -> tuple[str, ...]:
        """Return the name of this half as unavailable; () once it is complete."""
        return () if self.is_whole else (self.part,)

    async def run(self, search: Awaitable[None]) -> None:
        """Run the search; if a store or model is unavailable, it ends early without an error."""
        with contextlib.suppress(*AWAY):
            await search
            self.is_whole = True


class Retriever:
    """Searches events by vectors and by terms, within what a read filter admits."""

    def __init__(
        self,
        events: EventLedger,
        lexical: WordIndex,
        vectors: NearbyEvents,
        embedder: Embedder,
        settings: Live[Settings],
        clock: Clock,
        patience: float = PATIENCE,
        *,
        names: NameBook | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        """Search these stores with this embedder; a part that takes longer than ``patience`` seconds is unavailable.

        ``names`` resolves the people that a query names, and ``reranker`` decides relevance; both are optional.
        """
        self._patience = patience
        self._names = KnownNames(names)
        self._reranker = reranker
        self._events = events
        self._lexical = lexical
        self._vectors = vectors
        self._embedder = embedder
        self._settings = settings
        self._clock = clock

    async def asked(self, text: str, scene: Scene, *, addressed: bool | None = None) -> Query:
        """Parse a query asked in a scene now; if the name book fails, it counts as empty."""
        reference = self._clock.now().astimezone(self._settings.current.zone)
        read = partial(query_of, text, scene, reference, await self._names.at(scene), addressed=addressed)
        return await asyncio.to_thread(read) if len(text) > LONG else read()

    def drop_names(self, scopes: Iterable[Scope] | None = None) -> None:
        """Drop the cached names of these places (None: of all), so that the next query there reads them again."""
        self._names.drop(scopes)

    def embedding(self, query: Query, settings: Settings, top_k: int) -> asyncio.Future[Vector] | None:
        """Start to embed a query that is to be searched with these settings; None if that search finds nothing."""
        if top_k <= 0 or not query.terms:
            return None
        embedding = asyncio.ensure_future(self._embedder.embed_query(embedded_text(query, settings)))
        embedding.add_done_callback(seen)
        return embedding

    async def search(
        self,
        read_filter: ReadFilter,
        query: Query,
        *,
        top_k: int,
        decay: Decay | None,
        floor: float = 0.0,
        trace: SearchTrace | None = None,
        begun: BegunReads = NOTHING_BEGUN,
    ) -> SearchResult:
        """Find at most ``top_k`` (and 200) events of relevance ``floor`` or more; unavailable parts are listed.

        A query without terms finds nothing. An identity query ("who is ...") that finds little also returns the newest
        events of the people it asks about. A ``trace`` records the hits after each step; its settings are used.
        ``begun`` holds what was begun for the same query: its vector, which is else asked for here, and the log lines
        found; events made of these rank higher.
        """
        trace = trace or NO_TRACE
        request = SearchRequest(read_filter, query, trace.settings or self._settings.current, top_k, decay, floor)
        if not request.candidates:
            return SearchResult()
        end = asyncio.get_running_loop().time() + self._patience
        dense, words = await self._legs(request, begun.embedding)
        # hits below the floor are kept for comparison only
        least = 0.0 if trace.is_kept or self._reranker or request.about else floor
        hits = await _off_loop(_size(dense.rows, words.rows), partial(_joined, request, dense.rows, words.rows, least))
        trace.note("found", hits)
        judged = await self._judged(request, hits, end)
        trace.note("judged", judged.hits)
        wide = await self._with_newest_of_people(request, judged.hits, end)
        trace.note("widened", wide.hits)
        said = await _found_in_time(begun.lines, end)
        best = await _off_loop(len(wide.hits), partial(_chosen, request, wide.hits, said, self._clock.now(), trace))
        return SearchResult(best, (*dense.degraded, *words.degraded, *judged.degraded, *wide.degraded))

    def replaced(self) -> asyncio.Future[ReplacedIds]:
        """Start to read the ids of all replaced events, for :meth:`replacing`; None if these are many."""
        ids = asyncio.ensure_future(self._events.replaced_ids(MOST_REPLACED))
        ids.add_done_callback(seen)
        return ids

    async def replacing(
        self, read_filter: ReadFilter, event_ids: Iterable[str], replaced: Awaitable[ReplacedIds] | None = None
    ) -> list[Event]:
        """Return the events that replace those of the ids, and those that replace these; [] if the ledger fails.

        With ``replaced``, from :meth:`replaced`, the ledger is asked about those of the events only.
        """
        found: dict[str, Event] = {}
        asked = list(event_ids)
        end = asyncio.get_running_loop().time() + self._patience * LAST_LOOK
        known = await _ids_in_time(replaced, end)
        with contextlib.suppress(*AWAY):
            for _ in range(CHAIN):
                asked = asked if known is None else [one for one in asked if one in known]
                newer = await with_deadline(end, self._events.replacing(asked, read_filter)) if asked else []
                asked = [one.id for one in newer if one.id not in found and read_filter.admits(one)]
                found |= {one.id: one for one in newer if read_filter.admits(one)}
        return list(found.values())

    async def _judged(self, request: SearchRequest, hits: Sequence[Hit], end: float) -> SearchResult:
        """Return the best hits only, with the reranker's scores; without one, or if it fails, all hits unchanged."""
        asked = request.settings.query
        few = asked.rerank_candidate_multiplier < RERANKED_FROM
        if self._reranker is None or not asked.enable_rerank or few or not hits:
            return SearchResult(tuple(hits))
        best = collapsed(_promising(request, hits))[: request.candidates]
        try:
            asking = self._reranker.scores(request.query.text, [hit.event.text for hit in best])
            scores = await with_deadline(end, shielded(asking))
            judged = reranked(best, scores)
        except AWAY:
            judged = None
        return SearchResult(tuple(hits), ("rerank",)) if judged is None else SearchResult(tuple(judged))

    async def _with_newest_of_people(self, request: SearchRequest, hits: Sequence[Hit], end: float) -> SearchResult:
        """Add the newest events of the people whom an identity query asks about, if there are few relevant hits."""
        if not request.about or sum(hit.relevance >= request.least for hit in hits) >= min(FEW, request.limit):
            return SearchResult(tuple(hits))
        end = max(end, asyncio.get_running_loop().time() + self._patience * LAST_LOOK)
        try:
            reads = (self._events.recent(read_filter, request.candidates) for read_filter in request.about)
            read = await with_deadline(end, asyncio.gather(*reads))
        except AWAY:
            return SearchResult(tuple(hits), ("ledger",))
        known = [event for events in read for event in events if request.read_filter.admits(event)]
        newest = sorted(known, key=_when, reverse=True)
        return SearchResult(tuple(widened(hits, newest, request.least)))

    async def _legs(self, request: SearchRequest, embedding: Awaitable[Vector] | None) -> tuple[_SearchLeg, _SearchLeg]:
        """Run both halves of the search concurrently; return each with the candidates that it found in time."""
        dense, words = _SearchLeg("embedding"), _SearchLeg("lexical")
        searches = (
            asyncio.create_task(dense.run(self._by_meaning(request, dense, embedding))),
            asyncio.create_task(words.run(self._by_words(request, words))),
        )
        await finished(self._patience, searches)
        for search in searches:
            if search.done():
                search.result()
        return dense, words

    async def _by_words(self, request: SearchRequest, leg: _SearchLeg) -> None:
        await _asked(partial(self._lexical.events, request.query.terms), request, leg)

    async def _by_meaning(self, request: SearchRequest, leg: _SearchLeg, embedding: Awaitable[Vector] | None) -> None:
        vector = await (embedding or self._embedder.embed_query(embedded_text(request.query, request.settings)))
        leg.part = "vectors"
        similarity = self._embedder.calibration.similarity

        async def near(read_filter: ReadFilter, limit: int) -> list[Scored]:
            return [
                (event, similarity(cosine)) for event, cosine in await self._vectors.nearest(vector, read_filter, limit)
            ]

        await _asked(near, request, leg)


async def _found_in_time(lines: Awaitable[FoundLines] | None, end: float) -> Mapping[int, float]:
    """Return the scores of the log lines found; {} if their search fails or is late."""
    if lines is None:
        return {}
    try:
        return (await with_deadline(end, asyncio.shield(lines))).scores
    except AWAY:
        return {}


async def _ids_in_time(ids: Awaitable[ReplacedIds] | None, end: float) -> ReplacedIds:
    try:
        return None if ids is None else await with_deadline(end, ids)
    except AWAY:
        return None


async def _asked(ask: CandidateSearch, request: SearchRequest, leg: _SearchLeg) -> None:
    """Search for candidates, then further ones for each named time or person of which there are too few."""
    leg.rows = await ask(request.read_filter, request.candidates)
    more = [ask(narrow, request.more) for narrow in request.outnumbered(leg.rows)]
    for found in await asyncio.gather(*more) if more else ():
        leg.rows = _with(leg.rows, found)


def _with(rows: Sequence[Scored], more: Sequence[Scored]) -> list[Scored]:
    """Append the rows that are not in the list yet."""
    known = {event.id for event, _ in rows}
    return [*rows, *(row for row in more if row[0].id not in known)]


async def _off_loop(rows: int, work: Callable[[], Result]) -> Result:
    """Run work on few rows directly, and on many rows in a thread."""
    return await asyncio.to_thread(work) if rows > INLINE else work()


def _size(*legs: Sequence[Scored] | None) -> int:
    return sum(len(leg or ()) for leg in legs)


def _when(event: Event) -> datetime:
    return event.happened_at


def _joined(
    request: SearchRequest, dense: Sequence[Scored] | None, words: Sequence[Scored] | None, least: float
) -> tuple[Hit, ...]:
    """Fuse the two searches, and drop hits of a relevance below ``least``.

    Every row is checked against the read filter, whichever store returned it.
    """
    lexical = None if words is None else matched(request.query.terms, words)
    if dense and not (request.query.people or lexical or shares_terms(request.query.terms, dense)):
        is_of_characters = (
            not request.settings.models.embedding.model_name
        )  # whose hashes are near without a common word
        dense = [] if is_of_characters or max(similarity for _, similarity in dense) < NEAR else dense
    weight = request.settings.lexical_weight
    return tuple(hit for hit in fused(dense, lexical, weight, least) if request.read_filter.admits(hit.event))


def _promising(request: SearchRequest, hits: Sequence[Hit], trace: SearchTrace = NO_TRACE) -> list[Hit]:
    """Order hits by relevance and by their fit to the time and people that the query names, not by age."""
    timely = trace.note("time", preferring(above(hits, 0.0), request.query.window))
    return trace.note("people", naming(timely, request.query.people))


def _chosen(
    request: SearchRequest, hits: Sequence[Hit], said: Mapping[int, float], now: datetime, trace: SearchTrace
) -> tuple[Hit, ...]:
    """Choose the best hits by relevance, fit to the query, age and source lines; leave out near-duplicates."""
    relevant = trace.note("relevance", above(hits, request.floor))
    aged = trace.note("age", decayed(_promising(request, relevant, trace), request.decay, now))
    distinct = trace.note("duplicates", collapsed(trace.note("lines", backed(aged, said))))
    return tuple(trace.note("diversity", diversified(distinct, request.settings.query.diversity, request.limit)))
