"""Embeds every event and stores the vector in the ledger, from which the vector index is built."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from .. import sentences
from ..errors import BadAnswer, BadArgument, PermanentError, TooSlow, UnavailableError
from ..ports.models import Embedder
from ..store.vectors import VectorLedger, VectorRow
from ..tasks import BackgroundLoop
from ..text.names import described

log = logging.getLogger(__name__)
BATCH = 64
SKIPPED_FOR = 3600.0  # seconds
PLAIN_TEXT = "hello"
REFUSALS = (PermanentError, BadAnswer, BadArgument, TooSlow)  # errors that a single text may cause
PATIENT = 3  # batches in a row that found the model unavailable before a plain text is tried
Waiting = tuple[str, str]  # an event's id and text


class Indexer:
    """Embeds events without a vector in batches; if the embedder fails, they wait and none is lost.

    A text that the model refuses, or answers badly while it answers others well, is skipped for an hour. Vectors that
    the ledger could not store are kept and written later, so that no text is embedded twice.
    """

    def __init__(
        self,
        embedder: Embedder,
        ledger: VectorLedger,
        *,
        on_stored: Callable[[], None],
        batch: int = BATCH,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create for a ledger; a step embeds up to ``batch`` texts. ``on_stored`` is called after storing vectors."""
        self._embedder = embedder
        self._ledger = ledger
        self._on_stored = on_stored
        self._batch = max(batch, BATCH)
        self.loop = BackgroundLoop("Indexer", self._round)
        self.nudge, self.wake_now = self.loop.nudge, self.loop.wake_now
        self._unsaved: list[VectorRow] = []
        self._elapsed = elapsed
        self._refused: dict[str, float] = {}  # skipped until this time
        self._away = 0  # batches in a row that found the model unavailable

    @property
    def last_error(self) -> str:
        """Why the last round failed; "" if it succeeded."""
        return self.loop.last_error

    async def lag(self) -> int:
        """Return the number of events that still wait for a vector."""
        self._retry_skipped()
        return max(await self._ledger.lag(self._embedder.fingerprint) - len(self._refused), 0)

    async def step(self) -> int:
        """Embed one batch; return the number of its events."""
        await self._save()
        self._retry_skipped()
        waiting = await self._ledger.waiting(self._embedder.fingerprint, self._batch + len(self._refused))
        batch = [row for row in waiting if row[0] not in self._refused][: self._batch]
        if batch:
            refusals = REFUSALS
            if self._away >= PATIENT:  # perhaps it dies of a text
                await self._embedder.embed_documents([PLAIN_TEXT])
                refusals = (*REFUSALS, UnavailableError)
            await self._embed(batch, refusals)
        return len(batch)

    async def _round(self) -> float:
        is_full = await self.step() >= self._batch
        return 0.0 if is_full else SKIPPED_FOR  # events that came meanwhile have nudged the loop, and come together

    async def _embed(
        self, batch: Sequence[Waiting], refusals: tuple[type[Exception], ...], *, again: bool = False
    ) -> None:
        """Embed texts; if they are refused while a plain text is not, in halves, to find and skip those at fault.

        A text that came alone is asked ``again`` before it is skipped.
        """
        try:
            vectors = await self._embedder.embed_documents([text for _, text in batch])
        except refusals as refused:
            if not again:
                await self._embedder.embed_documents([PLAIN_TEXT])
            elif len(batch) == 1:
                event_id = batch[0][0]
                said = sentences.log.EVENT_NOT_EMBEDDED.format(event_id=event_id, reason=described(refused))
                log.warning("%s", said)
                self._refused[event_id] = self._elapsed() + SKIPPED_FOR
                return
            middle = len(batch) // 2
            for half in filter(None, (batch[:middle], batch[middle:])):
                await self._embed(half, refusals, again=True)
        except UnavailableError:
            self._away += 1
            raise
        else:
            self._away = 0
            self._unsaved += [VectorRow(row[0], vector, row[1]) for row, vector in zip(batch, vectors, strict=True)]
            await self._save()

    async def _save(self) -> None:
        if not self._unsaved:
            return
        try:
            await self._ledger.store(self._embedder.fingerprint, self._unsaved)
        except BadArgument:
            self._unsaved = []  # invalid vectors: kept, they would block all others
            raise
        self._unsaved = []
        self._on_stored()

    def _retry_skipped(self) -> None:
        """Stop skipping the texts whose hour is over."""
        now = self._elapsed()
        self._refused = {event_id: until for event_id, until in self._refused.items() if until > now}
