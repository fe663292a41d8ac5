"""Questions on their way to an embedder: equal ones share a call, and its answer for a minute."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from ... import sentences
from ...errors import BadAnswer, UnavailableError
from ...ports.ambient import Clock
from ...ports.models import Vector
from ...text.caches import register_cache

LIFETIME = timedelta(minutes=1)
REMEMBERED = 256
AT_ONCE = 8
STUBBORN = 1.0  # seconds


@dataclass(frozen=True)
class _PendingQuestion:
    """A call under way, or its answer."""

    asked_at: datetime
    answer: asyncio.Future[Vector]

    def serves(self, now: datetime) -> bool:
        """Tell whether the call runs still, or was answered within the last minute."""
        if not self.answer.done():
            return True
        return self.answer.exception() is None and timedelta(0) <= now - self.asked_at < LIFETIME


class Questions:
    """Asks at most eight questions at once; holds at most 256 answers. ``is_quiet`` is set while none is under way."""

    def __init__(self, ask: Callable[[str], Awaitable[Vector]], clock: Clock) -> None:
        """Let ``ask`` embed each."""
        self._ask = ask
        self._clock = clock
        self._asked: dict[str, _PendingQuestion] = {}
        register_cache(self)
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._calls: dict[asyncio.Task[None], asyncio.Future[Vector]] = {}
        self._length = 0
        self._is_closed = False
        self.is_quiet = asyncio.Event()
        self.is_quiet.set()

    async def vector(self, text: str) -> Vector:
        """Give the vector of a question; raises BadAnswer for what is no usable vector, UnavailableError when closed.

        A caller that is cancelled leaves the call running for the others.
        """
        if self._is_closed:
            raise UnavailableError(sentences.not_running())
        now = self._clock.now()
        asked = self._asked.pop(text, None)
        if asked is None or not asked.serves(now):
            asked = _PendingQuestion(now, self._set_out(text))
        self._asked[text] = asked
        self._let_go_of_old(now)
        return await asyncio.shield(asked.answer)

    def clear_caches(self) -> None:
        """Hold no question and no answer; a call under way goes on for those who wait for it."""
        self._asked.clear()

    async def close(self) -> None:
        """Tell whoever waits that nobody answers any more, and stop every call."""
        self._is_closed = True
        for answer in self._calls.values():
            if not answer.done():
                answer.set_exception(UnavailableError(sentences.not_running()))
        await stopped(self._calls)

    def _let_go_of_old(self, now: datetime) -> None:
        """Forget the answers least recently asked for that serve nobody any more, or are too many."""
        while self._asked:
            oldest = next(iter(self._asked))
            if self._asked[oldest].serves(now) and len(self._asked) <= REMEMBERED:
                break
            del self._asked[oldest]

    def _set_out(self, text: str) -> asyncio.Future[Vector]:
        answer: asyncio.Future[Vector] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(_seen)
        call = asyncio.create_task(self._embed(text, answer))
        self._calls[call] = answer
        self.is_quiet.clear()
        call.add_done_callback(self._came_back)
        return answer

    async def _embed(self, text: str, answer: asyncio.Future[Vector]) -> None:
        async with self._slots:
            vector = self._checked(await self._ask(text))
        if not answer.done():
            answer.set_result(vector)

    def _came_back(self, call: asyncio.Task[None]) -> None:
        answer = self._calls.pop(call)
        failure = UnavailableError(sentences.not_running()) if call.cancelled() else call.exception()
        if failure and not answer.done():
            answer.set_exception(failure)
        if not self._calls:
            self.is_quiet.set()

    def _checked(self, vector: Vector) -> Vector:
        """Refuse what has no direction, and the odd one of another length; one that changed for good is believed."""
        length, self._length = self._length or len(vector), len(vector)
        norm = math.hypot(*vector)
        if len(vector) != length or not math.isfinite(norm) or not norm:
            raise BadAnswer(sentences.vector_unusable())
        return vector


async def stopped(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks and wait for their end, but not for one that takes no notice."""
    ending = list(tasks)
    for task in ending:
        task.cancel()
    if ending:
        await asyncio.wait(ending, timeout=STUBBORN)


def _seen(answer: asyncio.Future[Vector]) -> None:
    """Let a failure that nobody waits for any more be no complaint of the loop's."""
    answer.exception()
