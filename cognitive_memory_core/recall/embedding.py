"""A question's vector: one call for equal questions, and its answer for a minute."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..errors import TransientError
from ..ports.ambient import Clock
from ..ports.models import Embedder, Vector

LIFETIME = timedelta(minutes=1)
REMEMBERED = 256


@dataclass(frozen=True)
class _Asked:
    """A call under way, or its answer."""

    asked_at: datetime
    task: asyncio.Task[Vector]

    def serves(self, now: datetime) -> bool:
        """Tell whether the call runs still, or was answered within the last minute."""
        if not self.task.done():
            return True
        answered = not self.task.cancelled() and self.task.exception() is None
        return answered and timedelta(0) <= now - self.asked_at < LIFETIME


class QueryEmbedding:
    """Embeds questions, each once a minute at most; holds at most 256 answers."""

    def __init__(self, embedder: Embedder, clock: Clock) -> None:
        """Ask an embedder."""
        self._embedder = embedder
        self._clock = clock
        self._asked: dict[str, _Asked] = {}
        self._length = 0

    async def vector(self, text: str) -> Vector:
        """Give the vector of a question; what is no usable vector is a TransientError like any failure to answer.

        A caller that is cancelled leaves the call running for the others.
        """
        now = self._clock.now()
        asked = self._asked.pop(text, None)
        if asked is None or not asked.serves(now):
            asked = _Asked(now, asyncio.create_task(self._embedded(text)))
        self._asked[text] = asked
        while len(self._asked) > REMEMBERED:
            del self._asked[next(iter(self._asked))]
        return await asyncio.shield(asked.task)

    async def _embedded(self, text: str) -> Vector:
        vector = await self._embedder.embed_query(text)
        length, self._length = self._length or len(vector), len(vector)
        norm = math.hypot(*vector)
        if len(vector) != length or not math.isfinite(norm) or not norm:
            raise TransientError("the embedder gave no usable vector")
        return vector
