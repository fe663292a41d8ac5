"""Gives every event its vector: to the ledger first, then to the index."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from ..ports.ledger import EmbeddedEvent, EventLedger, VectorLedger, VectorRow
from ..ports.models import Embedder, Vector
from ..ports.vectors import VectorIndex
from .retry import described

log = logging.getLogger(__name__)
BATCH = 64
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0


class Indexer:
    """Embeds in batches what the ledger says is waiting; a failing embedder means waiting, never losing."""

    def __init__(self, embedder: Embedder, events: EventLedger, shelf: VectorLedger, index: VectorIndex) -> None:
        """Embed from a ledger into it and an index."""
        self._embedder = embedder
        self._events = events
        self._shelf = shelf
        self._index = index
        self._wake = asyncio.Event()
        self.last_error = ""

    def nudge(self) -> None:
        """Look for waiting events now."""
        self._wake.set()

    async def lag(self) -> int:
        """Count the events without a vector."""
        return await self._shelf.lag(self._embedder.fingerprint)

    async def run(self) -> None:
        """Index until cancelled; only cancellation escapes."""
        pause = FIRST_PAUSE
        while True:
            try:
                while await self._step():
                    pause = FIRST_PAUSE
                await self._wake.wait()
            except Exception as error:  # noqa: BLE001  # the loop runner: one bad batch must not end the indexer
                self.last_error = described(error)
                log.warning("Indexer: %s", self.last_error)
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
            self._wake.clear()

    async def _step(self) -> int:
        waiting = await self._shelf.waiting(self._embedder.fingerprint, BATCH)
        if waiting:
            vectors = await self._embedder.embed_documents([text for _, text in waiting])
            await self._keep([event_id for event_id, _ in waiting], vectors)
        return len(waiting)

    async def _keep(self, ids: Sequence[str], vectors: Sequence[Vector]) -> None:
        rows = [VectorRow(event_id, vector) for event_id, vector in zip(ids, vectors, strict=True)]
        await self._shelf.store(self._embedder.fingerprint, rows)
        by_id = dict(zip(ids, vectors, strict=True))
        standing = await self._events.fetch(ids)
        await self._index.upsert(
            [EmbeddedEvent(event, self._embedder.fingerprint, by_id[event.id]) for event in standing]
        )
