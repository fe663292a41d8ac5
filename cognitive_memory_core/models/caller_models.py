"""Wraps models that a caller supplies or a chat plugin lends, so that they do what the ports promise."""

from __future__ import annotations

import asyncio
import logging
import math
from array import array
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast
from urllib.parse import urlsplit

from pydantic import SecretStr

from .. import sentences
from ..errors import BadAnswer, CognitiveMemoryError, UnavailableError
from ..ports import GUESS, Ask, Calibration, Chat, Count, Embedder, Reranker, Vector
from ..settings.schema import EmbeddingSettings, ModelSettings, ModelsSettings, RerankSettings
from ..tasks import with_timeout

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
        return [self._checked(vector) for vector in _listed(await asked, len(texts), message)]

    async def embed_query(self, text: str) -> Vector:
        """Embed a query; raise BadAnswer for an unusable vector."""
        asked = _answer(lambda: self._embedder.embed_query(text), SECONDS, sentences.models.EMBEDDER_FAILED)
        return self._checked(await asked)

    def _checked(self, numbers: Sequence[float]) -> Vector:
        try:
            vector = array("f", numbers)
        except (TypeError, OverflowError) as unfit:
            raise BadAnswer(sentences.models.EMBEDDER_FAILED.format(reason=type(unfit).__name__)) from unfit
        if not 0.0 < math.hypot(*vector) < math.inf:  # by numpy, the first answer would load it on the event loop
            raise BadAnswer(sentences.models.EMBEDDER_FAILED.format(reason="no direction"))
        self._length = self._length or len(vector)
        if len(vector) != self._length:
            raise BadAnswer(sentences.models.WRONG_DIMENSIONS.format(given=len(vector), wanted=self._length))
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


log = logging.getLogger(__name__)
NAMING_SECONDS = 5.0  # that the lender may take to name its model
LONGEST_NAME, LONGEST_ADDRESS, LONGEST_KEY = 200, 2_000, 8_000  # characters


@dataclass(frozen=True)
class LentModel:
    """A chat model of another program, ``lender``, behind an OpenAI-compatible address; ``proxy`` "" means none.

    With it may come the lender's models for ``embedding`` and ``rerank``. Key and proxy are secrets: they are in no
    representation of this object.
    """

    lender: str
    api_url: str
    api_key: str = field(repr=False)
    model_name: str
    proxy: str = field(default="", repr=False)
    embedding: LentModel | None = None
    rerank: LentModel | None = None

    @property
    def is_usable(self) -> bool:
        """Return whether every part is text of a sensible length; only a proxy may be missing."""
        names, addresses = (self.lender, self.model_name), (self.api_url, self.proxy or "-")
        bounded = [*((one, LONGEST_NAME) for one in names), *((one, LONGEST_ADDRESS) for one in addresses)]
        parts: list[tuple[object, int]] = [*bounded, (self.api_key, LONGEST_KEY)]
        is_text = all(isinstance(part, str) and 0 < len(part) <= most for part, most in parts)
        return is_text and all(one.isprintable() for one in names)

    @property
    def host(self) -> str:
        """Return the host of its address; "" if the address has none."""
        try:
            return urlsplit(self.api_url).hostname or ""
        except ValueError:
            return ""


Lend = Callable[[], Awaitable[LentModel | None]]


class Lender:
    """Asks the caller which model it lends now; logs each change by lender, host and name of the model."""

    def __init__(self, lend: Lend, *, is_new: bool) -> None:
        """Ask by ``lend``, which may raise; ``is_new``: the data directory was begun by a version that borrows."""
        self._lend = lend
        self._is_new = is_new
        self.last: LentModel | None = None
        """The model that was lent when the caller was last asked."""
        self._failure = ""

    def lends_to(self, settings: ModelSettings) -> bool:
        """Return whether a role with these settings uses lent models at all."""
        is_wanted = self._is_new if settings.borrow == "auto" else settings.borrow != "off"
        return is_wanted and not settings.model_name

    async def model(self, settings: ModelSettings) -> LentModel | None:
        """Return the model that is lent to a role now; None if there is none.

        There is also none if the caller fails or does not answer in time.
        """
        lent: object = None
        failure, self._failure = self._failure, ""
        try:
            lent = await asyncio.wait_for(self._lend(), NAMING_SECONDS)
        except FAILURES as failed:
            self._failure = type(failed).__name__
            if self._failure != failure:
                log.warning("%s", sentences.models.LENDER_FAILED.format(reason=self._failure))
        if not (isinstance(lent, LentModel) and lent.is_usable and settings.borrow in ("auto", lent.lender)):
            lent = None
        last, self.last = self.last, lent
        news, before = (_said("historian", one) if one else sentences.models.LENT_NO_MORE for one in (lent, last))
        if news != before:
            log.info("%s", news)
        return lent

    async def beside(self, models: ModelsSettings) -> ModelsSettings:
        """Return settings with the embedding and the reranking model that are lent now, where none is chosen.

        They are those of one opening: vectors are bound to a model.
        """
        lent = await self.model(models.historian) if self.lends_to(models.historian) else None
        borrowed = models
        for role in ("embedding", "rerank"):
            own: EmbeddingSettings | RerankSettings = getattr(models, role)
            theirs: LentModel | None = getattr(lent, role, None)
            if isinstance(theirs, LentModel) and theirs.is_usable and not own.model_name and own.local in ("", "auto"):
                parts = {"api_url": theirs.api_url, "api_key": SecretStr(theirs.api_key)}
                filled = own.model_copy(update={**parts, "model_name": theirs.model_name})
                borrowed = borrowed.model_copy(update={role: filled})
                log.info("%s", _said(role, theirs))
        return borrowed


def _said(role: str, lent: LentModel) -> str:
    what = sentences.models.LENT_TO[role]
    return sentences.models.LENT.format(what=what, lender=lent.lender, model=lent.model_name, host=lent.host)
