"""Who goes by which name, as scenes show it: into the book of names, and onto portraits."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ..domain.profile import ProfileKey
from ..domain.scope import Scene, Scope
from ..ports.ledger import Alias, NameBook
from ..text.names import clean_name
from .renaming import Renaming

REMEMBERED = 10_000  # groups
Seen = tuple[Scene, datetime]


def sighting(scene: Scene, at: datetime) -> Alias:
    """Give the name that the person of a scene bears there; blank where they bear none."""
    return Alias(scene.scope, scene.user_id, clean_name(scene.user_name), at, at)


@dataclass
class Sightings:
    """Notes names. What a group is called is known from its latest scene since this process began."""

    names: NameBook
    renaming: Renaming
    _groups: OrderedDict[Scope, str] = field(default_factory=OrderedDict[Scope, str], init=False)

    async def note(self, seen: Sequence[Seen]) -> None:
        """Write names into their book; raises StorageRefused, UnavailableError."""
        for scene, _ in seen:
            self._remember_group(scene)
        await self.names.note_all([sighting(scene, at) for scene, at in seen])

    async def rename(self, seen: Sequence[Seen]) -> None:
        """Let portraits bear the names; never raises."""
        await self.renaming.note([sighting(scene, at) for scene, at in seen])
        for scene, at in {scene.scope: (scene, at) for scene, at in seen if scene.group_name}.values():
            await self.renaming.note_group(scene.scope, scene.group_name, at)

    def group_name(self, key: ProfileKey) -> str:
        """Give what the group of a key is called, "" where that is not known or the key is of a person."""
        if key.entity_type != "group":
            return ""
        return self._groups.get(Scope(key.agent, "group", key.group_id), "")

    def _remember_group(self, scene: Scene) -> None:
        name = clean_name(scene.group_name)
        if name and scene.kind == "group":
            self._groups[scene.scope] = name
            self._groups.move_to_end(scene.scope)
            if len(self._groups) > REMEMBERED:
                self._groups.popitem(last=False)
