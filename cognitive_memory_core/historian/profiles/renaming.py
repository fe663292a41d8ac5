"""Writes changed names of people and groups to their profiles, without making a revision."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ...domain.profile import ProfileKey
from ...domain.scope import Scope
from ...errors import CognitiveMemoryError
from ...profiles.files import FileProfiles
from ...store.names import Alias
from ...store.profiles import ProfileIndex
from ...tasks import ErrorState
from ...text.names import clean_name
from .profile_indexer import taken_in

REMEMBERED = 20_000  # names


@dataclass
class Renaming:
    """Renames profiles; caches their names, so that an unchanged name costs no read."""

    store: FileProfiles
    index: ProfileIndex
    trouble: ErrorState = field(default_factory=lambda: ErrorState("profile names"), init=False)
    _known: OrderedDict[ProfileKey, tuple[str, datetime]] = field(
        default_factory=OrderedDict[ProfileKey, tuple[str, datetime]], init=False
    )

    async def note(self, sightings: Sequence[Alias]) -> None:
        """Rename people's profiles to the newest name seen; errors of the disk are not raised.

        In a group this is the member's profile, in private the user's. Blank names and placeholders are skipped.
        """
        newest = {_key_of(seen): seen for seen in sorted(sightings, key=lambda one: one.last_seen_at) if seen.name}
        for key, seen in newest.items():
            await self._note(key, seen.name, seen.last_seen_at)

    async def note_group(self, scope: Scope, group_name: str, at: datetime) -> None:
        """Rename a group's profile to the observed name."""
        if scope.kind == "group":
            await self._note(ProfileKey.group(scope.place_id, scope.agent), group_name, at)

    def forget(self, keys: Iterable[ProfileKey]) -> None:
        """Drop the cached names of these profiles."""
        for key in keys:
            self._known.pop(key, None)

    async def _note(self, key: ProfileKey, given: str, at: datetime) -> None:
        name = clean_name(given)
        known, seen_at = self._known.get(key, ("", at))
        if not name or name == known or at < seen_at:
            return
        try:
            await self._rename(key, name)
        except CognitiveMemoryError as refused:  # e.g. a file that is being edited or is too long keeps its name
            self.trouble.note(refused)
            return
        self._known[key] = (name, at)
        self._known.move_to_end(key)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    async def _rename(self, key: ProfileKey, name: str) -> None:
        profile = await self.store.find(key)
        if profile and profile.name != name and await self.store.rename(key, name):
            await taken_in(self.store, self.index, key)
        self.trouble.end()


def _key_of(seen: Alias) -> ProfileKey:
    scope = seen.scope
    if scope.kind == "group":
        return ProfileKey.member(scope.place_id, seen.user_id, scope.agent)
    return ProfileKey.user(seen.user_id, scope.agent)
