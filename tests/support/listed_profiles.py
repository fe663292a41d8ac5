"""Hand-written fakes of the profile store and its index."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from cognitive_memory_core.domain.profile import Profile, ProfileKey, said_in
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.ports import Vector

from .clock import NOON
from .ports import direct


def a_listed(key: ProfileKey, summary: str = "喜欢乌龙茶。", **fields: Any) -> Profile:
    """Return a profile of which each line rests on an event."""
    sources = {said_in(line): ("e1",) for line in summary.split("\n")}
    known = {"name": "阿棠", "tags": (), "updated_at": NOON, "sources": sources}
    return Profile(**{"key": key, "summary": summary, **known, **fields})


class ListedProfiles:
    """A store with the given profiles that counts reads."""

    def __init__(self, *profiles: Profile) -> None:
        """Take the profiles."""
        self.held = {profile.key: profile for profile in profiles}
        self.asked: list[ProfileKey] = []
        self.failure: Exception | None = None

    def read(self, key: ProfileKey) -> Profile | None:
        """Return the profile of a key."""
        self.asked.append(key)
        if self.failure:
            raise self.failure
        return self.held.get(key)


class ListedIndex:
    """An index of the given profiles; a ``leaky`` one returns them all to everybody, as a faulty store might."""

    def __init__(
        self,
        *profiles: Profile,
        vectors: Mapping[ProfileKey, Vector] | None = None,
        known: Iterable[tuple[str, str]] = (),
        leaky: bool = False,
    ) -> None:
        """Take the profiles, and who is known by name in which group."""
        self.held = {profile.key: profile for profile in profiles}
        self._vectors = vectors or {}
        self._known = frozenset(known)
        self._leaky = leaky

    @direct
    def readable(
        self, _: object, scene: Scene, shared: Collection[str] | None, fingerprint: str
    ) -> list[tuple[Profile, Vector | None]]:
        """Return the rows that the scene may read."""
        return [
            (profile, self._vectors.get(profile.key) if fingerprint else None)
            for profile in self.held.values()
            if self._leaky or self._is_readable(profile.key, scene, shared)
        ]

    def _is_readable(self, key: ProfileKey, scene: Scene, shared: Collection[str] | None) -> bool:
        is_open = (scene.group_id, key.user_id) in self._known and (shared is None or key.user_id in shared)
        return key.readable_by(scene, shared=is_open)


class ListedWithdrawals:
    """A fact book that only knows which profiles hold withdrawn facts."""

    def __init__(self, *held: ProfileKey) -> None:
        """Take the keys of the profiles."""
        self.held = set(held)
        self.asked = 0

    @direct
    def keys_to_update(self, _: object) -> frozenset[ProfileKey]:
        """Return the keys."""
        self.asked += 1
        return frozenset(self.held)


def listed_texts(profiles: Sequence[Profile]) -> list[str]:
    """Return the summaries of profiles."""
    return [profile.summary for profile in profiles]
