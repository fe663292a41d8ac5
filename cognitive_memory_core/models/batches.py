"""Embeds the texts of background work in batches; a batch does not start while a query is running."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from .. import sentences
from ..errors import CognitiveMemoryError, PermanentError, TransientError, UnavailableError
from ..ports.models import Vector
from .query_sender import stopped

AT_ONCE = 2
SMALLEST = 16  # texts per batch for any model
FAST = 0.5  # seconds that a query may wait behind a batch; a slower model gets smaller batches
GAIN = 0.7  # factor of the seconds per text below which a batch of twice the size is worth the wait
LONGEST_WAIT = 10.0  # seconds; background texts continue even while queries never stop


@dataclass(frozen=True, eq=False)
class _EmbeddingRequest:
    """Some texts of one caller, and the future of their vectors."""

    caller: object
    texts: Sequence[str]
    answer: asyncio.Future[list[Vector]]


class _BatchLimits:
    """The batch size, adapted to the speed of the model."""

    def __init__(self, most: int) -> None:
        """Start with the smallest size; grow to at most ``most``."""
        self.smallest = min(SMALLEST, most)
        doubled = (self.smallest << power for power in range(most.bit_length()))
        self._rooms = [*(room for room in doubled if room < most), most]
        self._seconds: list[float | None] = [None] * len(self._rooms)  # seconds per text in a full batch of each size
        self._at = 0

    @property
    def room(self) -> int:
        """Return the number of texts per batch."""
        return self._rooms[self._at]

    @property
    def at_once(self) -> int:
        """Return how many batches may run at once: one while the size is the smallest, for the sake of queries."""
        return AT_ONCE if self._at or len(self._rooms) == 1 else 1

    def learn(self, room: int, count: int, seconds: float) -> None:
        """Adapt the batch size after a batch of ``count`` texts, for which there was ``room``, took some seconds.

        It grows if that saves time per text or adds little latency, and shrinks if it does neither.
        """
        at = self._rooms.index(room)
        if count * 2 <= room or at != self._at:  # far from full, or started before the last change
            return
        self._seconds[at] = seconds / count
        if seconds > FAST and at and not self._saves_time(at):
            self._at -= 1
        elif at + 1 < len(self._rooms) and (seconds * 2 <= FAST or self._saves_time(at + 1)):
            self._at += 1

    def _saves_time(self, at: int) -> bool:
        """Return whether the size at this index is clearly faster per text than the next smaller one, or untried."""
        smaller, larger = self._seconds[at - 1], self._seconds[at]
        return smaller is None or larger is None or larger <= GAIN * smaller


class Batches:
    """Sends texts in batches of at most ``most``, two at once; no batch starts while a query is running.

    Texts of several callers share a batch. A model that is slow per text gets one batch of 16 texts at a time, because
    a query may have to wait for it; a model that only has a long round trip gets full batches.
    """

    def __init__(
        self,
        embed: Callable[[Sequence[str]], Awaitable[list[Vector]]],
        most: int,
        is_quiet: asyncio.Event,
        *,
        max_wait: float = LONGEST_WAIT,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        """Embed batches with ``embed``; each waits until ``is_quiet`` is set, but at most ``max_wait`` seconds."""
        self._max_wait = max_wait
        self._embed = embed
        self._limits = _BatchLimits(most)
        self._is_quiet = is_quiet
        self._elapsed = elapsed
        self._waiting: deque[_EmbeddingRequest] = deque()
        self._under_way: dict[asyncio.Task[None], list[_EmbeddingRequest]] = {}
        self._is_closed = False

    async def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector per text, in order; raises what the embedder raises for any of their batches.

        If a caller is cancelled or fails, its texts that were not sent yet are dropped; other callers' batches
        continue. Raises UnavailableError once closed, also in waiting calls.
        """
        if self._is_closed:
            raise UnavailableError(sentences.caller.NOT_RUNNING)
        requests = self._requests(texts)
        self._waiting.extend(requests)
        self._start_batches()
        try:
            answers = await asyncio.gather(*(request.answer for request in requests))
        finally:
            self._withdraw(requests)
        return [vector for vectors in answers for vector in vectors]

    async def close(self) -> None:
        """Fail all waiting callers with UnavailableError, and cancel all running calls of the embedder."""
        self._is_closed = True
        _fail([*self._waiting, *(request for batch in self._under_way.values() for request in batch)], _closed_error())
        self._waiting.clear()
        await stopped(self._under_way)

    def _requests(self, texts: Sequence[str]) -> list[_EmbeddingRequest]:
        loop, caller, size = asyncio.get_running_loop(), object(), self._limits.smallest
        parts = [texts[at : at + size] for at in range(0, len(texts), size)]
        return [_EmbeddingRequest(caller, part, loop.create_future()) for part in parts]

    def _withdraw(self, requests: Sequence[_EmbeddingRequest]) -> None:
        """Cancel the unanswered requests of a caller, and the running calls whose batches have no other caller."""
        for request in requests:
            request.answer.cancel()
        for call, batch in self._under_way.items():
            if batch and all(request.answer.done() for request in batch):
                call.cancel()

    def _start_batches(self) -> None:
        while self._waiting and len(self._under_way) < self._limits.at_once:
            batch: list[_EmbeddingRequest] = []
            call = asyncio.create_task(self._run_batch(batch))
            self._under_way[call] = batch
            call.add_done_callback(self._on_done)

    async def _run_batch(self, batch: list[_EmbeddingRequest]) -> None:
        """Wait until a batch may start, fill it, and send it."""
        await self._wait_for_queries()
        batch += self._take_batch()
        if not batch:
            return
        try:
            await self._embed_and_deliver(batch)
        except (PermanentError, TransientError) as refused:  # possibly caused by one caller's texts
            await self._deliver_separately(batch, refused)

    async def _wait_for_queries(self) -> None:
        """Wait while queries run, without ``asyncio.wait_for``, which may lose a cancellation before Python 3.12."""
        waiter = asyncio.ensure_future(self._is_quiet.wait())
        try:
            await asyncio.wait({waiter}, timeout=self._max_wait)
        finally:
            waiter.cancel()

    def _take_batch(self) -> list[_EmbeddingRequest]:
        """Take the next requests that fit into one batch, without those whose callers were cancelled."""
        batch: list[_EmbeddingRequest] = []
        room = self._limits.room
        while self._waiting and len(self._waiting[0].texts) <= room:
            request = self._waiting.popleft()
            if not request.answer.done():
                batch.append(request)
                room -= len(request.texts)
        return batch

    async def _embed_and_deliver(self, batch: Sequence[_EmbeddingRequest]) -> None:
        texts = [text for request in batch for text in request.texts]
        room, began = self._limits.room, self._elapsed()
        vectors = await self._embed(texts)
        self._limits.learn(room, len(texts), self._elapsed() - began)
        at = 0
        for request in batch:
            if not request.answer.done():
                request.answer.set_result(vectors[at : at + len(request.texts)])
            at += len(request.texts)

    async def _deliver_separately(self, batch: Sequence[_EmbeddingRequest], refused: CognitiveMemoryError) -> None:
        """Retry each caller's texts in a batch of its own; if all texts are of one caller, raise ``refused``."""
        own: dict[object, list[_EmbeddingRequest]] = {}
        for request in batch:
            own.setdefault(request.caller, []).append(request)
        if len(own) == 1:
            raise refused
        for requests in own.values():
            try:
                await self._embed_and_deliver(requests)
            except CognitiveMemoryError as failure:
                _fail(requests, failure)

    def _on_done(self, call: asyncio.Task[None]) -> None:
        batch = self._under_way.pop(call)
        _fail(batch, (None if call.cancelled() else call.exception()) or _closed_error())
        self._start_batches()


def _fail(requests: Sequence[_EmbeddingRequest], failure: BaseException) -> None:
    for request in requests:
        if not request.answer.done():
            request.answer.set_exception(failure)


def _closed_error() -> UnavailableError:
    return UnavailableError(sentences.caller.NOT_RUNNING)
