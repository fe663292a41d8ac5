"""The searchable copy of profiles, in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from cognitive_memory_core import sentences
from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import BadArgument
from cognitive_memory_core.ports.ledger import IndexedProfile
from cognitive_memory_core.ports.models import Vector

from .state import InMemoryState, words_of
from .vectors import has_direction


class InMemoryProfileIndex:
    """The profiles of a state."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state

    async def put(self, profile: Profile) -> None:
        """Store a profile; its vector is kept if its text is unchanged."""
        self._state.put_profile(profile)

    async def remove(self, keys: Sequence[ProfileKey]) -> None:
        """Remove profiles."""
        self._state.drop_profiles(keys)

    async def waiting(self, fingerprint: str, limit: int) -> list[Profile]:
        """Return profiles without a vector of this model, those stored first first."""
        state = self._state
        models = ((one, state.profile_vectors.get(key, ("",))[0]) for key, one in state.profiles.items())
        return [profile for profile, model in models if model != fingerprint][: max(limit, 0)]

    async def store(self, fingerprint: str, profile: Profile, vector: Vector) -> None:
        """Store a vector if the profile's text is unchanged; a vector without a direction is refused."""
        if not has_direction(vector):
            raise BadArgument(
                sentences.caller.bad_value("vector", profile.key, sentences.storage_errors.VECTOR_WITH_DIRECTION)
            )
        standing = self._state.profiles.get(profile.key)
        if standing is not None and words_of(standing) == words_of(profile):
            self._state.profile_vectors[profile.key] = (fingerprint, vector)

    async def readable(self, scene: Scene, shared: Collection[str] | None, fingerprint: str) -> list[IndexedProfile]:
        """Return the profiles that a scene may read; ``shared`` are the people who share theirs, None means all."""
        known = self._known(scene)
        is_open = known if shared is None else known.intersection(shared)
        found = self._state.profiles.items()
        return [
            IndexedProfile(profile, self._vector(key, fingerprint))
            for key, profile in found
            if key.readable_by(scene, shared=key.user_id in is_open)
        ]

    async def versions(self) -> Mapping[ProfileKey, str]:
        """Return the version of every stored profile."""
        return {key: profile.version for key, profile in self._state.profiles.items()}

    async def stored_keys(self, keys: Collection[ProfileKey]) -> frozenset[ProfileKey]:
        """Return which of these profiles are stored."""
        return frozenset(key for key in keys if key in self._state.profiles)

    def _known(self, scene: Scene) -> frozenset[str]:
        """Return the asker and the people known in the group by name; nobody in private."""
        if scene.kind != "group":
            return frozenset()
        named = (user_id for place, user_id, _ in self._state.names if place == scene.scope)
        return frozenset((scene.user_id, *named))

    def _vector(self, key: ProfileKey, fingerprint: str) -> Vector | None:
        model, vector = self._state.profile_vectors.get(key, ("", None))
        return vector if model == fingerprint else None
