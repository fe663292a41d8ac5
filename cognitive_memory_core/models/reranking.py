"""Builds the reranker: the caller's, a configured model of Jina's or Cohere's form, one of this machine, or none."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from .. import sentences
from ..errors import UnavailableError
from ..ports import Meter, Reranker
from ..settings.schema import RerankSettings
from ..tasks import BackgroundLoop
from . import fastembed_models
from .breaker import Breaker
from .caller_models import CallerReranker, score_of
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
    meter: Meter,
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
        return Reranking(CallerReranker(given))
    if wanted.model_name:
        return Reranking(HttpReranker(wanted, await opened_client(wanted, "rerank", meter, stack, lender=lender)))
    if not wanted.local:
        return None
    folder = fastembed_models.folder_of(wanted.local, wanted.local_path, data_dir)
    if refusal := await asyncio.to_thread(fastembed_models.refusal, wanted.local, folder):
        log.warning("%s", sentences.log.LOCAL_RERANKER_REFUSED.format(name=wanted.local, reason=refusal))
        return None
    local = LocalReranker(wanted.local, partial(fastembed_models.cross_encoder, wanted.local, folder))
    stack.callback(local.close)
    return Reranking(local, local.loop)


class Reranking:
    """A reranking model behind its breaker, and what loads it in the background."""

    def __init__(self, model: Reranker, loop: BackgroundLoop | None = None) -> None:
        """Guard a model."""
        self.breaker, self.loop, self._model = Breaker("rerank"), loop, model

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score in [0, 1] for each text; raises as the model does, or at once while the breaker is open."""
        return await self.breaker.call(lambda: self._model.scores(query, texts))


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
            found[place(row, len(texts), found)] = score_of(member(row, "relevance_score"), _ROUNDING)
        return [found.get(index, 0.0) for index in range(len(texts))]


class LocalReranker:
    """Scores by a cross-encoder of this machine."""

    def __init__(self, name: str, load: Callable[[], Score], *, seconds: float = SECONDS) -> None:
        """Use the model that ``load`` returns; an answer that takes longer than ``seconds`` is not waited for."""
        refusal = sentences.models.LOCAL_RERANKER_FAILED.replace("{name}", name)
        self._model = LocalModel("reranker", load, after=LOADED_AFTER, refusal=refusal)
        self.loop, self.load, self.close = self._model.loop, self._model.load, self._model.close
        self._seconds = seconds

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score in [0, 1] for each text, in the order given; raises UnavailableError, Busy while it loads."""
        model = self._model.ready()
        query, *cut = (sendable(text, fastembed_models.LONGEST_TEXT) for text in (query, *texts))
        try:
            scoring = self._model.run(lambda: model(query, cut), sentences.models.RERANKER_FAILED)
            return await asyncio.wait_for(scoring, self._seconds)
        except asyncio.TimeoutError:
            raise UnavailableError(sentences.models.TOO_SLOW.format(seconds=self._seconds)) from None
