"""Where an unknown model's cosines lie, measured once on pairs that this package brings along."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from operator import mul
from statistics import median
from typing import Protocol

from .. import sentences
from ..errors import BadAnswer, CognitiveMemoryError, UnavailableError
from ..ports.models import Calibration, CalibrationBook, Embedder, Vector
from ..settings import Live

log = logging.getLogger(__name__)
FIRST_PAUSE, LONGEST_PAUSE = 2.0, 3600.0


@dataclass(frozen=True)
class Pair:
    """A question as it is asked in passing, and how its answer is written down; both in one language."""

    language: str
    question: str
    statement: str


class Unhurried(Embedder, Protocol):
    """An Embedder that also takes questions which nobody waits for."""

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Embed what is asked, behind everybody's questions."""
        ...


class Calibrating:
    """Measures an embedder once for each fingerprint; until then, and where its cosines tell nothing, a guess stands.

    Paraphrase is the median cosine of a question and its answer, unrelated that of a question and the answers to
    others in its language: both are embedded as a search would, with the model's own instructions.
    """

    def __init__(
        self,
        embedder: Unhurried,
        book: CalibrationBook,
        current: Live[Calibration],
        *,
        first_pause: float = FIRST_PAUSE,
    ) -> None:
        """Measure an embedder, keep that in a book, and put it in force in ``current``."""
        self._embedder = embedder
        self._book = book
        self._current = current
        self._first_pause = first_pause
        self._measured: Calibration | None = None  # what the book refused is measured only once

    async def recall(self) -> bool:
        """Put in force what was measured before; tells whether anything was. Raises UnavailableError."""
        kept = await self._book.find(self._embedder.fingerprint)
        if kept and kept.is_usable:
            self._current.replace(kept)
        return kept is not None

    async def run(self) -> None:
        """Measure, however long the model is away: a try that fails costs one call, and they become an hour apart."""
        failures = 0
        while True:
            try:
                return await self.measure()
            except CognitiveMemoryError as failure:
                failures += 1
                await asyncio.sleep(pause_after(failures, failure, self._first_pause))

    async def measure(self) -> None:
        """Embed the pairs, put in force what they show and keep it; raises what the embedder or the ledger raises.

        What shows nothing is kept too, so that nobody asks again, and said once.
        """
        if self._measured is None:
            self._measured = await self._medians()
            if self._measured.is_usable:
                self._current.replace(self._measured)
            else:
                log.warning("%s", sentences.model_tells_nothing(self._measured.unrelated, self._measured.paraphrase))
        await self._book.keep(self._embedder.fingerprint, self._measured)

    async def _medians(self) -> Calibration:
        pairs = await asyncio.to_thread(shipped)
        statements = await self._embedder.embed_documents([pair.statement for pair in pairs])
        questions = await self._embedder.embed_queries([pair.question for pair in pairs])
        return await asyncio.to_thread(calibration_of, pairs, questions, statements)


def pause_after(failures: int, last: CognitiveMemoryError, first: float = FIRST_PAUSE) -> float:
    """Give the seconds until the next try: doubling, as long as the other side wishes, an hour at most."""
    wished = last.retry_after if isinstance(last, UnavailableError | BadAnswer) else None
    return min(max(first * 2.0 ** min(failures - 1, 20), wished or 0.0), LONGEST_PAUSE)


def shipped() -> list[Pair]:
    """Read the pairs of this package; blocking."""
    text = (resources.files(__name__.rpartition(".")[0]) / "paraphrases.tsv").read_text("utf-8")
    return [Pair(*line.split("\t")) for line in text.splitlines()]


def calibration_of(pairs: Sequence[Pair], questions: Sequence[Vector], statements: Sequence[Vector]) -> Calibration:
    """Find the medians; a question of one language is no stranger to a statement of another, but far from all."""
    rows = list(zip(pairs, questions, statements, strict=True))
    akin = [_cosine(question, statement) for _, question, statement in rows]
    strangers: list[float] = []
    for _, group in groupby(rows, key=lambda row: row[0].language):
        alike = list(group)
        strangers += [_cosine(one[1], other[2]) for one in alike for other in alike if one is not other]
    return Calibration(unrelated=median(strangers), paraphrase=median(akin))


def _cosine(one: Vector, other: Vector) -> float:
    return sum(map(mul, one, other))
