"""Tests of calibrating the cosines of an unknown embedding model, once per model."""

from __future__ import annotations

import logging
import math
from array import array
from collections.abc import Sequence

import pytest

from cognitive_memory_core.models.embedding import EmbeddingQueue
from cognitive_memory_core.models.hashing import HashingEmbedder
from cognitive_memory_core.models.local import Pair, calibration_of
from cognitive_memory_core.ports import GUESS, Calibration, Vector
from tests.support.ledgers import a_ledger
from tests.support.waiting import until


def at(degrees: float) -> Vector:
    """Return a unit vector with this angle."""
    return array("f", (math.cos(math.radians(degrees)), math.sin(math.radians(degrees))))


class Blind(HashingEmbedder):
    """A model whose vectors are all nearly the same, with an unknown scale."""

    def __init__(self) -> None:
        """State no scale."""
        super().__init__()
        self.calibration = GUESS

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return the same vector for every text."""
        return [at(0.0) for _ in texts]

    async def embed_query(self, text: str) -> Vector:
        """Return nearly the same vector."""
        return at(1.0)


def test_the_medians_are_taken_within_a_language() -> None:
    """The levels for paraphrases and for unrelated texts are medians within a language."""
    pairs = [Pair("zh", "", ""), Pair("zh", "", ""), Pair("en", "", ""), Pair("en", "", "")]
    questions, statements = [at(0), at(90), at(180), at(270)], [at(20), at(120), at(220), at(320)]
    found = calibration_of(pairs, questions, statements)
    akin = sorted(math.cos(math.radians(angle)) for angle in (20, 30, 40, 50))
    strangers = sorted(math.cos(math.radians(angle)) for angle in (120, 70, 140, 50))
    assert found.paraphrase == pytest.approx((akin[1] + akin[2]) / 2, abs=1e-6)
    assert found.unrelated == pytest.approx((strangers[1] + strangers[2]) / 2, abs=1e-6)


async def test_a_model_that_tells_nothing_keeps_the_guess(caplog: pytest.LogCaptureFixture) -> None:
    """If paraphrases are no closer than unrelated texts, the default is kept, logged once, and not measured again."""
    book = a_ledger().housekeeping
    queue, again = EmbeddingQueue(Blind(), book), EmbeddingQueue(Blind(), book)
    await queue.recall_calibration()
    assert queue.loop

    async def is_stored() -> bool:
        return await book.calibration(queue.fingerprint) is not None

    with caplog.at_level(logging.WARNING):
        queue.loop.start()
        await until(is_stored)
        await queue.loop.stop()
        await again.recall_calibration()
    assert again.loop is None
    assert queue.calibration == again.calibration == GUESS
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    ("unrelated", "paraphrase", "is_usable"),
    [
        (0.2, 0.75, True),
        (0.0, 1.0, True),
        (0.5, 0.5, False),
        (0.75, 0.2, False),
        (math.nan, 0.5, False),
        (-2.0, 0.5, False),
        (0.2, math.inf, False),
    ],
)
def test_a_scale_needs_two_ends(unrelated: float, paraphrase: float, *, is_usable: bool) -> None:
    """A scale is unusable if its ends are equal, reversed or no finite numbers."""
    assert Calibration(unrelated, paraphrase).is_usable == is_usable
