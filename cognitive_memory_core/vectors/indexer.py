"""Embeds what has no vector yet: events, profiles and beliefs, all by one rule; indexes profiles that people edited."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import astuple
from typing import Generic, TypeVar

from .. import sentences
from ..domain.belief import Belief
from ..domain.profile import Profile, ProfileKey
from ..errors import BadAnswer, BadArgument, PermanentError, TooSlow, UnavailableError
from ..ports import Embedder, Vector
from ..profiles.files import FileProfiles
from ..store.beliefs import BeliefBook
from ..store.profiles import ProfileIndex
from ..store.vectors import VectorLedger, VectorRow
from ..tasks import BackgroundLoop, ErrorState, together
from ..text.names import described

log = logging.getLogger(__name__)
BATCH, PROFILE_BATCH = 64, 16
READ_AGAIN = 300.0  # seconds until an unreadable profile is read again
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
    return Indexer(
        "Indexer",
        embedder,
        ledger.waiting,
        lambda model, pairs: ledger.store(model, [VectorRow(one, vector, text) for (one, text), vector in pairs]),
        lambda row: row,
        on_stored=on_stored,
        batch=max(batch, BATCH),
    )


def belief_indexer(embedder: Embedder, book: BeliefBook) -> Indexer[Belief]:
    """Return the indexer of active beliefs."""
    return Indexer(
        "belief index",
        embedder,
        book.waiting,
        lambda model, pairs: together(*(book.store(model, belief, vector) for belief, vector in pairs)),
        lambda belief: (belief.id, belief.statement),
    )


class ProfileIndexer(Indexer[Profile]):
    """Embeds profiles without a vector; at the start it indexes files that people added, edited or removed by hand.

    A profile that the model refuses is skipped for an hour or until it changes. An unreadable one is tried again every
    few minutes. Neither delays other profiles, or callers that wait for the index.
    """

    def __init__(
        self,
        store: FileProfiles,
        index: ProfileIndex,
        embedder: Embedder,
        *,
        elapsed: Callable[[], float] = time.monotonic,
        read_again: float = READ_AGAIN,
    ) -> None:
        """Keep ``index`` equal to ``store``; unreadable profiles are tried again after ``read_again`` seconds."""
        super().__init__(
            "profile index",
            embedder,
            index.waiting,
            lambda model, pairs: together(*(index.store(model, profile, vector) for profile, vector in pairs)),
            lambda profile: (" ".join(filter(None, (*astuple(profile.key), profile.version))), words_of(profile)),
            batch=PROFILE_BATCH,
            elapsed=elapsed,
        )
        self._read_again = read_again
        self._files = store
        self._index = index
        self._unread: dict[ProfileKey, str] = {}  # errors of unreadable profiles
        self._reading = ErrorState("profile index")
        self._read_again_at = 0.0
        self._is_fresh = False

    @property
    def error_states(self) -> list[ErrorState]:
        """The error states of embedding and of reading profiles."""
        return [self.loop.trouble, self._reading]

    async def has_lag(self) -> bool:
        """Return whether any profile still waits for a vector."""
        return not self._is_fresh or await super().has_lag()

    async def refresh(self) -> None:
        """Make the index equal to the files: add new and changed profiles, remove those without a file."""
        known = await self._index.versions()
        keys = await self._files.keys()
        for key in keys:
            await self._take_in(key, known.get(key))
        for key in (set(known) | set(self._unread)) - set(keys):
            await self._take_in(key)
        self._is_fresh = True
        self._read_again_at = self._elapsed() + self._read_again

    async def _take_in(self, key: ProfileKey, known: str | None = None) -> None:
        """Index one profile unless its version is ``known``; log an unreadable one once."""
        try:
            profile = await self._files.find(key)
            if profile is None or profile.version != known:
                await self._index.take_in(key, self._files.read)
        except UnavailableError as refused:
            if key not in self._unread:
                said = sentences.log.PROFILE_NOT_READ.format(entity_type=key.entity_type, reason=described(refused))
                log.warning("%s", said)
            self._unread[key] = described(refused)
            self._reading.tell(described(refused), is_logged=True)
        else:
            self._unread.pop(key, None)
            if not self._unread:
                self._reading.end()

    async def _round(self) -> float:
        if not self._is_fresh:
            await self.refresh()
        elif self._unread and self._elapsed() >= self._read_again_at:
            self._read_again_at = self._elapsed() + self._read_again
            for key in list(self._unread):
                await self._take_in(key)
        rest = await super()._round()
        return min(rest, self._read_again) if self._unread else rest


def words_of(profile: Profile) -> str:
    """Return the searchable text of a profile: name, tags, and the summary without Markdown marks."""
    lines = [profile.name, " ".join(profile.tags), *(line.strip("-*# \t") for line in profile.summary.split("\n"))]
    return "\n".join(line for line in lines if line.strip())
