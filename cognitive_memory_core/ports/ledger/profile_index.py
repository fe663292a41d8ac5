"""The searchable copy of the profiles."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...domain.profile import Profile, ProfileKey
from ...domain.scope import Scene
from ..models import Vector


@dataclass(frozen=True)
class IndexedProfile:
    """A profile in the index, with its vector by the model of the requested fingerprint, or None."""

    profile: Profile
    vector: Vector | None = None


class ProfileIndex(Protocol):
    """A searchable copy of the profiles. The profile files are the source of truth."""

    async def put(self, profile: Profile) -> None:
        """Insert or replace a profile; its vector is kept if its text is unchanged."""
        ...

    async def remove(self, keys: Sequence[ProfileKey]) -> None:
        """Remove profiles from the index."""
        ...

    async def waiting(self, fingerprint: str, limit: int) -> list[Profile]:
        """Return profiles without a vector of this fingerprint (embedding model)."""
        ...

    async def store(self, fingerprint: str, profile: Profile, vector: Vector) -> None:
        """Store a vector; does nothing if the profile's text has changed since."""
        ...

    async def readable(self, scene: Scene, shared: Collection[str] | None, fingerprint: str) -> list[IndexedProfile]:
        """Return the profiles that a scene may read (:meth:`ProfileKey.readable_by`).

        ``shared`` holds the ids of people who share their profile; None means everybody. In a group a shared profile is
        returned if its person asks or is known there by name; it is not returned in a private chat with another person.
        """
        ...

    async def versions(self) -> Mapping[ProfileKey, str]:
        """Return the version of every indexed profile."""
        ...

    async def stored_keys(self, keys: Collection[ProfileKey]) -> frozenset[ProfileKey]:
        """Return which of the keys are indexed; the cost grows with ``keys``, not with the index."""
        ...
