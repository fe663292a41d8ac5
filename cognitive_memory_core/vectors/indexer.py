"""Embeds what has no vector yet: events, profiles and beliefs, all by one rule."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from .. import sentences
from ..domain.belief import Belief
from ..errors import BadAnswer, BadArgument, PermanentError, TooSlow, UnavailableError
from ..ports.models import Embedder, Vector
from ..store.beliefs import BeliefBook
from ..store.vectors import VectorLedger, VectorRow
from ..tasks import BackgroundLoop, together
from ..text.names import described

log = logging.getLogger(__name__)
BATCH = 64
SKIPPED_FOR = 3600.0  # seconds
PLAIN_TEXT = "hello"
REFUSALS = (PermanentError, BadAnswer, BadArgument, TooSlow)  # errors that a single text may cause
PATIENT = 3  # batches in a row that found the model unavailable before a plain text is tried
T = TypeVar("T")
Waiting = tuple[str, str]  # an event's id and text


class Indexer(Generic[T]):
    """Embeds items without a vector in batches; if the embedder fails, they wait and none is lost.

    A text that the model refuses, or answers badly while it answers others well, is skipped for an hour. Vectors that
    the ledger could not store are kept and written later, so that no text is embedded twice.
    """

    def __init__(
        self,
        name: str,
        embedder: Embedder,
        waiting: Callable[[str, int], Awaitable[Sequence[T]]],
        store: Callable[[str, Sequence[tuple[T, Vector]]], Awaitable[object]],
        keyed: Callable[[T], tuple[str, str]],
        *,
        on_stored: Callable[[], None] = lambda: None,
        batch: int = BATCH,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create; a step embeds up to ``batch`` items, and ``on_stored`` is called after storing vectors.

        ``waiting`` returns at most so many items without a vector of a fingerprint, ``store`` stores their vectors,
        ``keyed`` returns the key and the text of an item; another text under the same key may be another item.
        """
        self._embedder = embedder
        self._waiting = waiting
        self._store = store
        self._keyed = keyed
        self._on_stored = on_stored
        self._size = batch
        self.loop = BackgroundLoop(name, self._round)
        self.nudge, self.wake_now = self.loop.nudge, self.loop.wake_now
        self._unsaved: list[tuple[T, Vector]] = []
        self._elapsed = elapsed
        self._refused: dict[str, float] = {}  # skipped until this time
        self._away = 0  # batches in a row that found the model unavailable

    async def has_lag(self) -> bool:
        """Return whether an item waits for a vector, and is not skipped."""
        return bool(await self._batch())

    async def step(self) -> int:
        """Embed one batch; return the number of its items."""
        await self._save()
        batch = await self._batch()
        if batch:
            refusals = REFUSALS
            if self._away >= PATIENT:  # perhaps it dies of a text
                await self._embedder.embed_documents([PLAIN_TEXT])
                refusals = (*REFUSALS, UnavailableError)
            await self._embed(batch, refusals)
        return len(batch)

    async def _round(self) -> float:
        is_full = await self.step() >= self._size
        return 0.0 if is_full else SKIPPED_FOR  # items that came meanwhile have nudged the loop, and come together

    async def _batch(self) -> list[T]:
        now = self._elapsed()
        self._refused = {key: until for key, until in self._refused.items() if until > now}
        waiting = await self._waiting(self._embedder.fingerprint, self._size + len(self._refused))
        return [item for item in waiting if self._keyed(item)[0] not in self._refused][: self._size]

    async def _embed(self, batch: Sequence[T], refusals: tuple[type[Exception], ...], *, again: bool = False) -> None:
        """Embed texts; if they are refused while a plain text is not, in halves, to find and skip those at fault.

        A text that came alone is asked ``again`` before it is skipped.
        """
        try:
            vectors = await self._embedder.embed_documents([self._keyed(item)[1] for item in batch])
        except refusals as refused:
            if not again:
                await self._embedder.embed_documents([PLAIN_TEXT])
            elif len(batch) == 1:
                key = self._keyed(batch[0])[0]
                log.warning("%s", sentences.log.NOT_EMBEDDED.format(item=key, reason=described(refused)))
                self._refused[key] = self._elapsed() + SKIPPED_FOR
                return
            middle = len(batch) // 2
            for half in filter(None, (batch[:middle], batch[middle:])):
                await self._embed(half, refusals, again=True)
        except UnavailableError:
            self._away += 1
            raise
        else:
            self._away = 0
            self._unsaved += zip(batch, vectors, strict=True)
            await self._save()

    async def _save(self) -> None:
        if not self._unsaved:
            return
        try:
            await self._store(self._embedder.fingerprint, self._unsaved)
        except BadArgument:
            self._unsaved = []  # invalid vectors: kept, they would block all others
            raise
        self._unsaved = []
        self._on_stored()


def event_indexer(
    embedder: Embedder, ledger: VectorLedger, *, on_stored: Callable[[], None] = lambda: None, batch: int = BATCH
) -> Indexer[Waiting]:
    """Return the indexer of events, from whose vectors the vector index is built."""

    async def store(fingerprint: str, pairs: Sequence[tuple[Waiting, Vector]]) -> None:
        await ledger.store(fingerprint, [VectorRow(event_id, vector, text) for (event_id, text), vector in pairs])

    batch = max(batch, BATCH)
    return Indexer("Indexer", embedder, ledger.waiting, store, lambda row: row, on_stored=on_stored, batch=batch)


def belief_indexer(embedder: Embedder, book: BeliefBook) -> Indexer[Belief]:
    """Return the indexer of active beliefs."""
    store = one_by_one(book.store)
    return Indexer("belief index", embedder, book.waiting, store, lambda belief: (belief.id, belief.statement))


def one_by_one(
    store: Callable[[str, T, Vector], Awaitable[object]],
) -> Callable[[str, Sequence[tuple[T, Vector]]], Awaitable[object]]:
    """Return a function that stores each of several vectors."""

    async def store_all(fingerprint: str, pairs: Sequence[tuple[T, Vector]]) -> None:
        await together(*(store(fingerprint, item, vector) for item, vector in pairs))

    return store_all
