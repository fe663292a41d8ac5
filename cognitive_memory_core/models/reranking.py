"""Builds the reranker: the caller's, a configured model of Jina's or Cohere's form, or none."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from .. import sentences
from ..errors import BadAnswer
from ..ports.models import Meter, Reranker
from ..settings import RerankSettings
from .breaker import Breaker, guarded
from .caller_models import CallerReranker
from .client import ModelClient, member, place, rows, sendable

LONGEST_TEXT = 8_000  # characters
SECONDS = 4.0  # shorter than a query waits, so that a timeout is seen as the model's
_ROUNDING = 1e-3


@dataclass(frozen=True)
class Reranking:
    """A reranking model behind its breaker; empty if there is none."""

    reranker: Reranker | None = None
    breakers: tuple[Breaker, ...] = ()


async def reranking_of(
    wanted: RerankSettings, meter: Meter, stack: AsyncExitStack, given: Reranker | None
) -> Reranking:
    """Return the reranker; ``given`` takes precedence over the configured one."""
    if given:
        inner: Reranker = CallerReranker(given)
    elif wanted.model_name:
        client = await asyncio.to_thread(ModelClient, wanted, "rerank", meter)
        stack.push_async_callback(client.close)
        inner = HttpReranker(wanted, client)
    else:
        return Reranking()
    breaker = Breaker("rerank")
    return Reranking(guarded(inner, breaker), (breaker,))


class HttpReranker:
    """Posts a query with its candidates and reads a score for each; a candidate missing from the answer gets 0."""

    def __init__(self, settings: RerankSettings, client: ModelClient, *, seconds: float = SECONDS) -> None:
        """Call one model, with a short deadline because a caller waits."""
        self._settings = settings
        self._client = client
        self._seconds = seconds

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score in [0, 1] for each text, in the order given."""
        if not texts:
            return []
        body = {
            "model": self._settings.model_name,
            "query": sendable(query, LONGEST_TEXT),
            "documents": [sendable(text, LONGEST_TEXT) for text in texts],
            "top_n": len(texts),
        }
        answer = await self._client.answer("rerank", "/rerank", body, self._seconds)
        found: dict[int, float] = {}
        for row in rows(answer.get("results")):
            found[place(row, len(texts), found)] = _score(member(row, "relevance_score"))
        return [found.get(index, 0.0) for index in range(len(texts))]


def _score(value: object) -> float:
    """Read a score; reject one outside [0, 1], such as a logit."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise BadAnswer(sentences.models.SCORE_UNUSABLE)
    if not -_ROUNDING <= value <= 1 + _ROUNDING:
        raise BadAnswer(sentences.models.SCORE_UNUSABLE)
    return min(max(float(value), 0.0), 1.0)
