"""Records the names of people and groups seen in scenes, and passes them on to profiles."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from ..domain.profile import ProfileKey
from ..domain.scope import Scene, Scope
from ..domain.turn import Alias
from ..errors import CognitiveMemoryError
from ..ports import Clock
from ..profiles.files import FileProfiles
from ..store.names import NameBook
from ..store.profiles import ProfileIndex
from ..tasks import UNTIL_NUDGED, BackgroundLoop, ErrorState
from ..text.names import clean_name

REMEMBERED = 20_000  # names of profiles
REMEMBERED_NAMES = 10_000  # groups, and people
HELD = 20_000  # observations that wait to reach profiles; beyond that the oldest are dropped
PAUSE = 0.3  # seconds in which observations are collected
Seen = tuple[Scene, datetime]
T = TypeVar("T")


@dataclass(eq=False)
class NameObserver:
    """Records names at once; a background loop changes the names in profiles, so that callers do not wait for it.

    In a group the name is that of the member's profile, in private the user's. A name that a profile is known to have
    costs no read. A time of observation in the future is replaced by the present. ``on_changed`` is called with the
    places in which a name may be new, after it was written.
    """

    names: NameBook
    profiles: FileProfiles
    index: ProfileIndex
    clock: Clock
    on_changed: Callable[[Iterable[Scope]], None] = lambda _: None
    remembered: int = REMEMBERED
    _waiting: deque[Seen] = field(default_factory=lambda: deque[Seen](maxlen=HELD), init=False)
    _groups: OrderedDict[Hashable, str] = field(default_factory=OrderedDict[Hashable, str], init=False)
    _people: OrderedDict[Hashable, str] = field(default_factory=OrderedDict[Hashable, str], init=False)
    _known: OrderedDict[Hashable, tuple[str, datetime]] = field(  # of profiles
        default_factory=OrderedDict[Hashable, tuple[str, datetime]], init=False
    )

    def __post_init__(self) -> None:
        """Prepare the loop."""
        self.loop = BackgroundLoop("profile names", self._round, spacing=PAUSE, debounce=0.0)
        self.trouble = ErrorState("profile names")

    async def note(self, seen: Sequence[Seen]) -> bool:
        """Store names in the name book; return whether one is new. Raises StorageRefused, UnavailableError.

        A nickname that differs from the card is stored as the name in private, where the platform uses it.
        """
        now = self.clock.now()
        past = [(scene, min(at, now)) for scene, at in seen]
        told: dict[tuple[Scope, str, str], list[datetime]] = {}
        for scene, at in past:
            told.setdefault((scene.scope, scene.user_id, clean_name(scene.user_name)), []).append(at)
            _remember(self._groups, scene.scope, clean_name(scene.group_name), REMEMBERED_NAMES)
            _remember(self._people, (scene.agent, scene.user_id), clean_name(scene.user_name), REMEMBERED_NAMES)
            if scene.nickname not in ("", scene.user_name):
                in_private = Scope(scene.agent, "private", scene.user_id)
                told.setdefault((in_private, scene.user_id, clean_name(scene.nickname)), []).append(at)
        has_changed = await self.names.note_all([Alias(*name, min(at), max(at)) for name, at in told.items()])
        if has_changed:
            self.on_changed({scene.scope for scene, _ in past})
        self._waiting.extend(past)
        self.loop.nudge()
        return has_changed

    async def flush(self) -> None:
        """Write the newest names that wait to their profiles; errors of the disk are not raised.

        Blank names and placeholders are skipped.
        """
        newest: dict[ProfileKey, tuple[str, datetime]] = {}
        waiting = [self._waiting.popleft() for _ in range(len(self._waiting))]
        for scene, at in sorted(waiting, key=lambda one: one[1]):
            person = ProfileKey.user(scene.user_id, scene.agent)
            if scene.kind == "group":
                person = ProfileKey.member(scene.group_id, scene.user_id, scene.agent)
                if group_name := clean_name(scene.group_name):
                    newest[ProfileKey.group(scene.group_id, scene.agent)] = group_name, at
            if user_name := clean_name(scene.user_name):
                newest[person] = user_name, at
        for key, (name, at) in newest.items():
            known, seen_at = self._known.get(key, ("", at))
            if name == known or at < seen_at:
                continue
            try:
                profile = await self.profiles.find(key)
                if profile and profile.name != name and await self.profiles.rename(key, name):
                    await self.index.take_in(key, self.profiles.read)
            except CognitiveMemoryError as refused:  # e.g. a file that is being edited or is too long keeps its name
                self.trouble.note(refused)
            else:
                self.trouble.end()
                _remember(self._known, key, (name, at), self.remembered)

    async def _round(self) -> float:
        await self.flush()
        return UNTIL_NUDGED

    def forget(self, keys: Sequence[ProfileKey]) -> None:
        """Drop the cached names of these profiles and their people."""
        for key in keys:
            self._known.pop(key, None)
            self._people.pop((key.agent, key.user_id), None)

    def name_of(self, key: ProfileKey) -> str:
        """Return the name last seen in this process for the group or person of a key; "" if none was."""
        if key.entity_type == "group":
            return self._groups.get(Scope(key.agent, "group", key.group_id), "")
        return self._people.get((key.agent, key.user_id), "")


def _remember(names: OrderedDict[Hashable, T], whose: Hashable, name: T, most: int) -> None:
    if name:
        names[whose] = name
        names.move_to_end(whose)
        if len(names) > most:
            names.popitem(last=False)
