"""A reranking model of Jina's or Cohere's form."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .. import sentences
from ..errors import BadAnswer
from ..ports.models import Meter
from ..settings import RerankSettings
from .client import ModelClient, PostedRequest
from .json_access import member, place, rows
from .metered_requests import answered, sendable

LONGEST_TEXT = 8_000  # characters
SECONDS = 4.0  # shorter than a query waits, so that a timeout is seen as the model's
_ROUNDING = 1e-3


class HttpReranker:
    """Posts a query with its candidates and reads a score for each; a candidate missing from the answer gets 0."""

    def __init__(
        self, settings: RerankSettings, client: ModelClient, meter: Meter, *, seconds: float = SECONDS
    ) -> None:
        """Call one model, with a short deadline because a caller waits."""
        self._settings = settings
        self._client = client
        self._meter = meter
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
        answer = await answered(self._client, PostedRequest("/rerank", body, self._seconds), self._meter, "rerank")
        return _scores(answer, len(texts))


def _scores(answer: Mapping[str, Any], count: int) -> list[float]:
    found: dict[int, float] = {}
    for row in rows(answer.get("results")):
        found[place(row, count, found)] = _score(member(row, "relevance_score"))
    return [found.get(index, 0.0) for index in range(count)]


def _score(value: object) -> float:
    """Read a score; reject one outside [0, 1], such as a logit."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise BadAnswer(sentences.models.SCORE_UNUSABLE)
    if not -_ROUNDING <= value <= 1 + _ROUNDING:
        raise BadAnswer(sentences.models.SCORE_UNUSABLE)
    return min(max(float(value), 0.0), 1.0)
