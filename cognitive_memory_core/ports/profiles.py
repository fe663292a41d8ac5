"""Portraits, kept as files that people can read and mend. Every write is durable when it returns.

Every method may raise StorageRefused (a write) or UnavailableError (a read).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Protocol

from ..domain.profile import Profile, ProfileKey, Revision
from ..domain.scope import Scope
from ..errors import TransientError


class Overtaken(TransientError):
    """The portrait changed since it was read: read it again and begin anew."""


class ProfileStore(Protocol):
    """One portrait a key, and its past."""

    async def find(self, key: ProfileKey) -> Profile | None:
        """Give the portrait of now; None when there is none.

        A file that cannot be read is put aside and the latest revision that can stands in its place.
        """
        ...

    async def write(self, profile: Profile) -> Profile:
        """Put a portrait in the place of the one whose ``version`` it bears ("" where there was none).

        The old one becomes a revision first; of the revisions the latest ``revision_keep`` are kept. Keys of the file
        that nobody here knows stay. Gives the portrait as it is kept, with its new version. Raises Overtaken when
        another one was written meanwhile, by whomever; nothing is changed then.
        """
        ...

    async def rename(self, key: ProfileKey, name: str) -> Profile | None:
        """Change the name alone, without a revision; None when there is no portrait."""
        ...

    async def revisions(self, key: ProfileKey) -> list[Revision]:
        """Give the past portraits, newest first."""
        ...

    async def restore(
        self, key: ProfileKey, revision_id: str, at: datetime, without: Callable[[str], str] = str
    ) -> Profile:
        """Let a past portrait be the one of now; that of now becomes a revision. Raises UnknownRevision.

        ``without`` gives a text of it without what it may not tell any more.
        """
        ...

    async def keys(self) -> list[ProfileKey]:
        """Name everybody who has a portrait, of every agent."""
        ...


class ProfileEraser(Protocol):
    """Forgetting in portraits and their past, for good and durably; doing it again does no harm."""

    async def erase_person(self, user_id: str, hide: Callable[[str], str]) -> list[ProfileKey]:
        """Remove a person's own portraits with their past, of every agent; hide them in all others'.

        ``hide`` gives a text without them. Answers the keys that were removed or reworded.
        """
        ...

    async def reword(self, key: ProfileKey, without: Callable[[str], str]) -> bool:
        """Put a portrait and its past in the words that ``without`` leaves of them; tells whether anything changed."""
        ...

    async def erase(self, keys: Collection[ProfileKey]) -> list[ProfileKey]:
        """Remove these portraits with their past; answers those of which there was anything."""
        ...

    async def erase_place(self, scope: Scope) -> list[ProfileKey]:
        """Remove the portraits of a group and of its members, or of the person of a private chat, of one agent."""
        ...
