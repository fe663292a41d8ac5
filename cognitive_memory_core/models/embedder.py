"""An embedding model behind an OpenAI-compatible address."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence

from ..ports.models import GUESS, Calibration, Meter, Vector
from ..settings import EmbeddingSettings
from .client import ModelClient, PostedRequest
from .metered_requests import answered, sendable
from .vectors import vectors_of

LONGEST_TEXT = 8_000  # characters; stored texts are far shorter, and most models read 8,192 tokens
_DIGEST = 8


class OpenAIEmbedder:
    """Embeds texts in one request, each after the instruction that the model expects."""

    def __init__(
        self,
        settings: EmbeddingSettings,
        client: ModelClient,
        meter: Meter,
        *,
        dimensions: int = 0,
        seconds: float = 60.0,
        query_seconds: float = 15.0,
    ) -> None:
        """Use a model whose vectors have ``dimensions`` numbers; 0 means the length of its first good answer."""
        self._settings = settings
        self._client = client
        self._meter = meter
        self._length = dimensions or settings.dimensions or 0
        self._seconds = seconds
        self._query_seconds = query_seconds

    @property
    def fingerprint(self) -> str:
        """Return a text that identifies the model, the requested dimensions and the instructions (by their digests)."""
        settings = self._settings
        parts = [settings.model_name, str(settings.dimensions or "native")]
        if settings.query_instruction:
            parts.append(f"q-{_digest(settings.query_instruction)}")
        if settings.document_instruction:
            parts.append(f"d-{_digest(settings.document_instruction)}")
        return "/".join(parts)

    @property
    def calibration(self) -> Calibration:
        """Return the default calibration for models, because this model's is not measured here."""
        return GUESS

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed documents, in one request."""
        prefixed = [self._settings.document_instruction + text for text in texts]
        return await self._vectors(prefixed, self._seconds) if texts else []

    async def embed_query(self, text: str) -> Vector:
        """Embed a query."""
        return (await self._vectors([self._settings.query_instruction + text], self._query_seconds))[0]

    async def _vectors(self, texts: Sequence[str], seconds: float) -> list[Vector]:
        question = PostedRequest("/embeddings", self._body(texts), seconds)
        answer = await answered(self._client, question, self._meter, "embedding")
        vectors = await asyncio.to_thread(vectors_of, answer, len(texts), self._length)
        self._length = self._length or len(vectors[0])
        return vectors

    def _body(self, texts: Sequence[str]) -> dict[str, object]:
        body: dict[str, object] = {
            "model": self._settings.model_name,
            "input": [sendable(text, LONGEST_TEXT) for text in texts],
            "encoding_format": "float",
        }
        if self._settings.dimensions:
            body["dimensions"] = self._settings.dimensions
        return body


def _digest(instruction: str) -> str:
    return hashlib.sha256(instruction.encode("utf-8", "replace")).hexdigest()[:_DIGEST]
