"""The embedder behind one queue: the caller's, a model behind an OpenAI-compatible address, or one of this machine."""

from __future__ import annotations

import asyncio
import logging
from base64 import b64decode
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

from .. import sentences
from ..errors import BadAnswer
from ..ports import GUESS, Calibration, Count, Embedder, Vector
from ..settings.schema import EmbeddingSettings
from ..store.ledger import Housekeeping, Ledger
from ..tasks import UNTIL_NUDGED, BackgroundLoop, with_timeout
from .breaker import Breaker
from .caller_models import CallerEmbedder
from .client import EMBEDDING_LIMIT, ModelClient, member, opened_client, place, rows, sendable, unit_of
from .local import LocalEmbedder, calibration_of, instructed, local_embedder, shipped

log = logging.getLogger(__name__)
LONGEST_WAIT = 10.0  # seconds; background texts continue even while queries never stop
LONGEST_PAUSE = 3600.0  # seconds between two attempts to calibrate
LONGEST_TEXT = 8_000  # characters; stored texts are far shorter, and most models read 8,192 tokens


async def embedding_of(
    wanted: EmbeddingSettings,
    ledger: Ledger,
    count: Count,
    stack: AsyncExitStack,
    *,
    data_dir: Path,
    given: Embedder | None,
    lender: str = "",
) -> EmbeddingQueue:
    """Return the embedder of the settings, or the ``given`` one; what it holds open is closed with the ``stack``.

    ``lender`` is the program whose model the settings name, for messages.
    A configured model is bound to the dimensions of its stored vectors. Its calibration is the stored one, or measured.
    """
    if given is not None:
        inner: Embedder = CallerEmbedder(given)
    elif wanted.model_name:
        client = await opened_client(wanted, "embedding", count, stack, limit=EMBEDDING_LIMIT, lender=lender)
        inner = OpenAIEmbedder(wanted, client)
        inner.length = await ledger.vectors.dimensions(inner.fingerprint) or inner.length
    else:
        inner = await asyncio.to_thread(local_embedder, wanted, data_dir)
        if isinstance(inner, LocalEmbedder):
            stack.callback(inner.close)
    queue = EmbeddingQueue(inner, ledger.housekeeping, batch_size=wanted.batch_size)
    await queue.recall_calibration()
    return queue


class EmbeddingQueue:
    """The only path to an embedder: queries go at once, and batches of background texts one by one while none is asked.

    Only queries go through the breaker: a background text that always fails must not make it refuse queries, and
    background callers pause by themselves.
    """

    def __init__(self, embedder: Embedder, book: Housekeeping, *, batch_size: int = 64) -> None:
        """Wrap an embedder; a calibration that is measured is stored in ``book``."""
        self.fingerprint = embedder.fingerprint
        self.name: str = getattr(embedder, "name", embedder.fingerprint)
        self.breaker = Breaker("embedding")
        self.loop: BackgroundLoop | None = None  # loads or calibrates the model
        self._embedder = embedder
        self._book = book
        self._batch_size = batch_size
        self._measured: Calibration | None = None
        self._queries = 0
        self._is_quiet = asyncio.Event()
        self._is_quiet.set()
        self._turn = asyncio.Lock()
        if isinstance(embedder, LocalEmbedder):
            self._batch_size, self.loop = min(batch_size, embedder.batch), embedder.loop

    @property
    def calibration(self) -> Calibration:
        """The distribution of the embedder's cosines as the embedder states it, or as it was measured."""
        stated, found = self._embedder.calibration, self._measured
        return found if stated is GUESS and found and found.is_usable else stated

    async def load(self) -> None:
        """Load a model of this machine; raises UnavailableError."""
        if isinstance(self._embedder, LocalEmbedder):
            await self._embedder.load()

    async def embed_query(self, text: str) -> Vector:
        """Embed a query; raises UnavailableError, BadAnswer or PermanentError."""
        self._queries += 1
        self._is_quiet.clear()
        try:
            return await self.breaker.call(partial(self._embedder.embed_query, text))
        finally:
            self._queries -= 1
            if not self._queries:
                self._is_quiet.set()

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed documents in batches; raises what the embedder raises."""
        vectors: list[Vector] = []
        for at in range(0, len(texts), self._batch_size):
            async with self._turn:
                with suppress(asyncio.TimeoutError):
                    await with_timeout(LONGEST_WAIT, self._is_quiet.wait())
                vectors += await self._embedder.embed_documents(texts[at : at + self._batch_size])
        return vectors

    async def recall_calibration(self) -> None:
        """Use the stored calibration; without one, measure it in the background unless the embedder states its own."""
        if self._embedder.calibration is GUESS and self.loop is None:
            self._measured = await self._book.calibration(self.fingerprint)
            if self._measured is None:
                self.loop = BackgroundLoop("calibration", self._calibrated, longest_pause=LONGEST_PAUSE)

    async def _calibrated(self) -> float:
        """Embed the pairs as in a search, apply and store the result; a failed attempt costs one call.

        An unusable result is stored too, so that it is not measured again, and logged once.
        """
        if self._measured is None:  # else only storing it failed
            pairs = await asyncio.to_thread(shipped)
            statements = await self.embed_documents([pair.statement for pair in pairs])
            questions = [await self.embed_query(pair.question) for pair in pairs]
            self._measured = found = await asyncio.to_thread(calibration_of, pairs, questions, statements)
            if not found.is_usable:
                told = sentences.log.MODEL_TELLS_NOTHING
                log.warning("%s", told.format(unrelated=found.unrelated, paraphrase=found.paraphrase))
        await self._book.keep_calibration(self.fingerprint, self._measured)
        return UNTIL_NUDGED


class OpenAIEmbedder:
    """Embeds texts in one request, each after the instruction that the model expects."""

    def __init__(
        self,
        settings: EmbeddingSettings,
        client: ModelClient,
        *,
        seconds: float = 60.0,
        query_seconds: float = 15.0,
    ) -> None:
        """Use a model; its vectors must have ``length`` numbers, which is 0 until its first good answer tells."""
        self.name = settings.model_name
        self.fingerprint = instructed(f"{settings.model_name}/{settings.dimensions or 'native'}", settings)
        self.calibration: Calibration = GUESS  # measured by others
        self._settings = settings
        self._client = client
        self.length = settings.dimensions or 0
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

    Raises BadAnswer for anything doubtful.
    """
    found: dict[int, Vector] = {}
    items = rows(answer.get("data"))
    if len(items) != count:
        raise BadAnswer(sentences.models.TOO_FEW_VECTORS.format(given=len(items), wanted=count))
    for item in items:
        at, written = place(item, count, found), member(item, "embedding")
        numbers: Any = written
        if isinstance(written, str):
            with suppress(ValueError):  # what is no base64 is no vector either
                numbers = b64decode(written, validate=True)
        elif bool in set(map(type, rows(written))):  # bool is a subclass of int
            numbers = ()
        found[at] = unit_of(numbers, length)
        length = len(found[at])
    return [found[index] for index in range(count)]
