"""Searches the beliefs of a group, and selects those to show in a turn."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from ..domain.belief import Belief, BeliefHit
from ..domain.scope import Scope
from ..ports.models import Embedder, Vector
from ..settings import Live, Settings
from ..store.beliefs import BeliefBook
from ..store.database.database import Snapshot, at_once
from ..text.names import clean_text
from ..text.terms import query_terms
from .deadlines import vector_of
from .ranking import covered, terms_of

QUERY_LENGTH = 1_000
INLINE = 100  # beliefs that are ranked on the event loop
MOST_SHOWN = 10  # of a turn
STRENGTH_SHARE = 0.3  # of the order in which a turn is shown beliefs; the rest is relevance
Worded = Callable[[Belief], Belief | None]


@dataclass(frozen=True)
class BeliefSearch:
    """Finds beliefs by meaning and by words; without an embedder by words alone."""

    vectors: BeliefBook
    embedder: Embedder
    settings: Live[Settings]

    async def find(self, scope: Scope, query: str, *, limit: int, threshold: float, worded: Worded) -> list[BeliefHit]:
        """Return active beliefs with a score of at least ``threshold``, best first, also those too weak to be shown.

        ``worded`` returns a belief with hidden words redacted, or None if it must not be shown; such words never match.
        """
        said = clean_text(query[:QUERY_LENGTH]).strip()
        rows = await self.vectors.near(scope, self.embedder.fingerprint, None)
        if rows and said and (vector := await vector_of(self.embedder, said)) is not None:
            rows = await self.vectors.near(scope, self.embedder.fingerprint, vector)
        rank = partial(self._ranked, rows, said, worded)
        hits = await asyncio.to_thread(rank) if len(rows) > INLINE else rank()
        return [hit for hit in hits if hit.score >= threshold][: max(limit, 0)]

    def of_turn(
        self, connection: Snapshot, scope: Scope, query: str, vector: Vector | None, worded: Worded
    ) -> list[Belief]:
        """Return the beliefs to show, by relevance and strength.

        Beliefs that are asleep (too weak) are left out.
        """
        said = clean_text(query[:QUERY_LENGTH]).strip()
        rows = at_once(self.vectors.near, connection, scope, self.embedder.fingerprint, vector)
        if not rows:  # as in most places
            return []
        hits = [hit for hit in self._ranked(rows, said, worded) if not hit.belief.is_asleep]
        hits.sort(key=lambda hit: -((1.0 - STRENGTH_SHARE) * hit.score + STRENGTH_SHARE * hit.belief.strength))
        return [hit.belief for hit in hits[:MOST_SHOWN]]

    def _ranked(self, rows: Sequence[tuple[Belief, float | None]], said: str, worded: Worded) -> list[BeliefHit]:
        shown = [(belief, cosine) for row, cosine in rows if (belief := worded(row))]
        terms, similarity = tuple(query_terms(said)), self.embedder.calibration.similarity
        texts = [terms_of(belief.statement, *belief.tags) for belief, _ in shown]
        words = covered(terms, texts, len(rows)) if terms else [0.0] * len(shown)
        weight, hits = self.settings.current.query.lexical_weight, list[BeliefHit]()
        for (belief, cosine), lexical in zip(shown, words, strict=True):
            score = lexical
            if cosine is not None and math.isfinite(cosine):
                score = (1.0 - weight) * similarity(cosine) + weight * lexical
            hits.append(BeliefHit(belief, score))
        return sorted(hits, key=lambda hit: (-hit.score, -hit.belief.strength))
