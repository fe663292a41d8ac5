"""Wraps models that a caller supplies, so that they do what the ports promise."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar, cast

from .. import sentences
from ..errors import BadAnswer, CognitiveMemoryError, UnavailableError
from ..ports import GUESS, Ask, Calibration, Chat, Count, Embedder, Reranker, Vector
from ..tasks import with_timeout
from .client import unit_of

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


class CallerEmbedder:
    """Converts an embedder's exceptions to errors of this library and its answers to vectors; rejects other answers."""

    def __init__(self, embedder: Embedder) -> None:
        """Wrap an embedder."""
        self._embedder = embedder
        self.fingerprint: str = embedder.fingerprint
        self.name: str = getattr(embedder, "name", self.fingerprint)
        stated: Calibration = getattr(embedder, "calibration", GUESS)
        self.calibration = stated if stated.is_usable else GUESS  # else it is measured
        self._length = 0  # of its first vector

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed documents; raise BadAnswer unless there are as many vectors as texts."""
        message = sentences.models.EMBEDDER_FAILED
        asked = _answer(lambda: self._embedder.embed_documents(texts), SECONDS, message)
        return [self._unit(vector) for vector in _listed(await asked, len(texts), message)]

    async def embed_query(self, text: str) -> Vector:
        """Embed a query; raise BadAnswer for an unusable vector."""
        asked = _answer(lambda: self._embedder.embed_query(text), SECONDS, sentences.models.EMBEDDER_FAILED)
        return self._unit(await asked)

    def _unit(self, numbers: Sequence[float]) -> Vector:
        vector = unit_of(numbers, self._length)
        self._length = len(vector)
        return vector


async def caller_scores(reranker: Reranker, query: str, texts: Sequence[str]) -> list[float]:
    """Return a caller's scores in [0, 1]; raise an error of this library for what it raises or answers instead."""
    message = sentences.models.RERANKER_FAILED
    asked = _answer(lambda: reranker.scores(query, texts), RERANK_SECONDS, message)
    return [score_of(score) for score in _listed(await asked, len(texts), message)]


class CallerChat:
    """Converts a chat model's exceptions to errors of this library."""

    def __init__(self, chat: Chat, seconds: float, count: Count) -> None:
        """Wrap a chat model whose answers may take this many seconds; ``count`` counts its calls."""
        self._chat = chat
        self._seconds = seconds
        self._count = count

    async def ask(self, ask: Ask[T]) -> T:
        """Ask the model and return its answer, parsed; raises UnavailableError after the time limit."""
        self._count(ask.purpose, 0, 0)
        return await _answer(lambda: self._chat.ask(ask), self._seconds, sentences.models.CHAT_FAILED)


async def _answer(act: Callable[[], Awaitable[T]], seconds: float, message: str) -> T:
    """Await a call for at most ``seconds``; what it raises becomes UnavailableError with ``message``."""
    try:
        return await with_timeout(seconds, act())
    except CognitiveMemoryError:
        raise
    except FAILURES as failure:
        raise UnavailableError(message.format(reason=type(failure).__name__)) from failure


def _listed(answer: Iterable[T], count: int, message: str) -> list[T]:
    try:
        listed = list(answer)
    except TypeError as unfit:
        raise BadAnswer(message.format(reason=type(unfit).__name__)) from unfit
    if len(listed) != count:
        raise BadAnswer(message.format(reason=f"{len(listed)} / {count}"))
    return listed


def score_of(value: object, slack: float = 0.0) -> float:
    """Read a score of any numeric type; reject one outside [0, 1], such as a logit, by more than ``slack``."""
    try:
        score = math.nan if isinstance(value, str | bool) else float(cast("float", value))
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if not -slack <= score <= 1 + slack:  # NaN, too
        raise BadAnswer(sentences.models.SCORE_UNUSABLE)
    return min(max(score, 0.0), 1.0)
