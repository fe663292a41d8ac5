"""Keeps the profile index equal to the profile files, and embeds each profile."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import astuple

from .. import sentences
from ..domain.profile import Profile, ProfileKey
from ..errors import UnavailableError
from ..ports.models import Embedder
from ..profiles.files import FileProfiles
from ..store.profiles import ProfileIndex
from ..tasks import ErrorState
from ..text.names import described
from .indexer import Indexer, one_by_one

log = logging.getLogger(__name__)
BATCH = 16
READ_AGAIN = 300.0  # seconds until an unreadable profile is read again


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
        kept = one_by_one(index.store)
        super().__init__("profile index", embedder, index.waiting, kept, _keyed, batch=BATCH, elapsed=elapsed)
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


def _keyed(profile: Profile) -> tuple[str, str]:
    """Return a key of a profile's version, and its searchable text."""
    return " ".join(filter(None, (*astuple(profile.key), profile.version))), words_of(profile)


def words_of(profile: Profile) -> str:
    """Return the searchable text of a profile: name, tags, and the summary without Markdown marks."""
    lines = [profile.name, " ".join(profile.tags), *(line.strip("-*# \t") for line in profile.summary.split("\n"))]
    return "\n".join(line for line in lines if line.strip())
