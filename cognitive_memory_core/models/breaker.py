"""Circuit breakers for models and stores: after five failures in a row, calls are refused at once."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Literal, TypeVar

from .. import sentences
from ..domain.event import Event
from ..domain.log_fields import log_fields
from ..domain.read_filter import ReadFilter
from ..errors import Busy, CognitiveMemoryError, ModelRefused, UnavailableError
from ..ports.models import Ask, Chat, Reranker, Vector
from ..ports.vectors import EmbeddedEvent, Generation, SleepingStore
from ..ports.words import FoundLines, LineSearch, WordIndex

log = logging.getLogger(__name__)
State = Literal["uninitialised", "ready", "failed"]
MAX_FAILURES = 5  # failures in a row
FIRST_PAUSE, LONGEST_PAUSE = 2.0, 300.0
OVERDUE = 10.0  # seconds after which other calls no longer wait for a store that does not answer
T = TypeVar("T")


class Breaker:
    """Refuses calls to a component for a growing pause after five failures in a row, then lets one call probe.

    Only UnavailableError counts, except Busy: a component that answers, however badly, is available. If an error has a
    ``retry_after``, calls are refused until that time, even after the first failure.
    """

    def __init__(self, name: str, *, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Guard the component of this name; ``elapsed`` returns monotonic seconds."""
        self.name = name
        self.state: State = "uninitialised"
        self.last_error = ""
        self.refusal = ""  # of the provider; an operator must act
        self._refused_at = 0.0
        self._elapsed = elapsed
        self._failures = 0
        self._pause = FIRST_PAUSE
        self._paused_until = 0.0
        self._is_probing = False
        self._overdue_calls = 0

    async def call(self, act: Callable[[], Awaitable[T]], *, overdue: float | None = None) -> T:
        """Call the component, or raise UnavailableError at once while the breaker is open.

        A call that runs for more than ``overdue`` seconds counts as a failure from then on, although its caller still
        waits.
        """
        is_probe = self.state == "failed"
        self._refuse_while_open(is_probe=is_probe)
        self._is_probing = is_probe
        try:
            with self._counting_overdue(overdue):
                answer = await act()
        except Busy:
            raise
        except UnavailableError as error:
            self._note_failure(error, is_probe=is_probe)
            if isinstance(error, ModelRefused):
                self._note_refusal(error)
            raise
        except CognitiveMemoryError:
            self._note_success()
            raise
        finally:
            if is_probe:
                self._is_probing = False
        self._note_success()
        return answer

    def try_now(self) -> None:
        """Let the next call through, however long calls would still be refused."""
        self._paused_until = 0.0

    def give_up(self) -> None:
        """Let the rules take what the provider refuses, without waiting longer."""
        self._refused_at = -math.inf

    def _refuse_while_open(self, *, is_probe: bool) -> None:
        rest = self._paused_until - self._elapsed()
        if rest > 0 or self._overdue_calls or (is_probe and self._is_probing):
            message = sentences.log.PART_RESTS.format(part=self.name, reason=self.last_error)
            kind = ModelRefused if self.refusal else UnavailableError
            error = kind(message, retry_after=max(rest, FIRST_PAUSE))
            if isinstance(error, ModelRefused):
                error.waited = self._elapsed() - self._refused_at
            raise error

    def _note_refusal(self, error: ModelRefused) -> None:
        if not self.refusal:
            self._refused_at = self._elapsed()
        self.refusal, error.waited = str(error), self._elapsed() - self._refused_at

    @contextmanager
    def _counting_overdue(self, overdue: float | None) -> Generator[None, None, None]:
        """Count a call as failed as soon as it is overdue, before it ends."""
        noted: list[float] = []

        def note() -> None:
            noted.append(self._elapsed())
            self._overdue_calls += 1
            self._note_overdue(overdue or 0.0)

        timer = None if overdue is None else asyncio.get_running_loop().call_later(overdue, note)
        try:
            yield
        finally:
            self._overdue_calls -= len(noted)
            if timer is not None:
                timer.cancel()

    def _note_overdue(self, seconds: float) -> None:
        self.last_error = sentences.log.PART_DOES_NOT_ANSWER.format(part=self.name, seconds=seconds)
        if self.state != "failed":
            message = sentences.log.PART_HANGS.format(reason=self.last_error)
            log.warning("%s", message, extra=log_fields("part", part=self.name))
        self.state = "failed"

    def _note_failure(self, error: UnavailableError, *, is_probe: bool) -> None:
        self.last_error = str(error)
        self._failures += 1
        self._paused_until = max(self._paused_until, self._elapsed() + (error.retry_after or 0.0))
        if self._failures < MAX_FAILURES or (self.state == "failed" and not is_probe):  # a straggler tells nothing new
            return
        if is_probe:
            self._pause = min(self._pause * 2, LONGEST_PAUSE)
        else:
            message = sentences.log.PART_FAILED.format(part=self.name, reason=self.last_error)
            log.warning("%s", message, extra=log_fields("part", part=self.name))
        self.state = "failed"
        self._paused_until = max(self._paused_until, self._elapsed() + self._pause)

    def _note_success(self) -> None:
        if self.state == "failed":
            message = sentences.log.PART_IS_BACK.format(part=self.name)
            log.warning("%s", message, extra=log_fields("part", part=self.name))
        self.state, self._failures, self._pause, self.last_error = "ready", 0, FIRST_PAUSE, ""
        self.refusal = ""


