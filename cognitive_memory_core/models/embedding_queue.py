"""An embedder behind one queue, so that interactive queries never wait for background texts."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from ..ports.clock import Clock
from ..ports.models import Calibration, Embedder, Vector
from ..settings import Live
from .batches import Batches
from .query_sender import QuerySender

Guard = Callable[[Callable[[], Awaitable[Vector]]], Awaitable[Vector]]


async def unguarded(act: Callable[[], Awaitable[Vector]]) -> Vector:
    """Call ``act`` without a guard."""
    return await act()


class EmbeddingQueue:
    """Gives queries precedence over batches of texts; equal queries share one call and its answer for a minute.

    Only queries go through the ``guard`` (a breaker's call): a background text that always fails must not make the
    breaker refuse queries, and background callers pause by themselves.
    """

    def __init__(
        self,
        embedder: Embedder,
        clock: Clock,
        calibration: Live[Calibration],
        *,
        batch_size: int = 64,
        guard: Guard = unguarded,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        """Wrap an embedder; ``calibration`` holds the distribution of its cosines."""
        self.fingerprint: str = embedder.fingerprint
        self._calibration = calibration
        self._questions = QuerySender(lambda text: guard(lambda: embedder.embed_query(text)), clock)
        is_quiet = self._questions.is_quiet
        self._batches = Batches(embedder.embed_documents, batch_size, is_quiet, elapsed=elapsed)
        self._background_queries = Batches(self._embed_each, 1, is_quiet, elapsed=elapsed)
        self._embedder = embedder

    @property
    def calibration(self) -> Calibration:
        """Return the distribution of the embedder's cosines, as far as it is known."""
        return self._calibration.current

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed documents; raises what the embedder raises, and UnavailableError once the queue is closed."""
        return await self._batches.vectors(texts)

    async def embed_query(self, text: str) -> Vector:
        """Embed a query; raises as :meth:`embed_documents`. Cancelling one caller leaves a shared call running."""
        return await self._questions.vector(text)

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Embed queries of background work in batches, without the breaker; raises as :meth:`embed_documents`."""
        return await self._background_queries.vectors(texts)

    async def close(self) -> None:
        """Fail all waiting callers, cancel running calls, and refuse later ones."""
        await self._batches.close()
        await self._background_queries.close()
        await self._questions.close()

    async def _embed_each(self, texts: Sequence[str]) -> list[Vector]:
        return [await self._embedder.embed_query(text) for text in texts]
