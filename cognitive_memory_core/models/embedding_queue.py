"""The only path to an embedder: queries go at once, and batches of background texts one by one while none is asked."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from .. import sentences
from ..errors import UnavailableError
from ..ports import GUESS, Calibration, Clock, Embedder, Vector
from ..settings import Live
from ..tasks import seen
from ..text.characters import register_cache

LIFETIME = timedelta(minutes=1)
CACHED_ANSWERS = 256
AT_ONCE = 8  # queries
SMALLEST = 16  # texts per batch for any model
SLOWER = 0.4  # seconds that a larger batch may take longer than one of the smallest size; a query may wait behind it
LONGEST_WAIT = 10.0  # seconds; background texts continue even while queries never stop
CANCEL_WAIT = 1.0  # seconds to wait for a task that ignores its cancellation
Guard = Callable[[Callable[[], Awaitable[Vector]]], Awaitable[Vector]]
T = TypeVar("T")


class EmbeddingQueue:
    """Gives queries precedence over batches of texts; equal queries share one call and its answer for a minute.

    Only queries go through the ``guard`` (a breaker's call): a background text that always fails must not make the
    breaker refuse queries, and background callers pause by themselves. Batches grow up to ``batch_size`` texts while
    that costs little time, so that a model that is slow per text gets small ones.
    """

    def __init__(
        self,
        embedder: Embedder,
        clock: Clock,
        calibration: Live[Calibration],
        *,
        batch_size: int = 64,
        guard: Guard | None = None,
        max_wait: float = LONGEST_WAIT,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        """Wrap an embedder, on a running loop; a batch waits for queries for at most ``max_wait`` seconds."""
        self._embedder = embedder
        self._clock = clock
        self._calibration = calibration
        self._guard = guard
        self._max_wait = max_wait
        self._elapsed = elapsed
        self._asked: dict[str, tuple[datetime, asyncio.Task[Vector]]] = {}
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._queries = 0
        self._is_quiet = asyncio.Event()
        self._is_quiet.set()
        self._turn = asyncio.Lock()
        self._smallest = self._room = min(SMALLEST, batch_size)
        self._most = batch_size
        self._least = math.inf  # seconds of a full batch of the smallest size
        self._running: set[asyncio.Task[Any]] = set()
        self._closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        register_cache(self)

    @property
    def fingerprint(self) -> str:
        """Return the embedder's fingerprint, which changes if hashing takes the place of a model of this machine."""
        return self._embedder.fingerprint

    @property
    def name(self) -> str:
        """Return the embedder's name for people."""
        return getattr(self._embedder, "name", self.fingerprint)

    @property
    def calibration(self) -> Calibration:
        """Return the distribution of the embedder's cosines as the embedder states it, or as it was measured."""
        stated = self._embedder.calibration
        return self._calibration.current if stated is GUESS else stated

    async def embed_query(self, text: str) -> Vector:
        """Embed a query; raises as :meth:`embed_documents`. Cancelling one caller leaves a shared call running."""
        now = self._clock.now()
        known = self._asked.pop(text, None)
        at, call = known if known and _serves(*known, now) else (now, self._started(self._query(text)))
        self._asked[text] = at, call
        while len(self._asked) > CACHED_ANSWERS or not _serves(*next(iter(self._asked.values())), now):
            del self._asked[next(iter(self._asked))]
        return await self._result(call)

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed documents in batches; raises what the embedder raises, and UnavailableError once closed."""
        call = self._started(self._in_batches(texts))
        try:
            return await self._result(call)
        finally:
            call.cancel()

    def clear_caches(self) -> None:
        """Clear the cached queries and answers; a running call continues for its callers."""
        self._asked.clear()

    async def close(self) -> None:
        """Fail all waiting callers with UnavailableError, cancel running calls, and refuse later ones."""
        if not self._closed.done():
            self._closed.set_result(None)
        running = list(self._running)
        for call in running:
            call.cancel()
        if running:
            await asyncio.wait(running, timeout=CANCEL_WAIT)

    def _started(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        call = asyncio.create_task(work)
        self._running.add(call)
        call.add_done_callback(self._running.discard)
        call.add_done_callback(seen)
        if self._closed.done():
            call.cancel()
        return call

    async def _result(self, call: asyncio.Task[T]) -> T:
        """Return the result of a call that goes on if its caller is cancelled; fail as soon as the queue is closed."""
        await asyncio.wait({call, self._closed}, return_when=asyncio.FIRST_COMPLETED)
        if self._closed.done() or call.cancelled():
            raise UnavailableError(sentences.caller.NOT_RUNNING)
        return call.result()

    async def _query(self, text: str) -> Vector:
        self._queries += 1
        self._is_quiet.clear()
        try:
            async with self._slots:
                ask = partial(self._embedder.embed_query, text)
                return await (self._guard(ask) if self._guard else ask())
        finally:
            self._queries -= 1
            if not self._queries:
                self._is_quiet.set()

    async def _in_batches(self, texts: Sequence[str]) -> list[Vector]:
        vectors: list[Vector] = []
        at = 0
        while at < len(texts):
            async with self._turn:
                quiet = asyncio.ensure_future(self._is_quiet.wait())
                try:  # asyncio.wait_for may lose a cancellation before Python 3.12
                    await asyncio.wait({quiet}, timeout=self._max_wait)
                finally:
                    quiet.cancel()
                batch = texts[at : at + self._room]
                began = self._elapsed()
                vectors += await self._embedder.embed_documents(batch)
                if len(batch) == self._room:  # else it says nothing about the size
                    seconds = self._elapsed() - began
                    if self._room == self._smallest:
                        self._least = min(self._least, seconds)
                    if seconds > self._least + SLOWER:  # a size that took too long is not tried again
                        self._room = self._most = max(self._room // 2, self._smallest)
                    else:
                        self._room = min(self._room * 2, self._most)
            at += len(batch)
        return vectors


def _serves(asked_at: datetime, call: asyncio.Task[Vector], now: datetime) -> bool:
    """Return whether a call still runs, or succeeded and began less than a minute ago."""
    if not call.done():
        return True
    return not call.cancelled() and call.exception() is None and timedelta(0) <= now - asked_at < LIFETIME
