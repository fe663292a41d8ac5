"""A copy of the profiles, to be searched."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ... import sentences
from ...domain.profile import Profile, ProfileKey
from ...domain.scope import Scene
from ...errors import BadArgument
from ...ports.ledger import IndexedProfile
from ...ports.models import Vector
from .state import InMemoryState, words_of
from .vectors import has_direction


class InMemoryProfileIndex:
    """The profiles of a state."""

    def __init__(self, state: InMemoryState) -> None:
        """Share a state with the other ports."""
        self._state = state

    async def put(self, profile: Profile) -> None:
        """Take in a profile; its vector stays where its words are the same."""
        self._state.put_portrait(profile)

    async def remove(self, keys: Sequence[ProfileKey]) -> None:
        """Leave profiles out."""
        self._state.drop_portraits(keys)

    async def waiting(self, fingerprint: str, limit: int) -> list[Profile]:
        """Return profiles that have no vector of this fingerprint, those first that were taken in first."""
        state = self._state
        models = ((one, state.portrait_vectors.get(key, ("",))[0]) for key, one in state.portraits.items())
        return [profile for profile, model in models if model != fingerprint][: max(limit, 0)]

    async def store(self, fingerprint: str, profile: Profile, vector: Vector) -> None:
        """Keep a vector where the words are still the same; one without a direction is refused."""
        if not has_direction(vector):
            raise BadArgument(sentences.caller.bad_value("vector", profile.key, sentences.stores.VECTOR_WITH_DIRECTION))
        standing = self._state.portraits.get(profile.key)
        if standing is not None and words_of(standing) == words_of(profile):
            self._state.portrait_vectors[profile.key] = (fingerprint, vector)

    async def readable(self, scene: Scene, shared: Collection[str] | None, fingerprint: str) -> list[IndexedProfile]:
        """Return the profiles that a scene may read; ``shared`` opened theirs, None is everybody."""
        known = self._known(scene)
        is_open = known if shared is None else known.intersection(shared)
        found = self._state.portraits.items()
        return [
            IndexedProfile(profile, self._vector(key, fingerprint))
            for key, profile in found
            if key.readable_by(scene, shared=key.user_id in is_open)
        ]

    async def versions(self) -> Mapping[ProfileKey, str]:
        """Return the version of every profile that was taken in."""
        return {key: profile.version for key, profile in self._state.portraits.items()}

    async def portrayed(self, keys: Collection[ProfileKey]) -> frozenset[ProfileKey]:
        """Tell of which of these a profile was taken in."""
        return frozenset(key for key in keys if key in self._state.portraits)

    def _known(self, scene: Scene) -> frozenset[str]:
        """Name who asks in a group and who is known there by name; in private nobody sees what others opened."""
        if scene.kind != "group":
            return frozenset()
        named = (user_id for place, user_id, _ in self._state.names if place == scene.scope)
        return frozenset((scene.user_id, *named))

    def _vector(self, key: ProfileKey, fingerprint: str) -> Vector | None:
        model, vector = self._state.portrait_vectors.get(key, ("", None))
        return vector if model == fingerprint else None
