"""Tests of calibrating the cosines of an unknown embedding model, once per model."""

from __future__ import annotations

import logging
import math
from array import array
from collections.abc import Sequence
from typing import Any

import pytest

from cognitive_memory_core.errors import CognitiveMemoryError
from cognitive_memory_core.models.hashing import HashingEmbedder
from cognitive_memory_core.models.local import Calibrating, Pair, calibration_of
from cognitive_memory_core.ports import GUESS, Calibration, Vector
from cognitive_memory_core.settings import Live
from tests.support.ledgers import a_ledger
from tests.support.waiting import until


def at(degrees: float) -> Vector:
    """Return a unit vector with this angle."""
    return array("f", (math.cos(math.radians(degrees)), math.sin(math.radians(degrees))))


class Model(HashingEmbedder):
    """An embedder that raises these errors first and counts its calls."""

    def __init__(self, *failures: CognitiveMemoryError) -> None:
        """Raise these errors first."""
        super().__init__()
        self.failures = list(failures)
        self.documents = 0
        self.questions = 0

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Raise the next error, or embed."""
        self.documents += 1
        if self.failures:
            raise self.failures.pop(0)
        return await super().embed_documents(texts)

    async def embed_query(self, text: str) -> Vector:
        """Count the question and embed it."""
        self.questions += 1
        return await super().embed_query(text)


class Blind(Model):
    """A model whose vectors are all nearly the same."""

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


async def measured_by(calibrating: Calibrating, book: Any, fingerprint: str) -> None:
    """Run the loop until its result is stored."""

    async def is_stored() -> bool:
        return await book.calibration(fingerprint) is not None

    calibrating.loop.start()
    await until(is_stored)
    await calibrating.loop.stop()


async def test_a_model_that_tells_nothing_keeps_the_guess(caplog: pytest.LogCaptureFixture) -> None:
    """If paraphrases are no closer than unrelated texts, the default is kept, logged once, and not measured again."""
    book, current = a_ledger().housekeeping, Live(GUESS)
    with caplog.at_level(logging.WARNING):
        await measured_by(Calibrating(Blind(), book, current), book, Blind().fingerprint)
        assert await Calibrating(Blind(), book, current).recall()
    assert current.current == GUESS
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    ("unrelated", "paraphrase", "is_usable"),
    [
        (0.2, 0.75, True),
        (0.0, 1.0, True),
        (-0.1, 0.3, True),
        (0.5, 0.5, False),
        (0.5, 0.51, False),
        (0.75, 0.2, False),
        (math.nan, 0.5, False),
        (0.5, math.nan, False),
        (-2.0, 0.5, False),
        (0.2, math.inf, False),
    ],
)
def test_a_scale_needs_two_ends(unrelated: float, paraphrase: float, *, is_usable: bool) -> None:
    """A scale is unusable if its ends are equal, reversed or no finite numbers."""
    assert Calibration(unrelated, paraphrase).is_usable == is_usable
