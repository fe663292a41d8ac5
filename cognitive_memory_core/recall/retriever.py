"""From a question to the hits that matter: two legs at once, either of which may be away."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..domain.hit import Hit, Reading
from ..errors import PermanentError, TransientError, UnavailableError
from ..ports.ambient import Clock
from ..ports.ledger import EventLedger, LexicalIndex
from ..ports.models import Embedder
from ..ports.vectors import VectorIndex
from ..settings import Decay, Live, QuerySettings, Settings
from .embedding import QueryEmbedding
from .messages import as_event
from .query import Query
from .ranking import Scored, above, collapsed, decayed, diversified, fused, matched, preferring

AWAY = (UnavailableError, TransientError, PermanentError)
MAX_RESULTS = 200
MAX_CANDIDATES = 1_000


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
        asked = self._settings.current.query
        limit = _candidates(top_k, asked)
        if not limit or not query.terms:
            return Found()
        dense, lexical = await asyncio.gather(
            self._by_meaning(reading, query.text, limit), self._by_words(reading, query.terms, limit)
        )
        hits = above(_admitted(fused(dense.rows, lexical.rows, asked.lexical_weight), reading), floor)
        return Found(self._best(hits, query, asked, decay, top_k), (*dense.degraded, *lexical.degraded))

    async def messages(self, reading: Reading, query: Query, *, top_k: int, decay: Decay | None = None) -> Found:
        """Find lines of the log by their words; each hit's event is of kind "message" and has the message's id."""
        asked = self._settings.current.query
        limit = _candidates(top_k, asked)
        if not limit or not query.terms:
            return Found()
        try:
            found = await self._lexical.messages(query.terms, reading, limit)
        except AWAY:
            return Found((), ("lexical",))
        rows = matched(query.terms, [(as_event(message), score) for message, score in found])
        return Found(self._best(_admitted(fused(None, rows, 1.0), reading), query, asked, decay, top_k))

    def _best(
        self, hits: Iterable[Hit], query: Query, asked: QuerySettings, decay: Decay | None, top_k: int
    ) -> tuple[Hit, ...]:
        timely = decayed(preferring(hits, query.window), decay, self._clock.now())
        return tuple(diversified(collapsed(timely), asked.diversity, min(top_k, MAX_RESULTS)))

    async def _by_meaning(self, reading: Reading, text: str, limit: int) -> _Leg:
        part = "embedding"
        try:
            vector = await self._questions.vector(text)
            part = "vectors"
            nearest = await self._vectors.nearest(vector, reading, limit)
            part = "ledger"
            events = {event.id: event for event in await self._events.fetch([found for found, _ in nearest])}
        except AWAY:
            return _Leg(None, (part,))
        similarity = self._embedder.calibration.similarity
        return _Leg([(events[found], similarity(cosine)) for found, cosine in nearest if found in events])

    async def _by_words(self, reading: Reading, terms: Sequence[str], limit: int) -> _Leg:
        try:
            return _Leg(matched(terms, await self._lexical.events(terms, reading, limit)))
        except AWAY:
            return _Leg(None, ("lexical",))


def _admitted(hits: Iterable[Hit], reading: Reading) -> list[Hit]:
    """Check every row once more, whatever store it came from."""
    return [hit for hit in hits if reading.admits(hit.event)]


def _candidates(top_k: int, asked: QuerySettings) -> int:
    return min(min(max(top_k, 0), MAX_RESULTS) * asked.rerank_candidate_multiplier, MAX_CANDIDATES)