class GuardedChat:
    """A chat model behind a breaker."""

    def __init__(self, chat: Chat, breaker: Breaker) -> None:
        """Guard a chat model."""
        self._chat = chat
        self._breaker = breaker

    async def ask(self, ask: Ask[T]) -> T:
        """Ask the model and return its answer, parsed; raises as :class:`Chat` and :class:`Breaker` do."""
        return await self._breaker.call(lambda: self._chat.ask(ask))


class GuardedReranker:
    """A reranking model behind a breaker."""

    def __init__(self, reranker: Reranker, breaker: Breaker) -> None:
        """Guard a reranker."""
        self._reranker = reranker
        self._breaker = breaker

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text."""
        return await self._breaker.call(lambda: self._reranker.scores(query, texts))


class GuardedLexical:
    """A lexical index behind a breaker."""

    def __init__(self, lexical: WordIndex, breaker: Breaker) -> None:
        """Guard an index."""
        self._lexical = lexical
        self._breaker = breaker

    async def events(self, terms: Sequence[str], read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Find events that contain any of the terms."""
        return await self._breaker.call(lambda: self._lexical.events(terms, read_filter, limit))

    async def lines(self, search: LineSearch) -> FoundLines:
        """Find lines of the log, and lines near them."""
        return await self._breaker.call(lambda: self._lexical.lines(search))


class GuardedStore:
    """A vector store behind a breaker; see :class:`VectorStore` for what its methods do."""

    def __init__(self, store: SleepingStore, breaker: Breaker, *, overdue: float = OVERDUE) -> None:
        """Guard a store; a call that takes longer than ``overdue`` seconds counts as failed."""
        self._store = store
        self._breaker = breaker
        self._overdue = overdue

    async def open(self) -> Generation | None:
        """Return the generation in use."""
        return await self._guarded(self._store.open)

    async def begin(self, fingerprint: str, dimensions: int) -> Generation:
        """Create an empty generation; the one in use stays in use."""
        return await self._guarded(lambda: self._store.begin(fingerprint, dimensions))

    async def put_in_use(self, generation: Generation) -> None:
        """Put a generation in use."""
        await self._guarded(lambda: self._store.put_in_use(generation))

    async def upsert(self, generation: Generation, rows: Sequence[EmbeddedEvent]) -> None:
        """Write rows that have vectors."""
        await self._guarded(lambda: self._store.upsert(generation, rows))

    async def remove(self, generation: Generation, event_ids: Sequence[str]) -> None:
        """Remove rows."""
        await self._guarded(lambda: self._store.remove(generation, event_ids))

    async def listed(self, generation: Generation) -> frozenset[str]:
        """Return the ids of all rows."""
        return await self._guarded(lambda: self._store.listed(generation))

    async def nearest(
        self, generation: Generation, vector: Vector, read_filter: ReadFilter, limit: int
    ) -> list[tuple[str, float]]:
        """Search one generation."""
        return await self._breaker.call(lambda: self._store.nearest(generation, vector, read_filter, limit))

    async def is_there(self) -> bool:
        """Return whether a generation is in use; this reads the disk only, so the breaker is not involved."""
        return await self._store.is_there()

    async def sleep(self) -> None:
        """Stop the wrapped store, also while it is unavailable; success or failure does not change the breaker."""
        await self._store.sleep()

    async def _guarded(self, act: Callable[[], Awaitable[T]]) -> T:
        return await self._breaker.call(act, overdue=self._overdue)
