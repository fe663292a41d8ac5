"""An embedder behind one queue, so that whoever waits for an answer waits for nobody who does not."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from ...ports.ambient import Clock
from ...ports.models import Calibration, Embedder, Vector
from ...settings import Live
from .batches import Batches
from .questions import Questions

Guard = Callable[[Callable[[], Awaitable[Vector]]], Awaitable[Vector]]


async def unguarded(act: Callable[[], Awaitable[Vector]]) -> Vector:
    """Let anything act."""
    return await act()


class EmbeddingQueue:
    """Questions go at once, past every batch that has not set out; equal ones are one call, for a minute.

    Only questions go through the ``guard`` (a breaker's call): a text that always fails must not keep them away, and
    whoever embeds in the background waits by himself.
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
        """Stand before an embedder, whose cosines lie where ``calibration`` says by now."""
        self.fingerprint: str = embedder.fingerprint
        self._calibration = calibration
        self._questions = Questions(lambda text: guard(lambda: embedder.embed_query(text)), clock)
        is_quiet = self._questions.is_quiet
        self._batches = Batches(embedder.embed_documents, batch_size, is_quiet, elapsed=elapsed)
        self._unhurried = Batches(self._each, 1, is_quiet, elapsed=elapsed)
        self._embedder = embedder

    @property
    def calibration(self) -> Calibration:
        """Say where its cosines lie, as far as that is known."""
        return self._calibration.current

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed what is to be found; raises as any Embedder, and UnavailableError to those who wait when it closes."""
        return await self._batches.vectors(texts)

    async def embed_query(self, text: str) -> Vector:
        """Embed what is asked, as :meth:`embed_documents`; a caller that is cancelled leaves the call to the others."""
        return await self._questions.vector(text)

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Embed questions that nobody waits for, behind all others and past the guard; raises as the others."""
        return await self._unhurried.vectors(texts)

    async def close(self) -> None:
        """Tell whoever waits that nobody answers any more; nothing runs afterwards, and nobody is asked again."""
        await self._batches.close()
        await self._unhurried.close()
        await self._questions.close()

    async def _each(self, texts: Sequence[str]) -> list[Vector]:
        return [await self._embedder.embed_query(text) for text in texts]
