"""Hybrid retrieval: dense and lexical search run concurrently, and either may be unavailable."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

from ..domain.event import Event
from ..domain.hit import Hit, Reading
from ..domain.scope import Scene
from ..errors import PermanentError, TransientError, UnavailableError
from ..ports.ambient import Clock
from ..ports.ledger import EventLedger, LexicalIndex, NameBook
from ..ports.models import Embedder, Reranker
from ..ports.vectors import NearbyEvents
from ..settings import Decay, Live, Settings
from .deadlines import finished, shielded, with_deadline
from .intent import Tilt, tilt_of
from .naming import KnownNames
from .narrowing import NARROWED, narrowed
from .query import Query, query_of
from .ranking import (
    Scored,
    above,
    collapsed,
    decayed,
    diversified,
    fused,
    leaning,
    matched,
    naming,
    preferring,
    reranked,
    widened,
)

AWAY = (UnavailableError, TransientError, PermanentError, asyncio.TimeoutError)
PATIENCE = 5.0  # seconds that a question waits for a leg; its vector is made all the same, for who asks that next
MAX_RESULTS = 200
MAX_CANDIDATES = 1_000
INLINE = 64  # candidates of some 30 characters that are ranked in well under a millisecond; more leave the event loop
LONG = 300  # characters of a question; what is longer is read off the event loop
RERANKED_FROM = 2  # times as many candidates as hits: with fewer there is nothing to choose from (seed 001)
FEW = 3  # hits: a question who somebody is that finds fewer is answered with what is known of them
ASKED_ABOUT = 3  # people whom such a question is about
LEAST = 0.01
LAST_LOOK = 0.1  # of the patience that what is known of somebody may take, however much of it was used up before
Answer = TypeVar("Answer")
Ask = Callable[[Reading, int], Awaitable[list[Scored]]]


@dataclass(frozen=True)
class SearchResult:
    """What a search found, best first, and which parts were away meanwhile."""

    hits: tuple[Hit, ...] = ()
    degraded: tuple[str, ...] = ()


@dataclass
class _Leg:
    """One leg of a search under way: its candidates so far (None: no answer yet) and the part that it waits for."""

    part: str
    rows: list[Scored] | None = None
    is_whole: bool = False

    @property
    def degraded(self) -> tuple[str, ...]:
        """The part that is away, unless the leg has come to its end."""
        return () if self.is_whole else (self.part,)

    async def run(self, search: Awaitable[None]) -> None:
        """Search to the end; a part that is away ends it early."""
        with contextlib.suppress(*AWAY):
            await search
            self.is_whole = True


@dataclass(frozen=True)
class _SearchRequest:
    """What a search wants, and the settings it began with."""

    reading: Reading
    query: Query
    settings: Settings
    top_k: int
    decay: Decay | None
    floor: float = 0.0

    @property
    def candidates(self) -> int:
        """How many each leg is asked for; 0 where there is nothing to ask."""
        if not self.query.terms:
            return 0
        return min(self.limit * self.settings.query.rerank_candidate_multiplier, MAX_CANDIDATES)

    @property
    def more(self) -> int:
        """How many more of the time, and of each person, that the question names."""
        return min(self.candidates, NARROWED)

    def outnumbered(self, rows: Sequence[Scored]) -> list[Reading]:
        """Return the readings of what the question names of which a full leg holds less than the hits there may be."""
        if len(rows) < self.candidates:
            return []
        enough = min(self.limit, self.more)
        parts = narrowed(self.reading, self.query)
        return [part for part in parts if sum(part.admits(event) for event, _ in rows) < enough]

    @property
    def limit(self) -> int:
        """How many hits there may be."""
        return min(max(self.top_k, 0), MAX_RESULTS)

    @property
    def tilt(self) -> Tilt:
        """What the question is after, as far as that can make a difference."""
        return tilt_of(self.query.intent, self.reading.kinds)

    @property
    def least(self) -> float:
        """What counts as relevant at all."""
        return max(self.floor, self.settings.query.min_relevance, LEAST)

    @property
    def about(self) -> list[Reading]:
        """What to read of those whom a question who somebody is asks about; nothing for any other question."""
        if self.query.intent != "identity":
            return []
        people = [self.reading.user_id] if self.reading.user_id else sorted(self.query.people)[:ASKED_ABOUT]
        return [replace(self.reading, user_id=person) for person in people]

    @property
    def embedded(self) -> str:
        """What is embedded: a model is told where and who, too; in hashed characters they would drown the question."""
        return self.query.text if self.settings.models.embedding.model_name else self.query.said or self.query.text


class Retriever:
    """Searches events by meaning and by words, within what a reading admits."""

    def __init__(  # noqa: PLR0913, PLR0917  # all that a search rests on, in the order of the ports
        self,
        events: EventLedger,
        lexical: LexicalIndex,
        vectors: NearbyEvents,
        embedder: Embedder,
        settings: Live[Settings],
        clock: Clock,
        patience: float = PATIENCE,
        *,
        names: NameBook | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        """Search these stores with this embedder; what takes longer than ``patience`` seconds is away.

        ``names`` tell whom a question names, and a ``reranker`` has the say on relevance; both may be missing.
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
        """Read what is asked in a scene, now and by whom is known there; never raises for a book of names."""
        reference = self._clock.now().astimezone(self._settings.current.zone)
        read = partial(query_of, text, scene, reference, await self._names.at(scene), addressed=addressed)
        return await asyncio.to_thread(read) if len(text) > LONG else read()

    async def search(
        self, reading: Reading, query: Query, *, top_k: int, decay: Decay | None, floor: float = 0.0
    ) -> SearchResult:
        """Find at most ``top_k`` (and 200) events of relevance ``floor`` or more; a part that is away is named.

        A question without a word finds nothing. One who somebody is finds what is known of them, if nothing better.
        """
        wish = _SearchRequest(reading, query, self._settings.current, top_k, decay, floor)
        if not wish.candidates:
            return SearchResult()
        end = asyncio.get_running_loop().time() + self._patience
        dense, words = await self._legs(wish)
        hits = await _off_loop(_size(dense.rows, words.rows), partial(_joined, wish, dense.rows, words.rows))
        judged = await self._judged(wish, hits, end)
        wide = await self._with_the_known(wish, judged.hits, end)
        best = await _off_loop(len(wide.hits), partial(_chosen, wish, wide.hits, self._clock.now()))
        return SearchResult(best, (*dense.degraded, *words.degraded, *judged.degraded, *wide.degraded))

    async def _judged(self, wish: _SearchRequest, hits: Sequence[Hit], end: float) -> SearchResult:
        """Return only the best candidates with the reranker's scores; all hits unchanged if it fails."""
        asked = wish.settings.query
        few = asked.rerank_candidate_multiplier < RERANKED_FROM
        if self._reranker is None or not asked.enable_rerank or few or not hits:
            return SearchResult(tuple(hits))
        best = collapsed(_promising(wish, hits))[: wish.candidates]
        try:
            asking = self._reranker.scores(wish.query.text, [hit.event.text for hit in best])
            scores = await with_deadline(end, shielded(asking))
            judged = reranked(best, scores)
        except AWAY:
            judged = None
        return SearchResult(tuple(hits), ("rerank",)) if judged is None else SearchResult(tuple(judged))

    async def _with_the_known(self, wish: _SearchRequest, hits: Sequence[Hit], end: float) -> SearchResult:
        """Add what is newly known of those whom a question who somebody is asks about, where little else is found."""
        relevant = sum(hit.relevance >= wish.least for hit in hits)
        if not wish.about or relevant >= min(FEW, wish.limit):
            return SearchResult(tuple(hits))
        end = max(end, asyncio.get_running_loop().time() + self._patience * LAST_LOOK)
        try:
            reads = (self._events.recent(reading, wish.candidates) for reading in wish.about)
            read = await with_deadline(end, asyncio.gather(*reads))
        except AWAY:
            return SearchResult(tuple(hits), ("ledger",))
        known = [event for events in read for event in events if wish.reading.admits(event)]
        newest = sorted(known, key=_when, reverse=True)
        return SearchResult(tuple(widened(hits, newest, wish.least)))

    async def _legs(self, wish: _SearchRequest) -> tuple[_Leg, _Leg]:
        """Search both ways at once, each as far as it comes in time."""
        dense, words = _Leg("embedding"), _Leg("lexical")
        searches = (
            asyncio.create_task(dense.run(self._by_meaning(wish, dense))),
            asyncio.create_task(words.run(_asked(partial(self._lexical.events, wish.query.terms), wish, words))),
        )
        await finished(self._patience, searches)
        for search in searches:
            if search.done():
                search.result()
        return dense, words

    async def _by_meaning(self, wish: _SearchRequest, leg: _Leg) -> None:
        vector = await self._embedder.embed_query(wish.embedded)
        leg.part = "vectors"
        similarity = self._embedder.calibration.similarity

        async def near(reading: Reading, limit: int) -> list[Scored]:
            return [
                (event, similarity(cosine)) for event, cosine in await self._vectors.nearest(vector, reading, limit)
            ]

        await _asked(near, wish, leg)


