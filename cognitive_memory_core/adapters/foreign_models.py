"""Models that somebody else wrote, held to their ports: our errors, our form of vectors, within a time."""

from __future__ import annotations

import asyncio
import math
from array import array
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from .. import sentences
from ..errors import BadAnswer, CognitiveMemoryError, UnavailableError
from ..ports.models import Ask, Calibration, Chat, Embedder, Vector

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
        vectors = await _embedded(self._embedder.embed_documents(texts))
        if len(vectors) != len(texts):
            raise BadAnswer(sentences.too_few_vectors(len(vectors), len(texts)))
        return [_vector(numbers) for numbers in vectors]

    async def embed_query(self, text: str) -> Vector:
        """Embed what is asked."""
        return _vector(await _embedded(self._embedder.embed_query(text)))


class ForeignChat:
    """Turns whatever a chat model raises into our errors."""

    def __init__(self, chat: Chat, seconds: float) -> None:
        """Stand round a chat model, whose answers may take so many seconds."""
        self._chat = chat
        self._seconds = seconds

    async def ask(self, ask: Ask[T]) -> T:
        """Give the parsed answer."""
        return await _translated(self._chat.ask(ask), self._seconds, sentences.chat_failed)


async def _embedded(answer: Awaitable[T]) -> T:
    return await _translated(answer, SECONDS, sentences.embedder_failed)


async def _translated(answer: Awaitable[T], seconds: float, said: Callable[[str], str]) -> T:
    try:
        return await asyncio.wait_for(answer, seconds)
    except CognitiveMemoryError:
        raise
    except FAILURES as failure:
        raise UnavailableError(said(type(failure).__name__)) from failure


def _vector(numbers: Sequence[float]) -> Vector:
    try:
        vector = array("f", numbers)
    except (TypeError, OverflowError) as unfit:
        raise BadAnswer(sentences.embedder_failed(type(unfit).__name__)) from unfit
    length = math.hypot(*vector)
    if not length or not math.isfinite(length):
        raise BadAnswer(sentences.embedder_failed("no direction"))
    return vector
