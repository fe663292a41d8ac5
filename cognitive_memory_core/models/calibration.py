"""Calibration of an embedder's cosines, measured once per fingerprint on pairs shipped with this package."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from importlib import resources
from itertools import groupby
from operator import mul
from statistics import median
from typing import NamedTuple

from .. import sentences
from ..ports.models import Calibration, Vector
from ..settings import Live
from ..store.ledger import Housekeeping
from ..tasks import UNTIL_NUDGED, BackgroundLoop
from .embedding_queue import EmbeddingQueue

log = logging.getLogger(__name__)
FIRST_PAUSE, LONGEST_PAUSE = 2.0, 3600.0


class Pair(NamedTuple):
    """A question in chat style and the statement that answers it, in the same language."""

    language: str
    question: str
    statement: str


class Calibrating:
    """Measures an embedder once per fingerprint; until then, and if the result is unusable, a default applies.

    ``paraphrase`` is the median cosine of a question and its answer, ``unrelated`` that of a question and the answers
    to other questions in its language. Both are embedded as in a search, with the model's own instructions.
    """

    def __init__(
        self,
        embedder: EmbeddingQueue,
        book: Housekeeping,
        current: Live[Calibration],
        *,
        first_pause: float = FIRST_PAUSE,
    ) -> None:
        """Prepare to measure an embedder; the result is stored in ``book`` and put in ``current`` for searches."""
        self._embedder = embedder
        self._book = book
        self._current = current
        self._measured: Calibration | None = None  # kept, so that a failed write does not repeat the measurement
        self._is_kept = False
        self.loop = BackgroundLoop("calibration", self._round, first_pause=first_pause, longest_pause=LONGEST_PAUSE)

    async def recall(self) -> bool:
        """Apply a stored calibration; return whether there was one. Raises UnavailableError."""
        kept = await self._book.calibration(self._embedder.fingerprint)
        if kept and kept.is_usable:
            self._current.current = kept
        return kept is not None

    async def _round(self) -> float:
        """Embed the pairs, apply and store the result; a failed attempt costs one call.

        An unusable result is stored too, so that it is not measured again, and logged once.
        """
        if self._measured is None:
            pairs = await asyncio.to_thread(shipped)
            statements = await self._embedder.embed_documents([pair.statement for pair in pairs])
            questions = [await self._embedder.embed_query(pair.question) for pair in pairs]
            self._measured = found = await asyncio.to_thread(calibration_of, pairs, questions, statements)
            if found.is_usable:
                self._current.current = found
            else:
                told = sentences.log.MODEL_TELLS_NOTHING
                log.warning("%s", told.format(unrelated=found.unrelated, paraphrase=found.paraphrase))
        if not self._is_kept:
            await self._book.keep_calibration(self._embedder.fingerprint, self._measured)
            self._is_kept = True
        return UNTIL_NUDGED


def shipped() -> list[Pair]:
    """Load the pairs of this package; blocking."""
    text = (resources.files(__name__.rpartition(".")[0]) / "paraphrases.tsv").read_text("utf-8")
    return [Pair(*line.split("\t")) for line in text.splitlines()]


def calibration_of(pairs: Sequence[Pair], questions: Sequence[Vector], statements: Sequence[Vector]) -> Calibration:
    """Return the median cosine of pairs, and of a question with other answers in its language.

    Other languages do not count, because all cosines across languages are low.
    """
    rows = list(zip(pairs, questions, statements, strict=True))
    akin = [sum(map(mul, question, statement)) for _, question, statement in rows]
    strangers: list[float] = []
    for _, group in groupby(rows, key=lambda row: row[0].language):
        alike = list(group)
        strangers += [sum(map(mul, one[1], other[2])) for one in alike for other in alike if one is not other]
    return Calibration(unrelated=median(strangers), paraphrase=median(akin))
