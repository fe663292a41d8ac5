"""Models that somebody else wrote, held to their ports: our errors, our form of vectors, within a time."""

from __future__ import annotations

import asyncio
import math
from array import array
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar

from .. import sentences
from ..background import seen
from ..errors import BadAnswer, CognitiveMemoryError, UnavailableError
from ..ports.models import GUESS, Ask, Calibration, Chat, Embedder, Reranker, Vector

SECONDS = 30.0
RERANK_SECONDS = 4.0  # somebody waits for the answer, and not much longer
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
_abandoned: set[asyncio.Future[Any]] = set()  # still at it, though nobody waits; the event loop holds tasks weakly


class CancelledFromWithin(RuntimeError):
    """A model raised CancelledError though nobody had cancelled the call."""


class ForeignEmbedder:
    """Turns whatever an embedder raises into our errors, and whatever numbers it answers into usable vectors."""

    def __init__(self, embedder: Embedder) -> None:
        """Stand round an embedder."""
        self._embedder = embedder
        self.fingerprint: str = embedder.fingerprint
        self.calibration: Calibration = getattr(embedder, "calibration", GUESS)

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed what is to be found; as many vectors as texts, or BadAnswer."""
        answer = await _embedded(lambda: self._embedder.embed_documents(texts))
        vectors = _listed(answer, sentences.embedder_failed)
        if len(vectors) != len(texts):
            raise BadAnswer(sentences.too_few_vectors(len(vectors), len(texts)))
        return [_vector(numbers) for numbers in vectors]

    async def embed_query(self, text: str) -> Vector:
        """Embed what is asked."""
        return _vector(await _embedded(lambda: self._embedder.embed_query(text)))


class ForeignReranker:
    """Turns whatever a reranker raises into our errors, and whatever it answers into a score for each text."""

    def __init__(self, reranker: Reranker) -> None:
        """Stand round a reranker."""
        self._reranker = reranker

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Give a score in [0, 1] for each text, or BadAnswer."""
        if not texts:
            return []
        said = sentences.reranker_failed
        answer = await _translated(lambda: self._reranker.scores(query, texts), RERANK_SECONDS, said)
        scores = _listed(answer, said)
        if len(scores) != len(texts):
            raise BadAnswer(said(f"{len(scores)} / {len(texts)}"))
        return [_score(score) for score in scores]


class ForeignChat:
    """Turns whatever a chat model raises into our errors."""

    def __init__(self, chat: Chat, seconds: float) -> None:
        """Stand round a chat model, whose answers may take so many seconds."""
        self._chat = chat
        self._seconds = seconds

    async def ask(self, ask: Ask[T]) -> T:
        """Give the parsed answer."""
        return await _translated(lambda: self._chat.ask(ask), self._seconds, sentences.chat_failed)


async def _embedded(act: Callable[[], Awaitable[T]]) -> T:
    return await _translated(act, SECONDS, sentences.embedder_failed)


async def _translated(act: Callable[[], Awaitable[T]], seconds: float, said: Callable[[str], str]) -> T:
    try:
        return await _bounded(act, seconds)
    except CognitiveMemoryError:
        raise
    except FAILURES as failure:
        raise UnavailableError(said(type(failure).__name__)) from failure


async def _bounded(act: Callable[[], Awaitable[T]], seconds: float) -> T:
    """Await a call for so long; whatever it makes of being cancelled, nobody waits for it afterwards.

    A call that raises CancelledError by itself failed like any other: only the caller's own cancellation is raised.
    """
    task = asyncio.ensure_future(_awaited(act))
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    finally:
        if not task.done():
            _abandon(task)
    if not done:
        raise asyncio.TimeoutError
    if task.cancelled():
        raise CancelledFromWithin
    return task.result()


async def _awaited(act: Callable[[], Awaitable[T]]) -> T:
    return await act()


def _abandon(task: asyncio.Task[T]) -> None:
    _abandoned.add(task)
    task.add_done_callback(_abandoned.discard)
    task.add_done_callback(seen)
    task.cancel()


def _listed(answer: Iterable[T], said: Callable[[str], str]) -> list[T]:
    try:
        return list(answer)
    except TypeError as unfit:
        raise BadAnswer(said(type(unfit).__name__)) from unfit


def _vector(numbers: Sequence[float]) -> Vector:
    try:
        vector = array("f", numbers)
    except (TypeError, OverflowError) as unfit:
        raise BadAnswer(sentences.embedder_failed(type(unfit).__name__)) from unfit
    length = math.hypot(*vector)
    if not length or not math.isfinite(length):
        raise BadAnswer(sentences.embedder_failed("no direction"))
    return vector


def _score(value: float) -> float:
    """Read a score of any number's type; one outside [0, 1] says nothing on our scale."""
    try:
        score = float(value)
    except (TypeError, ValueError, OverflowError) as unfit:
        raise BadAnswer(sentences.reranker_failed(type(unfit).__name__)) from unfit
    if not 0.0 <= score <= 1.0:  # NaN, too
        raise BadAnswer(sentences.score_unusable())
    return score
