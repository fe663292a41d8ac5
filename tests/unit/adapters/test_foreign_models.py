"""Models that somebody else wrote are held to what the memory may rely on."""

from __future__ import annotations

import asyncio
import math
from array import array
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from cognitive_memory_core.adapters import foreign_models
from cognitive_memory_core.adapters.foreign_models import ForeignEmbedder, ForeignReranker
from cognitive_memory_core.errors import BadAnswer, PermanentError, TooSlow, UnavailableError
from cognitive_memory_core.ports.models import GUESS, Calibration

TEXTS = ["茶", "咖啡"]


class Reranker:
    """Answers what it is told, or raises it."""

    def __init__(self, answer: Any) -> None:
        """Answer this."""
        self.answer = answer

    async def scores(self, query: str, texts: Sequence[str]) -> Any:
        """Answer, or raise."""
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    "answer", [[0.25, 1], (0.25, 1.0), array("d", (0.25, 1.0)), [Decimal("0.25"), True], iter([0.25, 1])]
)
async def test_scores_of_any_kind_are_read(answer: Any) -> None:
    """Whatever holds numbers on the scale is a list of scores."""
    assert await ForeignReranker(Reranker(answer)).scores("喝什么", TEXTS) == [0.25, 1.0]


@pytest.mark.parametrize(
    "answer",
    [
        [],
        [0.5],
        [0.5, 0.5, 0.5],
        [0.5, math.nan],
        [0.5, math.inf],
        [0.5, 1.5],
        [-0.1, 0.5],
        [0.5, None],
        [0.5, "x"],
        [0.5, [0.5]],
        None,
        7,
        BadAnswer("own"),
    ],
)
async def test_what_is_no_score_for_each_text_is_refused(answer: Any) -> None:
    """Too few, too many, logits, no numbers and no list at all are BadAnswer, so that the list stays as it was."""
    with pytest.raises(BadAnswer):
        await ForeignReranker(Reranker(answer)).scores("喝什么", TEXTS)


@pytest.mark.parametrize("failure", [RuntimeError("x"), ConnectionError("x"), KeyError("x"), asyncio.TimeoutError()])
async def test_whatever_a_reranker_raises_means_that_it_is_away(failure: Exception) -> None:
    """Errors of its own kinds become ours, without its words."""
    with pytest.raises(UnavailableError, match="重排"):
        await ForeignReranker(Reranker(failure)).scores("喝什么", TEXTS)


@pytest.mark.parametrize("failure", [PermanentError("x"), TooSlow("x")])
async def test_our_own_errors_pass(failure: Exception) -> None:
    """A reranker that knows the port's errors is believed."""
    with pytest.raises(type(failure), match="x"):
        await ForeignReranker(Reranker(failure)).scores("喝什么", TEXTS)


@pytest.mark.parametrize("vectors", [None, 7, [], [[1.0]], [[1.0], None], [[1.0], ["x"]], [[1.0], [math.nan]]])
async def test_what_is_no_vector_for_each_text_is_refused(vectors: Any) -> None:
    """An embedder that answers no list of directions, one a text, answered badly."""

    class Odd(Plain):
        async def embed_documents(self, texts: Sequence[str]) -> Any:
            return vectors

    odd: Any = Odd()
    with pytest.raises(BadAnswer):
        await ForeignEmbedder(odd).embed_documents(TEXTS)


async def test_a_model_that_is_not_even_asynchronous_is_away() -> None:
    """What raises before there is anything to wait for, or gives nothing to wait for, is an error like any other."""

    class Hasty:
        def scores(self, query: str, texts: Sequence[str]) -> list[float]:
            if query == "raise":
                raise RuntimeError("x")
            return [0.5 for _ in texts]

    hasty: Any = Hasty()
    for query in ("raise", "give"):
        with pytest.raises(UnavailableError):
            await ForeignReranker(hasty).scores(query, TEXTS)


async def test_nothing_to_score_asks_nobody() -> None:
    """No texts, no call."""
    assert await ForeignReranker(Reranker(RuntimeError("x"))).scores("喝什么", []) == []


class Plain:
    """An embedder that says nothing of its cosines."""

    fingerprint = "plain"

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Give lists."""
        return [[1.0, 0.0] for _ in texts]

    async def embed_query(self, text: str) -> list[float]:
        """Give a list."""
        return [0.0, 2.0]


async def test_an_embedder_keeps_the_name_it_began_with() -> None:
    """Its fingerprint cannot change under the index, and what it does not say of its cosines is guessed."""
    plain: Any = Plain()
    embedder = ForeignEmbedder(plain)
    plain.fingerprint = "other"
    assert (embedder.fingerprint, embedder.calibration) == ("plain", GUESS)
    plain.calibration = Calibration(0.1, 0.2)
    assert ForeignEmbedder(plain).calibration == Calibration(0.1, 0.2)
    assert await embedder.embed_documents(TEXTS) == [array("f", (1.0, 0.0))] * 2


def test_somebody_waits_for_a_reranker() -> None:
    """It is given less time than an embedder in the background."""
    assert foreign_models.RERANK_SECONDS < foreign_models.SECONDS
