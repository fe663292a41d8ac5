"""Keeps the profile index equal to the profile files, and embeds each profile."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from .. import sentences
from ..domain.profile import Profile, ProfileKey
from ..errors import BadAnswer, BadArgument, PermanentError, UnavailableError
from ..ports.models import Embedder, Vector
from ..profiles.files import FileProfiles
from ..store.profiles import ProfileIndex
from ..tasks import BackgroundLoop, ErrorState, latest, together
from ..text.names import described
from .page import sections_of, title_of

log = logging.getLogger(__name__)
BATCH = 16
SKIPPED_FOR = 3600.0  # seconds
READ_AGAIN = 300.0  # seconds until an unreadable profile is read again
REFUSALS = (PermanentError, BadAnswer, BadArgument)  # errors that a single profile may cause


class ProfileIndexer:
    """Embeds profiles without a vector; at the start it indexes files that people added, edited or removed by hand.

    A profile that the model refuses, or answers badly, is skipped for an hour or until it changes. An unreadable one
    is tried again every few minutes. Neither delays other profiles, or callers that wait for the index.
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
        self._read_again = read_again
        self._store = store
        self._index = index
        self._embedder = embedder
        self._elapsed = elapsed
        self.loop = BackgroundLoop("profile index", self._round)
        self.nudge, self.wake_now = self.loop.nudge, self.loop.wake_now
        self._refused: dict[tuple[ProfileKey, str], float] = {}  # skipped until this time
        self._unread: dict[ProfileKey, str] = {}  # errors of unreadable profiles
        self._reading = ErrorState("profile index")
        self._read_again_at = 0.0
        self._is_fresh = False

    @property
    def last_error(self) -> str:
        """The latest error of embedding or reading that has not ended; "" if there is none."""
        return latest(self.error_states)

    @property
    def error_states(self) -> list[ErrorState]:
        """The error states of embedding and of reading profiles."""
        return [self.loop.trouble, self._reading]

    async def has_lag(self) -> bool:
        """Return whether any profile still waits for a vector."""
        return not self._is_fresh or bool(await self._batch())

    async def refresh(self) -> None:
        """Make the index equal to the files: add new and changed profiles, remove those without a file."""
        known = await self._index.versions()
        keys = await self._store.keys()
        for key in keys:
            await self._take_in(key, known.get(key))
        for key in (set(known) | set(self._unread)) - set(keys):
            await self._take_in(key)
        self._is_fresh = True
        self._read_again_at = self._elapsed() + self._read_again

    async def _take_in(self, key: ProfileKey, known: str | None = None) -> None:
        """Index one profile unless its version is ``known``; log an unreadable one once."""
        try:
            profile = await self._store.find(key)
            if profile is None or profile.version != known:
                await self._index.take_in(key, self._store.read)
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

    async def step(self) -> int:
        """Embed one batch of profiles; return the number of profiles in it."""
        batch = await self._batch()
        if batch:
            try:
                await self._embed(batch)
            except REFUSALS:
                await self._embed_each(batch)
        return len(batch)

    async def _round(self) -> float:
        if not self._is_fresh:
            await self.refresh()
        elif self._unread and self._elapsed() >= self._read_again_at:
            self._read_again_at = self._elapsed() + self._read_again
            for key in list(self._unread):
                await self._take_in(key)
        if await self.step() >= BATCH:
            return 0.0
        return self._read_again if self._unread else SKIPPED_FOR

    async def _batch(self) -> list[Profile]:
        now = self._elapsed()
        self._refused = {one: until for one, until in self._refused.items() if until > now}
        waiting = await self._index.waiting(self._embedder.fingerprint, BATCH + len(self._refused))
        return [one for one in waiting if (one.key, one.version) not in self._refused][:BATCH]

    async def _embed(self, batch: Sequence[Profile]) -> None:
        vectors: list[Vector] = await self._embedder.embed_documents([words_of(profile) for profile in batch])
        pairs = zip(batch, vectors, strict=True)
        await together(*(self._index.store(self._embedder.fingerprint, profile, vector) for profile, vector in pairs))

    async def _embed_each(self, batch: Sequence[Profile]) -> None:
        for profile in batch:
            try:
                await self._embed([profile])
            except REFUSALS as refused:
                kind, reason = profile.key.entity_type, described(refused)
                log.warning("%s", sentences.log.PROFILE_NOT_EMBEDDED.format(entity_type=kind, reason=reason))
                self._refused[profile.key, profile.version] = self._elapsed() + SKIPPED_FOR


def words_of(profile: Profile) -> str:
    """Return the searchable text of a profile: name, tags, and the summary without Markdown marks."""
    lines = [profile.name, " ".join(profile.tags)]
    for heading, said in sections_of(profile.summary):
        lines += [title_of(heading), *(line.lstrip("-*# \t") for line in said)]
    return "\n".join(line for line in lines if line.strip())