async def _asked(ask: Ask, wish: _SearchRequest, leg: _Leg) -> None:
    """Ask a store for candidates, and for more of what the question names where the best of all lie elsewhere."""
    leg.rows = await ask(wish.reading, wish.candidates)
    more = [ask(narrow, wish.more) for narrow in wish.outnumbered(leg.rows)]
    for found in await asyncio.gather(*more) if more else ():
        leg.rows = _with(leg.rows, found)


def _with(rows: Sequence[Scored], more: Sequence[Scored]) -> list[Scored]:
    """Add what was not found before."""
    known = {event.id for event, _ in rows}
    return [*rows, *(row for row in more if row[0].id not in known)]


async def _off_loop(rows: int, work: Callable[[], Answer]) -> Answer:
    """Do a little work at once, and much of it on another thread."""
    return await asyncio.to_thread(work) if rows > INLINE else work()


def _size(*legs: Sequence[Scored] | None) -> int:
    return sum(len(leg or ()) for leg in legs)


def _when(event: Event) -> datetime:
    return event.happened_at


def _joined(wish: _SearchRequest, dense: Sequence[Scored] | None, words: Sequence[Scored] | None) -> tuple[Hit, ...]:
    """Join what the legs found; every row passes the reading once more, whatever store it came from."""
    lexical = None if words is None else matched(wish.query.terms, words)
    weight = wish.tilt.weight(wish.settings.query.lexical_weight)
    return tuple(hit for hit in fused(dense, lexical, weight) if wish.reading.admits(hit.event))


def _promising(wish: _SearchRequest, hits: Sequence[Hit]) -> list[Hit]:
    """Order hits by all but their age: time, people and kind that the question speaks of."""
    timely = preferring(above(hits, 0.0), wish.query.window)
    return leaning(naming(timely, wish.query.people), wish.tilt.kinds)


def _chosen(wish: _SearchRequest, hits: Sequence[Hit], now: datetime) -> tuple[Hit, ...]:
    """Choose the best by relevance, by what the question speaks of, and by age; none says what another said."""
    relevant = above(hits, wish.floor)
    lifted = decayed(_promising(wish, relevant), wish.decay, now)
    return tuple(diversified(collapsed(lifted), wish.settings.query.diversity, wish.limit))
