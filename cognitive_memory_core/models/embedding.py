"""Builds the embedder: the caller's, a model behind an OpenAI-compatible address, or one of this machine."""

from __future__ import annotations

import asyncio
import binascii
from array import array
from base64 import b64decode
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from .. import sentences
from ..errors import BadAnswer
from ..ports import GUESS, Calibration, Clock, Embedder, Meter, Vector
from ..settings import EmbeddingSettings, Live
from ..store.ledger import Ledger
from ..store.numpy_on_use import Scores, np
from ..tasks import BackgroundLoop
from .breaker import Breaker
from .caller_models import CallerEmbedder
from .client import EMBEDDING_LIMIT, ModelClient, member, place, rows, sendable
from .embedding_queue import EmbeddingQueue
from .local import Calibrating, LocalEmbedder, instructed, local_embedder

LONGEST_TEXT = 8_000  # characters; stored texts are far shorter, and most models read 8,192 tokens
_LARGEST = (2.0 - 2.0**-23) * 2.0**127  # of float32
_NOTHING = 1e-30  # norm below which float32 digits determine no direction
_MOST_NUMBERS = 65_536


@dataclass(frozen=True)
class Embedding:
    """The shared embedder, its breaker, and what it does in the background: being calibrated, or being loaded."""

    embedder: EmbeddingQueue
    breaker: Breaker
    local: LocalEmbedder | None = None
    loop: BackgroundLoop | None = None


async def embedding_of(
    wanted: EmbeddingSettings,
    ledger: Ledger,
    meter: Meter,
    stack: AsyncExitStack,
    *,
    clock: Clock,
    data_dir: Path,
    given: Embedder | None,
    lender: str = "",
) -> Embedding:
    """Wrap the embedder in a queue; closing ``stack`` stops the queue and fails its waiting requests.

    ``lender`` is the program whose model the settings name, for messages.
    A configured model is bound to the dimensions of its stored vectors. Its calibration is the stored one, or measured.
    """
    breaker = Breaker("embedding")
    batch_size, local = wanted.batch_size, None
    inner: Embedder
    if given is not None:
        inner = CallerEmbedder(given)
    elif wanted.model_name:
        client = await asyncio.to_thread(ModelClient, wanted, "embedding", meter, limit=EMBEDDING_LIMIT, lender=lender)
        stack.push_async_callback(client.close)
        inner = OpenAIEmbedder(wanted, client)
        inner.length = await ledger.vectors.dimensions(inner.fingerprint) or inner.length
    else:
        inner = await asyncio.to_thread(local_embedder, wanted, data_dir)
        if isinstance(inner, LocalEmbedder):
            local, batch_size = inner, min(batch_size, inner.batch)
            stack.callback(inner.close)
    current = Live(GUESS)
    queue = EmbeddingQueue(inner, clock, current, batch_size=batch_size, guard=breaker.call)
    stack.push_async_callback(queue.close)
    if local is not None:
        return Embedding(queue, breaker, local, local.loop)
    calibrating = Calibrating(queue, ledger.housekeeping, current)
    is_known = inner.calibration is not GUESS or await calibrating.recall()
    return Embedding(queue, breaker, loop=None if is_known else calibrating.loop)


class OpenAIEmbedder:
    """Embeds texts in one request, each after the instruction that the model expects."""

    def __init__(
        self,
        settings: EmbeddingSettings,
        client: ModelClient,
        *,
        dimensions: int = 0,
        seconds: float = 60.0,
        query_seconds: float = 15.0,
    ) -> None:
        """Use a model whose vectors have ``dimensions`` numbers; 0 means the length of its first good answer."""
        self.name = settings.model_name
        self.fingerprint = instructed(f"{settings.model_name}/{settings.dimensions or 'native'}", settings)
        self.calibration: Calibration = GUESS  # measured by others
        self._settings = settings
        self._client = client
        self.length = dimensions or settings.dimensions or 0
        self._seconds = seconds
        self._query_seconds = query_seconds

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed documents, in one request."""
        prefixed = [self._settings.document_instruction + text for text in texts]
        return await self._vectors(prefixed, self._seconds) if texts else []

    async def embed_query(self, text: str) -> Vector:
        """Embed a query."""
        return (await self._vectors([self._settings.query_instruction + text], self._query_seconds))[0]

    async def _vectors(self, texts: Sequence[str], seconds: float) -> list[Vector]:
        body: dict[str, object] = {
            "model": self._settings.model_name,
            "input": [sendable(text, LONGEST_TEXT) for text in texts],
            "encoding_format": "float",
        }
        if self._settings.dimensions:
            body["dimensions"] = self._settings.dimensions
        answer = await self._client.answer("embedding", "/embeddings", body, seconds)
        vectors = await asyncio.to_thread(_read, answer, len(texts), self.length)
        self.length = self.length or len(vectors[0])
        return vectors


def _read(answer: Mapping[str, Any], count: int, length: int) -> list[Vector]:
    """Return ``count`` unit vectors in the order of the inputs, all of one length (``length``, if that is not 0).

    Raises BadAnswer for anything doubtful, such as NaN, a number too large for float32, or a near-zero vector.
    """
    found: dict[int, Scores] = {}
    items = rows(answer.get("data"))
    if len(items) != count:
        raise BadAnswer(sentences.models.TOO_FEW_VECTORS.format(given=len(items), wanted=count))
    for item in items:
        at, written = place(item, count, found), member(item, "embedding")
        try:
            if isinstance(written, str):
                found[at] = np.frombuffer(b64decode(written, validate=True), "<f4").astype(np.float64)
            else:
                numbers = cast("Sequence[float]", rows(written))
                if bool in set(map(type, numbers)):  # bool is a subclass of int
                    raise BadAnswer(sentences.models.VECTOR_UNUSABLE)
                found[at] = np.frombuffer(array("d", numbers), np.float64)
        except (binascii.Error, ValueError, TypeError, OverflowError):
            raise BadAnswer(sentences.models.VECTOR_UNUSABLE) from None
    wanted, vectors = length or len(found[0]), list[Vector]()
    for index in range(count):
        numbers = found[index]
        if len(numbers) != wanted:
            raise BadAnswer(sentences.models.WRONG_DIMENSIONS.format(given=len(numbers), wanted=wanted))
        if not 0 < wanted <= _MOST_NUMBERS or not np.isfinite(numbers).all() or np.abs(numbers).max() > _LARGEST:
            raise BadAnswer(sentences.models.VECTOR_UNUSABLE)
        norm = float(np.linalg.norm(numbers))
        if norm < _NOTHING:
            raise BadAnswer(sentences.models.VECTOR_UNUSABLE)
        vectors.append(array("f", (numbers / norm).astype(np.float32).tobytes()))
    return vectors
