"""The names with which people and groups are seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ..domain.people import Alias
from ..domain.profile import ProfileKey
from ..domain.scope import Scene, Scope
from ..errors import CognitiveMemoryError
from ..ports import Clock
from ..profiles.files import FileProfiles
from ..store.names import NameBook
from ..store.profiles import ProfileIndex
from ..tasks import ErrorState
from ..text.characters import register_cache
from ..text.names import clean_name

NOTED_FOR, MOST_NOTED = timedelta(hours=1), 10_000  # how long, and of how many people, names are not written again
Seen = tuple[Scene, datetime]


@dataclass(eq=False)
class NameObserver:
    """Records names in the name book, and puts a new one on the profile that is known by it.

    In a group that is the member's profile, in private the user's. A time of observation in the future is replaced by
    the present. ``on_changed`` is called with the places in which a name may be new, after it was written.
    """

    names: NameBook
    profiles: FileProfiles
    index: ProfileIndex
    clock: Clock
    on_changed: Callable[[Iterable[Scope]], None] = lambda _: None
    groups: dict[Scope, str] = field(default_factory=dict[Scope, str], init=False)  # the names seen in this process

    def __post_init__(self) -> None:
        """Start without an error."""
        self.trouble = ErrorState("profile names")
        self._noted: dict[tuple[Scope, str], Alias] = {}  # of each person in each place, as it was written last
        register_cache(self)

    def clear_caches(self) -> None:
        """Drop what was written, also by a write under way: it may be erased."""
        self._noted = {}

    async def note(self, seen: Sequence[Seen]) -> None:
        """Store the names of scenes. Raises StorageRefused, UnavailableError of the name book.

        A nickname that differs from the card is stored as the name in private, where the platform uses it. A profile
        that cannot be renamed, for example because it is being edited, gets the name with its next merge.
        """
        now = self.clock.now()
        told: dict[tuple[Scope, str, str], list[datetime]] = {}
        renamed: dict[ProfileKey, str] = {}
        for scene, at in seen:
            told.setdefault((scene.scope, scene.user_id, clean_name(scene.user_name)), []).append(min(at, now))
            if scene.nickname not in ("", scene.user_name):
                in_private = Scope(scene.agent, "private", scene.user_id)
                told.setdefault((in_private, scene.user_id, clean_name(scene.nickname)), []).append(min(at, now))
            group_name = clean_name(scene.group_name) if scene.group_id else ""
            if group_name not in ("", self.groups.get(scene.scope)):
                self.groups[scene.scope] = group_name
                renamed[ProfileKey.group(scene.group_id, scene.agent)] = group_name
        new = await self._write([Alias(*name, min(at), max(at)) for name, at in told.items()])
        if new:
            self.on_changed({alias.scope for alias in new})
        for alias in new:
            agent, group_id = alias.scope.agent, alias.scope.group_id
            member = ProfileKey.member(group_id, alias.user_id, agent) if group_id else None
            renamed[member or ProfileKey.user(alias.user_id, agent)] = alias.name
        failure: CognitiveMemoryError | None = None
        for key, name in renamed.items():
            try:
                if await self.profiles.rename(key, name):
                    await self.index.take_in(key, self.profiles.read)
            except CognitiveMemoryError as refused:
                failure = refused
        self.trouble.note(failure) if failure else self.trouble.end()

    async def _write(self, sightings: Sequence[Alias]) -> list[Alias]:
        """Write those names that are not noted, and note those that are somebody's latest; return the new ones.

        A former name is not noted, and neither is one that is refused, because its person was erased since.
        """
        if len(self._noted) > MOST_NOTED:
            self.clear_caches()
        noted, unknown = self._noted, [one for one in sightings if not self._is_noted(one)]
        standing = await self.names.note_all(unknown) if unknown else {}
        noted.update({(alias.scope, alias.user_id): alias for alias in standing})
        return [alias for alias, is_new in standing.items() if is_new]

    def _is_noted(self, alias: Alias) -> bool:
        """Return whether a person had this name already when it was written, less than an hour before."""
        before = self._noted.get((alias.scope, alias.user_id))
        if before is None or before.name != alias.name:
            return False
        return before.first_seen_at <= alias.first_seen_at and alias.last_seen_at < before.last_seen_at + NOTED_FOR
