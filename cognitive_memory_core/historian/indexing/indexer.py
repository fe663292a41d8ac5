"""Gives every event its vector, into the ledger; whoever keeps an index follows the ledger."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from ...background import BackgroundLoop
from ...errors import BadAnswer, BadArgument, PermanentError, TooSlow, UnavailableError
from ...ports.ledger import VectorLedger, VectorRow
from ...ports.models import Embedder, Vector
from ...text.failures import described

log = logging.getLogger(__name__)
BATCH = 64
FRUITLESS = 2  # calls in a row that gave nothing, beyond what halving a batch down to one unusable text takes
LEFT_ALONE = 3600.0  # seconds
PLAIN_TEXT = "hello"
REFUSALS = (PermanentError, BadAnswer, BadArgument, TooSlow)  # what may be one text's fault
PATIENT = 3  # batches in a row that found the model away before it is asked whether it is
Waiting = tuple[str, str]  # an event's id and text


class Indexer:
    """Embeds in batches what the ledger says is waiting; a failing embedder means waiting, never losing.

    A text that the model refuses, or answers badly while it answers others well, is left alone for an hour. Vectors
    that the ledger refused are kept and written later: nothing is embedded twice for nothing.
    """

    def __init__(
        self,
        embedder: Embedder,
        shelf: VectorLedger,
        *,
        on_stored: Callable[[], None],
        batch: int = BATCH,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        """Embed from a ledger into it, up to ``batch`` texts a step; ``on_stored`` is told of new vectors."""
        self._embedder = embedder
        self._shelf = shelf
        self._on_stored = on_stored
        self._batch = max(batch, BATCH)
        self._fruitless_at_most = self._batch.bit_length() - 1 + FRUITLESS
        self.loop = BackgroundLoop("Indexer", self._round)
        self.nudge, self.hurry, self.run = self.loop.nudge, self.loop.hurry, self.loop.run
        self._unsaved: list[VectorRow] = []
        self._elapsed = elapsed
        self._refused: dict[str, float] = {}  # until when each is left alone
        self._suspects: list[Waiting] = []
        self._fruitless = 0
        self._away = 0
        self._blaming: tuple[type[Exception], ...] = REFUSALS

    @property
    def last_error(self) -> str:
        """Why nothing could be embedded the last time; "" where it could."""
        return self.loop.last_error

    async def lag(self) -> int:
        """Count the events that will get a vector and have none."""
        self._forgive()
        return max(await self._shelf.lag(self._embedder.fingerprint) - len(self._refused), 0)

    async def step(self) -> int:
        """Embed one batch; answers how many events were looked at."""
        await self._save()
        self._forgive()
        waiting = await self._shelf.waiting(self._embedder.fingerprint, self._batch + len(self._refused))
        batch = [row for row in waiting if row[0] not in self._refused][: self._batch]
        if batch:
            self._suspects, self._fruitless = [], 0
            await self._choose_whom_to_blame()
            await self._embed(batch)
            await self._give_up_suspects(len(batch))
        return len(batch)

    async def _round(self) -> float:
        return 0.0 if await self.step() else LEFT_ALONE

    async def _choose_whom_to_blame(self) -> None:
        """A model that is away for every batch and well for a plain text is not away: some text of the batch is."""
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
            self._fruitless = self._away = 0
            await self._keep(batch, vectors)

    async def _embed_halves(self, batch: Sequence[Waiting], refused: Exception) -> None:
        """Find the one text that spoils a batch; a model that answers nothing well is asked again later."""
        self._fruitless += 1
        if self._fruitless > self._fruitless_at_most:
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
            await self._shelf.store(self._embedder.fingerprint, self._unsaved)
        except BadArgument:
            self._unsaved = []  # no vectors, whoever made them: keeping them would keep all others out
            raise
        self._unsaved = []
        self._on_stored()

    async def _give_up_suspects(self, looked_at: int) -> None:
        """Ask once more for each text that spoiled its batch; where none was usable a plain one first."""
        if self._suspects and len(self._suspects) == looked_at:
            await self._embedder.embed_documents([PLAIN_TEXT])
        for event_id, text in self._suspects:
            try:
                vectors = await self._embedder.embed_documents([text])
            except self._blaming as refused:
                log.warning("Indexer: no vector for %s: %s", event_id, described(refused))
                self._refused[event_id] = self._elapsed() + LEFT_ALONE
            else:
                await self._keep([(event_id, text)], vectors)

    def _forgive(self) -> None:
        """Let texts be asked again whose hour is over."""
        now = self._elapsed()
        self._refused = {event_id: until for event_id, until in self._refused.items() if until > now}
