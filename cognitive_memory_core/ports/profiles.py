"""Profiles, stored as files that people can read and edit. Every write is durable when it returns.

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
    """The profile changed since it was read: read it again and retry."""


class ProfileStore(Protocol):
    """One current profile per key, with its revisions."""

    async def find(self, key: ProfileKey) -> Profile | None:
        """Return the current profile; None if there is none.

        An unreadable file is moved aside and replaced by the latest readable revision.
        """
        ...

    async def write(self, profile: Profile) -> Profile:
        """Store a profile in place of the one with the same ``version`` ("" if none is stored); return it as stored.

        The replaced profile becomes a revision first; the latest ``revision_keep`` revisions are kept. Unknown keys of
        the file are preserved. The returned profile has a new version. Raises Overtaken, changing nothing, if the
        stored version differs because somebody changed the file in the meantime, be it a person with an editor.
        """
        ...

    async def rename(self, key: ProfileKey, name: str) -> Profile | None:
        """Change only the name, without making a revision; return the renamed profile, or None if there is none."""
        ...

    async def revisions(self, key: ProfileKey) -> list[Revision]:
        """Return the revisions, newest first."""
        ...

    async def restore(
        self, key: ProfileKey, revision_id: str, at: datetime, without: Callable[[str], str] = str
    ) -> Profile:
        """Make a revision the current profile; the current one becomes a revision. Raises UnknownRevision.

        ``without`` is applied to each text of the revision and removes what must no longer be shown.
        """
        ...

    async def keys(self) -> list[ProfileKey]:
        """Return the keys of all profiles, of every agent."""
        ...


class ProfileEraser(Protocol):
    """Permanent, durable and idempotent erasure in profiles and their revisions."""

    async def erase_person(self, user_id: str, hide: Callable[[str], str]) -> list[ProfileKey]:
        """Remove a person's own profiles with their revisions, for every agent; hide the person in all others.

        ``hide`` returns a text without the person. Returns the keys of removed or reworded profiles.
        """
        ...

    async def reword(self, key: ProfileKey, without: Callable[[str], str]) -> bool:
        """Apply ``without`` to the texts of a profile and its revisions; return whether anything changed."""
        ...

    async def erase(self, keys: Collection[ProfileKey]) -> list[ProfileKey]:
        """Remove these profiles with their revisions; return the keys for which anything existed."""
        ...

    async def erase_place(self, scope: Scope) -> list[ProfileKey]:
        """Remove the profiles of a group and its members, or of the person of a private chat, for one agent."""
        ...
