"""Sends queries to an embedder. Equal queries share one call, and its answer is reused for a minute."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from .. import sentences
from ..cancellation import seen
from ..errors import BadAnswer, UnavailableError
from ..ports.clock import Clock
from ..ports.models import Vector
from ..text.caches import register_cache

LIFETIME = timedelta(minutes=1)
CACHED_ANSWERS = 256
AT_ONCE = 8
CANCEL_WAIT = 1.0  # seconds to wait for a task that ignores its cancellation


@dataclass(frozen=True)
class _PendingQuery:
    """A running call or its answer."""

    asked_at: datetime
    answer: asyncio.Future[Vector]

    def serves(self, now: datetime) -> bool:
        """Return whether the call still runs, or succeeded and began less than a minute ago."""
        if not self.answer.done():
            return True
        return self.answer.exception() is None and timedelta(0) <= now - self.asked_at < LIFETIME


class QuerySender:
    """Runs at most eight queries at once and caches 256 answers; ``is_quiet`` is set while none is running."""

    def __init__(self, ask: Callable[[str], Awaitable[Vector]], clock: Clock) -> None:
        """Embed each query with ``ask``."""
        self._ask = ask
        self._clock = clock
        self._asked: dict[str, _PendingQuery] = {}
        register_cache(self)
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._calls: dict[asyncio.Task[None], asyncio.Future[Vector]] = {}
        self._length = 0
        self._is_closed = False
        self.is_quiet = asyncio.Event()
        self.is_quiet.set()

    async def vector(self, text: str) -> Vector:
        """Return the vector of a query; raises BadAnswer for an unusable vector, UnavailableError once closed.

        Cancelling a caller leaves the call running for the others.
        """
        if self._is_closed:
            raise UnavailableError(sentences.caller.NOT_RUNNING)
        now = self._clock.now()
        asked = self._asked.pop(text, None)
        if asked is None or not asked.serves(now):
            asked = _PendingQuery(now, self._start_call(text))
        self._asked[text] = asked
        self._evict(now)
        return await asyncio.shield(asked.answer)

    def clear_caches(self) -> None:
        """Clear the cached queries and answers; a running call continues for its callers."""
        self._asked.clear()

    async def close(self) -> None:
        """Fail all waiting callers with UnavailableError, and cancel every call."""
        self._is_closed = True
        for answer in self._calls.values():
            if not answer.done():
                answer.set_exception(UnavailableError(sentences.caller.NOT_RUNNING))
        await stopped(self._calls)

    def _evict(self, now: datetime) -> None:
        """Evict the least recently used answers that have expired or exceed the bound."""
        while self._asked:
            oldest = next(iter(self._asked))
            if self._asked[oldest].serves(now) and len(self._asked) <= CACHED_ANSWERS:
                break
            del self._asked[oldest]

    def _start_call(self, text: str) -> asyncio.Future[Vector]:
        answer: asyncio.Future[Vector] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(seen)
        call = asyncio.create_task(self._embed(text, answer))
        self._calls[call] = answer
        self.is_quiet.clear()
        call.add_done_callback(self._on_done)
        return answer

    async def _embed(self, text: str, answer: asyncio.Future[Vector]) -> None:
        async with self._slots:
            vector = self._checked(await self._ask(text))
        if not answer.done():
            answer.set_result(vector)

    def _on_done(self, call: asyncio.Task[None]) -> None:
        answer = self._calls.pop(call)
        failure = UnavailableError(sentences.caller.NOT_RUNNING) if call.cancelled() else call.exception()
        if failure and not answer.done():
            answer.set_exception(failure)
        if not self._calls:
            self.is_quiet.set()

    def _checked(self, vector: Vector) -> Vector:
        """Raise BadAnswer for a vector without direction, or of another length than the previous vector.

        The length of a rejected vector is remembered, too, so that a model that changed its length is rejected only
        once.
        """
        length, self._length = self._length or len(vector), len(vector)
        norm = math.hypot(*vector)
        if len(vector) != length or not math.isfinite(norm) or not norm:
            raise BadAnswer(sentences.models.VECTOR_UNUSABLE)
        return vector


async def stopped(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks and wait for their end, for a bounded time if one ignores its cancellation."""
    ending = list(tasks)
    for task in ending:
        task.cancel()
    if ending:
        await asyncio.wait(ending, timeout=CANCEL_WAIT)
