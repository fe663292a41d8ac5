"""Embeds the statements of active beliefs."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..domain.belief import Belief
from ..errors import BadAnswer, BadArgument, PermanentError
from ..ports.models import Embedder
from ..store.beliefs import BeliefBook
from ..tasks import BackgroundLoop

BATCH = 32
SKIPPED_FOR = 3600.0  # seconds until a refused statement is tried again
REFUSALS = (PermanentError, BadAnswer, BadArgument)


class BeliefIndexer:
    """Embeds the beliefs that have no vector, in batches; a belief that the model refused is retried after an hour."""

    def __init__(
        self, vectors: BeliefBook, embedder: Embedder, *, elapsed: Callable[[], float] = time.monotonic
    ) -> None:
        """Create an indexer of the beliefs of a ledger; ``elapsed`` returns seconds of a monotonic clock."""
        self._vectors = vectors
        self._embedder = embedder
        self._elapsed = elapsed
        self._refused: dict[str, float] = {}  # ids, left alone until this time
        self.loop = BackgroundLoop("belief index", self._round)
        self.nudge, self.wake_now = self.loop.nudge, self.loop.wake_now

    async def has_lag(self) -> bool:
        """Return whether any active belief has no vector yet."""
        return bool(await self._batch())

    async def step(self) -> int:
        """Embed one batch of beliefs; return the size of the batch."""
        batch = await self._batch()
        if batch:
            try:
                vectors = await self._embedder.embed_documents([one.statement for one in batch])
                for belief, vector in zip(batch, vectors, strict=True):
                    await self._vectors.store(self._embedder.fingerprint, belief, vector)
            except REFUSALS:
                await self._each(batch)
        return len(batch)

    async def _round(self) -> float:
        return 0.0 if await self.step() >= BATCH else SKIPPED_FOR

    async def _each(self, batch: list[Belief]) -> None:
        for belief in batch:
            try:
                (vector,) = await self._embedder.embed_documents([belief.statement])
                await self._vectors.store(self._embedder.fingerprint, belief, vector)
            except REFUSALS:
                self._refused[belief.id] = self._elapsed() + SKIPPED_FOR

    async def _batch(self) -> list[Belief]:
        now = self._elapsed()
        self._refused = {one: until for one, until in self._refused.items() if until > now}
        waiting = await self._vectors.waiting(self._embedder.fingerprint, BATCH + len(self._refused))
        return [one for one in waiting if one.id not in self._refused][:BATCH]
