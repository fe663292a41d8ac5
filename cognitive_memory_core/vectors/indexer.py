"""Embeds every event and stores the vector in the ledger, from which the vector index is built."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from .. import sentences
from ..errors import BadAnswer, BadArgument, PermanentError, TooSlow, UnavailableError
from ..ports.models import Embedder, Vector
from ..store.vectors import VectorLedger, VectorRow
from ..tasks import BackgroundLoop
from ..text.names import described

log = logging.getLogger(__name__)
BATCH = 64
TOLERATED_FAILURES = 2  # failed calls in a row beyond those that halving a batch down to one text takes
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
        self._most_failures = self._batch.bit_length() - 1 + TOLERATED_FAILURES
        self.loop = BackgroundLoop("Indexer", self._round)
        self.nudge, self.wake_now = self.loop.nudge, self.loop.wake_now
        self._unsaved: list[VectorRow] = []
        self._elapsed = elapsed
        self._refused: dict[str, float] = {}  # skipped until this time
        self._suspects: list[Waiting] = []
        self._failures_in_a_row = 0
        self._away = 0
        self._blaming: tuple[type[Exception], ...] = REFUSALS

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
            self._suspects, self._failures_in_a_row = [], 0
            await self._blame_model_or_texts()
            await self._embed(batch)
            await self._skip_failing_texts(len(batch))
        return len(batch)

    async def _round(self) -> float:
        is_full = await self.step() >= self._batch
        return 0.0 if is_full else SKIPPED_FOR  # events that came meanwhile have nudged the loop, and come together

    async def _blame_model_or_texts(self) -> None:
        """After several failures of the model, test it with a plain text; if it answers, the texts count as refused."""
        self._blaming = REFUSALS
        if self._away >= PATIENT:
            await self._embedder.embed_documents([PLAIN_TEXT])
            self._blaming = (*REFUSALS, UnavailableError)

    async def _embed(self, batch: Sequence[Waiting]) -> None:
        try:
            vectors = await self._embedder.embed_documents([text for _, text in batch])
        except self._blaming as refused:
            await self._embed_halves(batch, refused)
        except UnavailableError:
            self._away += 1
            raise
        else:
            self._failures_in_a_row = self._away = 0
            await self._keep(batch, vectors)

    async def _embed_halves(self, batch: Sequence[Waiting], refused: Exception) -> None:
        """Embed a refused batch in halves to find the texts that make it fail; raise after too many failures."""
        self._failures_in_a_row += 1
        if self._failures_in_a_row > self._most_failures:
            raise refused
        if len(batch) == 1:
            self._suspects.append(batch[0])
            return
        middle = len(batch) // 2
        await self._embed(batch[:middle])
        await self._embed(batch[middle:])

    async def _keep(self, batch: Sequence[Waiting], vectors: Sequence[Vector]) -> None:
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

    async def _skip_failing_texts(self, looked_at: int) -> None:
        """Embed each suspect text once more and skip those that fail.

        If every text of the batch is suspect, embed a plain text first, so that a failing model raises instead.
        """
        if self._suspects and len(self._suspects) == looked_at:
            await self._embedder.embed_documents([PLAIN_TEXT])
        for event_id, text in self._suspects:
            try:
                vectors = await self._embedder.embed_documents([text])
            except self._blaming as refused:
                said = sentences.log.EVENT_NOT_EMBEDDED.format(event_id=event_id, reason=described(refused))
                log.warning("%s", said)
                self._refused[event_id] = self._elapsed() + SKIPPED_FOR
            else:
                await self._keep([(event_id, text)], vectors)

    def _retry_skipped(self) -> None:
        """Stop skipping the texts whose hour is over."""
        now = self._elapsed()
        self._refused = {event_id: until for event_id, until in self._refused.items() if until > now}
