"""Who embeds, and how its cosines are read: the model that is set, the one that was given, or the local one."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..adapters.breaker import Breaker
from ..adapters.embedding import EmbeddingQueue
from ..adapters.foreign_models import ForeignEmbedder
from ..adapters.offline.hashing import HashingEmbedder
from ..adapters.sqlite import SqliteLedger
from ..ports.ambient import Clock
from ..ports.models import GUESS, Calibration, Embedder, Meter
from ..recall.calibration import Calibrating
from ..settings import EmbeddingSettings, Live, Settings

if TYPE_CHECKING:
    from ..adapters.openai.client import ModelClient
    from ..adapters.openai.embedder import OpenAIEmbedder


@dataclass(frozen=True)
class Embedding:
    """The one embedder that everybody asks, the breaker round its questions, and who measures it where that is due."""

    embedder: EmbeddingQueue
    breaker: Breaker
    calibrating: Calibrating | None


async def embedding_of(
    settings: Settings,
    ledger: SqliteLedger,
    meter: Meter,
    stack: AsyncExitStack,
    *,
    clock: Clock,
    given: Embedder | None,
) -> Embedding:
    """Put a queue before the embedder; when the stack is closed whoever waits hears so, and nothing runs."""
    wanted, breaker = settings.models.embedding, Breaker("embedding")
    inner = ForeignEmbedder(given) if given else await _chosen(wanted, ledger, meter, stack)
    is_known = inner.calibration.is_usable and (given is not None or not wanted.model_name)
    current = Live(inner.calibration if is_known else GUESS)
    queue = EmbeddingQueue(inner, clock, current, batch_size=wanted.batch_size, guard=breaker.call)
    stack.push_async_callback(queue.close)
    return Embedding(queue, breaker, None if is_known else await _calibrating(queue, ledger, current))


async def _calibrating(queue: EmbeddingQueue, ledger: SqliteLedger, current: Live[Calibration]) -> Calibrating | None:
    """Put in force what was measured before; give who will measure where nothing was."""
    calibrating = Calibrating(queue, ledger.calibrations, current)
    return None if await calibrating.recall() else calibrating


async def _chosen(wanted: EmbeddingSettings, ledger: SqliteLedger, meter: Meter, stack: AsyncExitStack) -> Embedder:
    """Give the embedding model that is set, held to the length of the vectors it gave before, or the local one."""
    if not wanted.model_name:
        return HashingEmbedder()
    client, make = await asyncio.to_thread(_model, wanted)
    stack.push_async_callback(client.close)
    fingerprint = make(wanted, client, meter).fingerprint
    return make(wanted, client, meter, dimensions=await ledger.shelf.dimensions(fingerprint))


def _model(wanted: EmbeddingSettings) -> tuple[ModelClient, type[OpenAIEmbedder]]:
    """Import what takes half a second, and read certificates, only where a model is set; call it in a thread."""
    from ..adapters.openai.client import EMBEDDING_LIMIT, ModelClient  # noqa: PLC0415  # see above
    from ..adapters.openai.embedder import OpenAIEmbedder  # noqa: PLC0415  # see above

    return ModelClient(wanted, "embedding", limit=EMBEDDING_LIMIT), OpenAIEmbedder
