"""Embeds what has no vector yet: events, profiles and beliefs, all by one rule; indexes profiles that people edited."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from .. import sentences
from ..domain.profile import Profile
from ..errors import BadAnswer, BadArgument, PermanentError, TooSlow, UnavailableError
from ..ports import Embedder
from ..profiles.files import FileProfiles
from ..store.database.database import Snapshot, at_once
from ..store.profiles import ProfileIndex
from ..store.vectors import VectorBook
from ..tasks import BackgroundLoop, ErrorState
from ..text.cleaning import described

log = logging.getLogger(__name__)
BATCH, PROFILE_BATCH = 64, 16
READ_AGAIN = 300.0  # seconds until an unreadable profile is read again
SKIPPED_FOR = 3600.0  # seconds
PLAIN_TEXT = "hello"
REFUSALS = (PermanentError, BadAnswer, BadArgument, TooSlow)  # errors that a single text may cause
PATIENT = 3  # batches in a row that found the model unavailable before a plain text is tried
_Waiting = tuple[str | int, str]  # a row's key and text


class Indexer:
    """Embeds rows without a vector in batches; if the embedder fails, they wait and none is lost.

    A text that the model refuses, or answers badly while it answers others well, is skipped for an hour.
    """

    def __init__(
        self,
        name: str,
        embedder: Embedder,
        book: VectorBook[Any],
        *,
        on_stored: Callable[[], None] = lambda: None,
        batch: int = BATCH,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create; a step embeds up to ``batch`` texts, and ``on_stored`` is called after storing vectors."""
        self._embedder = embedder
        self._book = book
        self._on_stored = on_stored
        self._size = batch
        self.loop = BackgroundLoop(name, self._round)
        self.nudge, self.wake_now = self.loop.nudge, self.loop.wake_now
        self._elapsed = elapsed
        self._refused: dict[_Waiting, float] = {}  # skipped until this time; with another text it is another item
        self._away = 0  # batches in a row that found the model unavailable

    def has_lag(self, connection: Snapshot) -> bool:
        """Return whether an item waits for a vector, and is not skipped; in the thread of the connection."""
        now, most = self._elapsed(), self._size + len(self._refused)
        waiting = at_once(self._book.waiting, connection, self._embedder.fingerprint, most)
        return any(self._refused.get(item, now) <= now for item in waiting)

    async def step(self) -> int:
        """Embed one batch; return the number of its items."""
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

    async def _batch(self) -> list[_Waiting]:
        now = self._elapsed()
        self._refused = {item: until for item, until in self._refused.items() if until > now}
        waiting = await self._book.waiting(self._embedder.fingerprint, self._size + len(self._refused))
        return [item for item in waiting if item not in self._refused][: self._size]

    async def _embed(
        self, batch: Sequence[_Waiting], refusals: tuple[type[Exception], ...], *, again: bool = False
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
                log.warning("%s", sentences.log.NOT_EMBEDDED.format(item=batch[0][0], reason=described(refused)))
                self._refused[batch[0]] = self._elapsed() + SKIPPED_FOR
                return
            middle = len(batch) // 2
            for half in filter(None, (batch[:middle], batch[middle:])):
                await self._embed(half, refusals, again=True)
        except UnavailableError:
            self._away += 1
            raise
        else:
            self._away = 0
            rows = [(*item, vector) for item, vector in zip(batch, vectors, strict=True)]
            await self._book.store(self._embedder.fingerprint, rows)
            self._on_stored()


class ProfileIndexer(Indexer):
    """Embeds profiles without a vector; at the start it indexes files that people added, edited or removed by hand.

    If one cannot be read, all are looked at again every few minutes. It delays neither other profiles nor callers that
    wait for the index.
    """

    def __init__(
        self,
        store: FileProfiles,
        index: ProfileIndex,
        book: VectorBook[Profile],
        embedder: Embedder,
        *,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        """Keep ``index`` equal to ``store``."""
        super().__init__("profile index", embedder, book, batch=PROFILE_BATCH, elapsed=elapsed)
        self._files = store
        self._index = index
        self._reading = ErrorState("profile index")
        self._refresh_at = -math.inf

    @property
    def error_states(self) -> list[ErrorState]:
        """The error states of embedding and of reading profiles."""
        return [self.loop.trouble, self._reading]

    def has_lag(self, connection: Snapshot) -> bool:
        """Return whether any profile still waits for a vector, or for the first look at the files."""
        return self._refresh_at == -math.inf or super().has_lag(connection)

    async def refresh(self) -> None:
        """Make the index equal to the files: add new and changed profiles, remove those without a file."""
        known, keys = await self._index.versions(), await self._files.keys()
        refresh_at = math.inf
        for key in {**dict.fromkeys(keys), **known}:
            try:
                profile = await self._files.find(key)
                if profile is None or profile.version != known.get(key):
                    await self._index.take_in(key, self._files.read)
            except UnavailableError as refused:
                self._reading.note(refused)
                refresh_at = self._elapsed() + READ_AGAIN
        if refresh_at == math.inf:
            self._reading.end()
        self._refresh_at = refresh_at

    async def _round(self) -> float:
        if self._elapsed() >= self._refresh_at:
            await self.refresh()
        return min(await super()._round(), READ_AGAIN)
