"""An embedder that somebody else wrote, held to the port: our errors, our form of vectors, within a time."""

from __future__ import annotations

import asyncio
import math
from array import array
from collections.abc import Awaitable, Sequence
from typing import TypeVar

from .. import sentences
from ..errors import BadAnswer, CognitiveMemoryError, UnavailableError
from ..ports.models import Calibration, Embedder, Vector

SECONDS = 30.0
FAILURES = (
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    asyncio.TimeoutError,
)
T = TypeVar("T")


class ForeignEmbedder:
    """Turns whatever an embedder raises into our errors, and whatever numbers it answers into usable vectors."""

    def __init__(self, embedder: Embedder) -> None:
        """Stand round an embedder."""
        self._embedder = embedder

    @property
    def fingerprint(self) -> str:
        """The embedder's own."""
        return self._embedder.fingerprint

    @property
    def calibration(self) -> Calibration:
        """The embedder's own."""
        return self._embedder.calibration

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed what is to be found; as many vectors as texts, or BadAnswer."""
        vectors = await _translated(self._embedder.embed_documents(texts))
        if len(vectors) != len(texts):
            raise BadAnswer(sentences.too_few_vectors(len(vectors), len(texts)))
        return [_vector(numbers) for numbers in vectors]

    async def embed_query(self, text: str) -> Vector:
        """Embed what is asked."""
        return _vector(await _translated(self._embedder.embed_query(text)))


async def _translated(answer: Awaitable[T]) -> T:
    try:
        return await asyncio.wait_for(answer, SECONDS)
    except CognitiveMemoryError:
        raise
    except FAILURES as failure:
        raise UnavailableError(sentences.embedder_failed(type(failure).__name__)) from failure


def _vector(numbers: Sequence[float]) -> Vector:
    try:
        vector = array("f", numbers)
    except (TypeError, OverflowError) as unfit:
        raise BadAnswer(sentences.embedder_failed(type(unfit).__name__)) from unfit
    length = math.hypot(*vector)
    if not length or not math.isfinite(length):
        raise BadAnswer(sentences.embedder_failed("no direction"))
    return vector
