"""One search of events: its arguments, and the limits and weights that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..domain.read_filter import NARROWED, ReadFilter
from ..settings import Decay, Settings
from .query import Query
from .ranking import Scored

MAX_RESULTS = 200
MAX_CANDIDATES = 1_000
ASKED_ABOUT = 3  # people that an identity query is about at most
LEAST = 0.15  # relevance from which a hit counts as an answer to an identity query


@dataclass(frozen=True)
class SearchRequest:
    """The arguments of a search, and the settings at its beginning."""

    read_filter: ReadFilter
    query: Query
    settings: Settings
    top_k: int
    decay: Decay | None
    floor: float = 0.0

    @property
    def candidates(self) -> int:
        """Return the maximum number of candidates of each search, by vectors and by words.

        0 for a query without terms.
        """
        if not self.query.terms:
            return 0
        return min(self.limit * self.settings.query.rerank_candidate_multiplier, MAX_CANDIDATES)

    @property
    def more(self) -> int:
        """Return the limit of further candidates for the time, and for each person, that the query names."""
        return min(self.candidates, NARROWED)

    def outnumbered(self, rows: Sequence[Scored]) -> list[ReadFilter]:
        """Return the read filters of :meth:`ReadFilter.narrowed` that admit too few of the candidates in ``rows``.

        Too few are fewer than the search may return. Empty if there are fewer candidates than the limit, because then
        every row was found.
        """
        if len(rows) < self.candidates:
            return []
        enough = min(self.limit, self.more)
        parts = self.read_filter.narrowed(self.query.window, self.query.people)
        return [part for part in parts if sum(part.admits(event) for event, _ in rows) < enough]

    @property
    def limit(self) -> int:
        """Return the maximum number of hits."""
        return min(max(self.top_k, 0), MAX_RESULTS)

    @property
    def least(self) -> float:
        """Return the minimum relevance of a hit."""
        return max(self.floor, self.settings.query.min_relevance, LEAST)

    @property
    def about(self) -> list[ReadFilter]:
        """Return a read filter for each person whom an identity query ("who is ...") asks about.

        Empty for other queries.
        """
        if not self.query.asks_who:
            return []
        people = [self.read_filter.user_id] if self.read_filter.user_id else sorted(self.query.people)[:ASKED_ABOUT]
        return [replace(self.read_filter, user_id=person) for person in people]


def embedded_text(query: Query, settings: Settings) -> str:
    """Return the text to embed; place and speaker are included only for a real model.

    With the local embedder, which hashes characters, they would outweigh the query.
    """
    return query.text if settings.models.embedding.model_name else query.said or query.text
