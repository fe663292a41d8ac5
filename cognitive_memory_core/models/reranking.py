"""Builds the reranker: the caller's, a configured model of Jina's or Cohere's form, one of this machine, or none."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from .. import sentences
from ..errors import UnavailableError
from ..ports import Count, Reranker
from ..settings.schema import RerankSettings
from ..tasks import BackgroundLoop
from . import fastembed_models
from .breaker import Breaker
from .caller_models import caller_scores, score_of
from .client import ModelClient, member, opened_client, place, rows, sendable
from .local import LocalModel

log = logging.getLogger(__name__)
LONGEST_TEXT = 8_000  # characters
SECONDS = 4.0  # shorter than a query waits, so that a timeout is seen as the model's
LOADED_AFTER = 6.0  # seconds after the start, a second after the embedder
_ROUNDING = 1e-3
Score = Callable[[str, Sequence[str]], list[float]]


async def reranking_of(
    wanted: RerankSettings,
    count: Count,
    stack: AsyncExitStack,
    *,
    data_dir: Path,
    given: Reranker | None,
    lender: str = "",
) -> Reranking | None:
    """Return the reranker; ``given`` takes precedence over the configured one, and that over one of this machine.

    ``lender`` is the program whose model the settings name, for messages.
    """
    if given:
        return Reranking(partial(caller_scores, given))
    if wanted.model_name:
        client = await opened_client(wanted, "rerank", count, stack, lender=lender)
        return Reranking(partial(http_scores, wanted.model_name, client))
    if not wanted.local:
        return None
    folder = fastembed_models.folder_of(wanted.local, wanted.local_path, data_dir)
    if refusal := await asyncio.to_thread(fastembed_models.refusal, wanted.local, folder):
        log.warning("%s", sentences.log.LOCAL_RERANKER_REFUSED.format(name=wanted.local, reason=refusal))
        return None
    refusal = sentences.models.LOCAL_RERANKER_FAILED.replace("{name}", wanted.local)
    load = partial(fastembed_models.cross_encoder, wanted.local, folder)
    model = LocalModel("reranker", load, after=LOADED_AFTER, refusal=refusal)
    stack.callback(model.close)
    return Reranking(partial(local_scores, model), model.loop)


class Reranking:
    """A reranking model behind its breaker, and what loads it in the background."""

    def __init__(
        self, score: Callable[[str, Sequence[str]], Awaitable[list[float]]], loop: BackgroundLoop | None = None
    ) -> None:
        """Guard the function that asks the model."""
        self.breaker, self.loop, self._score = Breaker("rerank"), loop, score

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score in [0, 1] for each text; raises as the model does, or at once while the breaker is open."""
        return await self.breaker.call(lambda: self._score(query, texts))


async def http_scores(
    name: str, client: ModelClient, query: str, texts: Sequence[str], *, seconds: float = SECONDS
) -> list[float]:
    """Post a query with its candidates and return a score for each; one that is missing in the answer gets 0."""
    if not texts:
        return []
    body = {
        "model": name,
        "query": sendable(query, LONGEST_TEXT),
        "documents": [sendable(text, LONGEST_TEXT) for text in texts],
        "top_n": len(texts),
    }
    answer = await client.answer("rerank", "/rerank", body, seconds)
    found: dict[int, float] = {}
    for row in rows(answer.get("results")):
        found[place(row, len(texts), found)] = score_of(member(row, "relevance_score"), _ROUNDING)
    return [found.get(index, 0.0) for index in range(len(texts))]


async def local_scores(
    model: LocalModel[Score], query: str, texts: Sequence[str], *, seconds: float = SECONDS
) -> list[float]:
    """Score by a cross-encoder of this machine; raises UnavailableError, Busy while it loads."""
    score = model.ready()
    query, *cut = (sendable(text, fastembed_models.LONGEST_TEXT) for text in (query, *texts))
    try:
        return await asyncio.wait_for(model.run(lambda: score(query, cut), sentences.models.RERANKER_FAILED), seconds)
    except asyncio.TimeoutError:
        raise UnavailableError(sentences.models.TOO_SLOW.format(seconds=seconds)) from None
