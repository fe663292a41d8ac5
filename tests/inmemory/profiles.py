"""The profile store, in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime
from itertools import count

from cognitive_memory_core import sentences
from cognitive_memory_core.domain.profile import Profile, ProfileKey, Revision, is_revision_id, revision_id
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.errors import UnknownRevision
from cognitive_memory_core.files.profiles import Overtaken
from cognitive_memory_core.ports.clock import Clock
from cognitive_memory_core.text.identity.name_cleaning import clean_name
from cognitive_memory_core.text.statements.profile_text import tidy


class InMemoryProfiles:
    """ProfileStore and ProfileEraser over two dictionaries."""

    def __init__(self, keep: int, clock: Clock) -> None:
        """Start empty; keep this many revisions of each profile."""
        self._keep = keep
        self._clock = clock
        self._standing: dict[ProfileKey, Profile] = {}
        self._past: dict[ProfileKey, dict[str, Profile]] = {}
        self._versions = map(str, count(1))

    async def find(self, key: ProfileKey) -> Profile | None:
        """Return the current profile."""
        return self._standing.get(key)

    async def write(self, profile: Profile) -> Profile:
        """Replace the profile whose version this one has."""
        standing = self._standing.get(profile.key)
        if profile.version != (standing.version if standing else ""):
            raise Overtaken(sentences.storage_errors.PROFILE_OVERTAKEN)
        return self._succeed(profile)

    async def rename(self, key: ProfileKey, name: str) -> Profile | None:
        """Change only the name; a placeholder changes nothing."""
        standing, name = self._standing.get(key), clean_name(name)
        if standing is None or name in ("", standing.name):
            return standing
        return self._put(replace(standing, name=name))

    async def revisions(self, key: ProfileKey) -> list[Revision]:
        """Return the revisions, newest first."""
        return [Revision(past, profile) for past, profile in sorted(self._past_of(key).items(), reverse=True)]

    async def restore(
        self, key: ProfileKey, revision_id: str, at: datetime, without: Callable[[str], str] = str
    ) -> Profile:
        """Restore a revision under the current name."""
        past, standing = self._past_of(key).get(revision_id), self._standing.get(key)
        if past is None:
            raise UnknownRevision(sentences.caller.unknown_revision(revision_id))
        return self._succeed(replace(_without(past, without), name=(standing or past).name, updated_at=at))

    async def keys(self) -> list[ProfileKey]:
        """Return the keys of all profiles."""
        return sorted(self._standing)

    async def add_revision(self, revision: Revision) -> bool:
        """Add an imported revision; return False if it is known or older than those kept."""
        profile = revision.profile
        past = self._past_of(profile.key)
        kept = sorted({revision.id, *past}, reverse=True)[: self._keep]
        if revision.id in past or revision.id not in kept or not is_revision_id(revision.id):
            return False
        self._past[profile.key] = {one: past.get(one, tidy(replace(profile, version=""))) for one in kept}
        return True

    async def erase_person(self, user_id: str, hide: Callable[[str], str]) -> list[ProfileKey]:
        """Delete a person's profiles with their revisions and hide the person in all others."""
        there = self._standing.keys() | self._past.keys()
        return sorted(self._removed([key for key in there if key.user_id == user_id]) + self._reworded(hide))

    async def reword(self, key: ProfileKey, without: Callable[[str], str]) -> bool:
        """Change the text of a profile and its revisions; return whether anything changed."""
        return bool(self._reworded(without, {key}))

    async def erase(self, keys: Collection[ProfileKey]) -> list[ProfileKey]:
        """Delete profiles with their revisions."""
        there = self._standing.keys() | self._past.keys()
        return sorted(self._removed([key for key in there if key in keys]))

    async def erase_place(self, scope: Scope) -> list[ProfileKey]:
        """Delete the profiles of a place."""
        there = self._standing.keys() | self._past.keys()
        return sorted(self._removed([key for key in there if _is_of(key, scope)]))

    def _past_of(self, key: ProfileKey) -> dict[str, Profile]:
        return self._past.get(key, {})

    def _succeed(self, profile: Profile) -> Profile:
        """Replace the current profile, which becomes a revision."""
        key, profile = profile.key, tidy(profile)
        standing, past = self._standing.get(key), self._past_of(profile.key)
        if standing is not None and standing == profile:
            return standing
        if standing:
            past = {**past, revision_id(self._clock.now(), max(past, default="")): replace(standing, version="")}
            self._past[key] = {one: past[one] for one in sorted(past, reverse=True)[: self._keep]}
        return self._put(profile)

    def _put(self, profile: Profile) -> Profile:
        kept = self._standing[profile.key] = replace(profile, version=next(self._versions))
        return kept

    def _removed(self, keys: list[ProfileKey]) -> list[ProfileKey]:
        for key in keys:
            self._standing.pop(key, None)
            self._past.pop(key, None)
        return keys

    def _reworded(self, hide: Callable[[str], str], keys: Collection[ProfileKey] | None = None) -> list[ProfileKey]:
        touched: set[ProfileKey] = set()
        for key, profile in self._standing.items():
            if (keys is None or key in keys) and (rest := _without(profile, hide)) != profile:
                self._put(rest)
                touched.add(key)
        for key, past in self._past.items():
            if keys is not None and key not in keys:
                continue
            rests = {one: _without(profile, hide) for one, profile in past.items()}
            if rests != past:
                past.update(rests)
                touched.add(key)
        return list(touched)


def _is_of(key: ProfileKey, scope: Scope) -> bool:
    if key.agent != scope.agent:
        return False
    if scope.kind == "group":
        return key.group_id == scope.place_id
    return key.entity_type == "user" and key.user_id == scope.place_id


def _without(profile: Profile, hide: Callable[[str], str]) -> Profile:
    """Return a profile with a person hidden; a profile name that belongs to another person is kept."""
    tags = tuple(dict.fromkeys(map(hide, profile.tags)))
    name = profile.name if profile.key.user_id else hide(profile.name)
    return tidy(replace(profile, name=name, tags=tags, summary=hide(profile.summary)))
