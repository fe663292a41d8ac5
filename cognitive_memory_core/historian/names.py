"""Records the names of people and groups seen in scenes, and passes them on to profiles."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ..domain.profile import ProfileKey
from ..domain.scope import Scene, Scope
from ..errors import CognitiveMemoryError
from ..ports.clock import Clock
from ..profiles.files import FileProfiles
from ..store.names import Alias, NameBook
from ..store.profiles import ProfileIndex
from ..tasks import UNTIL_NUDGED, BackgroundLoop, ErrorState
from ..text.names import clean_name

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
            await self.index.take_in(key, self.store.read)
        self.trouble.end()


def _key_of(seen: Alias) -> ProfileKey:
    scope = seen.scope
    if scope.kind == "group":
        return ProfileKey.member(scope.place_id, seen.user_id, scope.agent)
    return ProfileKey.user(seen.user_id, scope.agent)


REMEMBERED_NAMES = 10_000  # groups, and people
HELD = 20_000  # observations that wait to reach profiles; beyond that the oldest are dropped
PAUSE = 0.3  # seconds in which observations are collected
Seen = tuple[Scene, datetime]


def sighting(scene: Scene, at: datetime) -> Alias:
    """Return the name of a scene's person in its place, seen at ``at``; the name is "" if the person has none."""
    return Alias(scene.scope, scene.user_id, clean_name(scene.user_name), at, at)


class NameObserver:
    """Records names at once; a background loop changes the names in profiles, so that callers do not wait for it."""

    def __init__(
        self,
        names: NameBook,
        renaming: Renaming,
        clock: Clock,
        *,
        on_changed: Callable[[Iterable[Scope]], None] = lambda _: None,
    ) -> None:
        """Write to a name book; a time of observation in the future is replaced by the present.

        ``on_changed`` is called with the places in which a name may be new, after it was written.
        """
        self._on_changed = on_changed
        self.names = names
        self.renaming = renaming
        self._clock = clock
        self._waiting: deque[Seen] = deque(maxlen=HELD)
        self.loop = BackgroundLoop("profile names", self._round, spacing=PAUSE, debounce=0.0)
        self._groups: OrderedDict[Hashable, str] = OrderedDict()
        self._people: OrderedDict[Hashable, str] = OrderedDict()

    async def note(self, seen: Sequence[Seen]) -> bool:
        """Store names in the name book; return whether one is new. Raises StorageRefused, UnavailableError.

        A nickname that differs from the card is stored as the name in private, where the platform uses it.
        """
        now = self._clock.now()
        past = [(scene, min(at, now)) for scene, at in seen]
        for scene, _ in past:
            _remember(self._groups, scene.scope, scene.group_name)
            _remember(self._people, (scene.agent, scene.user_id), scene.user_name)
        in_private = [
            Alias(Scope(scene.agent, "private", scene.user_id), scene.user_id, clean_name(scene.nickname), at, at)
            for scene, at in past
            if scene.nickname not in ("", scene.user_name)
        ]
        has_changed = await self.names.note_all([*(sighting(scene, at) for scene, at in past), *in_private])
        if has_changed:
            self._on_changed({scene.scope for scene, _ in past})
        self._waiting.extend(past)
        self.loop.nudge()
        return has_changed

    async def flush(self) -> None:
        """Write the observed names that wait to their profiles; a failing disk is logged."""
        seen = [self._waiting.popleft() for _ in range(len(self._waiting))]
        await self.renaming.note([sighting(scene, at) for scene, at in seen])
        for scene, at in {scene.scope: (scene, at) for scene, at in seen if scene.group_name}.values():
            await self.renaming.note_group(scene.scope, scene.group_name, at)

    async def _round(self) -> float:
        await self.flush()
        return UNTIL_NUDGED

    def forget(self, keys: Sequence[ProfileKey]) -> None:
        """Drop the cached names of these profiles and their people."""
        self.renaming.forget(keys)
        for key in keys:
            self._people.pop((key.agent, key.user_id), None)

    def name_of(self, key: ProfileKey) -> str:
        """Return the name last seen in this process for the group or person of a key; "" if none was."""
        if key.entity_type == "group":
            return self._groups.get(Scope(key.agent, "group", key.group_id), "")
        return self._people.get((key.agent, key.user_id), "")


def _remember(names: OrderedDict[Hashable, str], whose: Hashable, given: str) -> None:
    name = clean_name(given)
    if name:
        names[whose] = name
        names.move_to_end(whose)
        if len(names) > REMEMBERED_NAMES:
            names.popitem(last=False)
