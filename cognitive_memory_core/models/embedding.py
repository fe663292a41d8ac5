"""Builds the embedder and its calibration: the caller's embedder, the configured model, or the local one."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..ports.clock import Clock
from ..ports.models import GUESS, Calibration, Embedder, Meter
from ..settings import EmbeddingSettings, Live, Settings
from ..store.ledger import Ledger
from .breaker import Breaker
from .calibration import Calibrating
from .caller_models import CallerEmbedder
from .embedding_queue import EmbeddingQueue
from .hashing import HashingEmbedder

if TYPE_CHECKING:
    from .client import ModelClient
    from .embedder import OpenAIEmbedder


@dataclass(frozen=True)
class Embedding:
    """The shared embedder, its breaker, and its calibration task if one is due."""

    embedder: EmbeddingQueue
    breaker: Breaker
    calibrating: Calibrating | None


async def embedding_of(
    settings: Settings,
    ledger: Ledger,
    meter: Meter,
    stack: AsyncExitStack,
    *,
    clock: Clock,
    given: Embedder | None,
) -> Embedding:
    """Wrap the embedder in a queue; closing ``stack`` stops the queue and fails its waiting requests."""
    wanted, breaker = settings.models.embedding, Breaker("embedding")
    inner = CallerEmbedder(given) if given else await _chosen(wanted, ledger, meter, stack)
    is_known = inner.calibration.is_usable and (given is not None or not wanted.model_name)
    current = Live(inner.calibration if is_known else GUESS)
    queue = EmbeddingQueue(inner, clock, current, batch_size=wanted.batch_size, guard=breaker.call)
    stack.push_async_callback(queue.close)
    return Embedding(queue, breaker, None if is_known else await _calibrating(queue, ledger, current))


async def _calibrating(queue: EmbeddingQueue, ledger: Ledger, current: Live[Calibration]) -> Calibrating | None:
    """Apply the stored calibration; if none is stored, return the task that measures one."""
    calibrating = Calibrating(queue, ledger.calibrations, current)
    return None if await calibrating.recall() else calibrating


async def _chosen(wanted: EmbeddingSettings, ledger: Ledger, meter: Meter, stack: AsyncExitStack) -> Embedder:
    """Return the configured model, bound to the dimensions of its stored vectors, or the local one if none is set."""
    if not wanted.model_name:
        return HashingEmbedder()
    client, make = await asyncio.to_thread(_model, wanted)
    stack.push_async_callback(client.close)
    fingerprint = make(wanted, client, meter).fingerprint
    return make(wanted, client, meter, dimensions=await ledger.vectors.dimensions(fingerprint))


def _model(wanted: EmbeddingSettings) -> tuple[ModelClient, type[OpenAIEmbedder]]:
    """Build a client; call it in a thread and only if needed: imports and certificates take half a second."""
    from .client import EMBEDDING_LIMIT, ModelClient  # noqa: PLC0415  # see above
    from .embedder import OpenAIEmbedder  # noqa: PLC0415  # see above

    return ModelClient(wanted, "embedding", limit=EMBEDDING_LIMIT), OpenAIEmbedder
