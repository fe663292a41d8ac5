"""From a question to the hits that matter: two legs at once, either of which may be away."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from ..domain.hit import Hit, Reading
from ..errors import PermanentError, TransientError, UnavailableError
from ..ports.ambient import Clock
from ..ports.ledger import EventLedger, LexicalIndex
from ..ports.models import Embedder
from ..ports.vectors import VectorIndex
from ..settings import Decay, Live, Settings
from .embedding import QueryEmbedding
from .query import Query
from .ranking import Scored, above, collapsed, decayed, diversified, fused, matched, preferring

AWAY = (UnavailableError, TransientError, PermanentError, asyncio.TimeoutError)
PATIENCE = 5.0  # seconds that a question waits for its vector; the call goes on, for whoever asks the same next
MAX_RESULTS = 200
MAX_CANDIDATES = 1_000
INLINE = 24  # candidates that are ranked in about a millisecond; more leave the event loop


@dataclass(frozen=True)
class Found:
    """What a search found, best first, and which parts were away meanwhile."""

    hits: tuple[Hit, ...] = ()
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Leg:
    """One leg's candidates; None when the leg is missing, with the part to blame."""

    rows: Sequence[Scored] | None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Wish:
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
    def limit(self) -> int:
        """How many hits there may be."""
        return min(max(self.top_k, 0), MAX_RESULTS)

    @property
    def embedded(self) -> str:
        """What is embedded: a model is told where and who, too; in hashed characters they would drown the question."""
        return self.query.text if self.settings.models.embedding.model_name else self.query.said or self.query.text


class Retriever:
    """Searches events by meaning and by words, and messages by words, within what a reading admits."""

    def __init__(  # noqa: PLR0917  # all that a search rests on, in the order of the ports
        self,
        events: EventLedger,
        lexical: LexicalIndex,
        vectors: VectorIndex,
        embedder: Embedder,
        settings: Live[Settings],
        clock: Clock,
    ) -> None:
        """Search these stores with this embedder."""
        self._events = events
        self._lexical = lexical
        self._vectors = vectors
        self._embedder = embedder
        self._questions = QueryEmbedding(embedder, clock)
        self._settings = settings
        self._clock = clock

    async def search(
        self, reading: Reading, query: Query, *, top_k: int, decay: Decay | None, floor: float = 0.0
    ) -> Found:
        """Find at most ``top_k`` (and 200) events of relevance ``floor`` or more; a leg that is away is named.

        A question without a word finds nothing.
        """
        wish = _Wish(reading, query, self._settings.current, top_k, decay, floor)
        if not wish.candidates:
            return Found()
        dense, words = await asyncio.gather(self._by_meaning(wish), self._by_words(wish))
        return Found(await self._best(wish, dense.rows, words.rows), (*dense.degraded, *words.degraded))

    async def messages(self, reading: Reading, query: Query, *, top_k: int, decay: Decay | None = None) -> Found:
        """Find lines of the log by their words; each hit's event is of kind "message" and has the message's id."""
        wish = _Wish(reading, query, self._settings.current, top_k, decay)
        if not wish.candidates:
            return Found()
        try:
            found = await self._lexical.messages(query.terms, reading, wish.candidates)
        except AWAY:
            return Found((), ("lexical",))
        return Found(await self._best(wish, None, [(message.as_event(), score) for message, score in found]))

    async def _best(
        self, wish: _Wish, dense: Sequence[Scored] | None, words: Sequence[Scored] | None
    ) -> tuple[Hit, ...]:
        rank = partial(_ranked, wish, dense, words, self._clock.now())
        many = len(dense or ()) + len(words or ()) > INLINE
        return await asyncio.to_thread(rank) if many else rank()

    async def _by_meaning(self, wish: _Wish) -> _Leg:
        part = "embedding"
        try:
            vector = await asyncio.wait_for(self._questions.vector(wish.embedded), PATIENCE)
            part = "vectors"
            nearest = await self._vectors.nearest(vector, wish.reading, wish.candidates)
            part = "ledger"
            events = {event.id: event for event in await self._events.fetch([found for found, _ in nearest])}
        except AWAY:
            return _Leg(None, (part,))
        similarity = self._embedder.calibration.similarity
        return _Leg([(events[found], similarity(cosine)) for found, cosine in nearest if found in events])

    async def _by_words(self, wish: _Wish) -> _Leg:
        try:
            return _Leg(await self._lexical.events(wish.query.terms, wish.reading, wish.candidates))
        except AWAY:
            return _Leg(None, ("lexical",))


def _ranked(
    wish: _Wish, dense: Sequence[Scored] | None, words: Sequence[Scored] | None, now: datetime
) -> tuple[Hit, ...]:
    """Rank what the legs found; every row passes the reading once more, whatever store it came from."""
    asked = wish.settings.query
    lexical = None if words is None else matched(wish.query.terms, words)
    hits = [hit for hit in fused(dense, lexical, asked.lexical_weight) if wish.reading.admits(hit.event)]
    timely = decayed(preferring(above(hits, wish.floor), wish.query.window), wish.decay, now)
    return tuple(diversified(collapsed(timely), asked.diversity, wish.limit))
