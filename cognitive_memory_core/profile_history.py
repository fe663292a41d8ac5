"""Past revisions of profiles: access checks, listing and restoring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from . import sentences
from .domain.erasure import keys_of
from .domain.profile import Profile, ProfileKey, Revision
from .domain.scope import Scene
from .errors import NotPermitted
from .historian.profiles.profile_indexer import taken_in
from .ports.clock import Clock
from .profiles.files import FileProfiles
from .read_access import ReadAccess
from .recall.profile_reader import ProfileReader
from .store.erasure.event_eraser import EventEraser
from .store.profile_index import ProfileIndex
from .text.safety.retold_events import untelling


@dataclass(frozen=True)
class ProfileHistory:
    """Lists and restores past profiles; ``on_restored`` is called after a restore."""

    store: FileProfiles
    index: ProfileIndex
    reader: ProfileReader
    access: ReadAccess
    clock: Clock
    on_restored: Callable[[], None]
    events: EventEraser

    async def revisions(self, scene: Scene, key: ProfileKey) -> list[Revision]:
        """Return the past profiles of a group, or of the asker, newest first; raises NotPermitted.

        Sharing lets others read only the present profile, not past ones. An operator may read all.
        """
        await self._permit(scene, key)
        if key.user_id in self.access.hidden_people:
            return []
        remove_forgotten = await _remover(key, self.events)
        return [replace(one, profile=remove_forgotten(one.profile)) for one in await self.store.revisions(key)]

    async def restore(self, scene: Scene, key: ProfileKey, revision_id: str) -> Profile:
        """Restore a past profile as the present one; raises NotPermitted, UnknownRevision.

        What a forgotten event stated is removed from the restored profile; restoring the event brings it back.
        """
        await self._permit(scene, key)
        restored = await self.store.restore(key, revision_id, self.clock.now(), await _remover(key, self.events))
        await taken_in(self.store, self.index, key)
        self.reader.forget()
        self.on_restored()
        return self.access.redacted(restored)

    async def exported(self, profile: Profile) -> Profile:
        """Return a present or past profile for an export, without what forgotten events stated."""
        return await without_forgotten(profile, self.events)

    async def _permit(self, scene: Scene, key: ProfileKey) -> None:
        await self.reader.find(scene, key)
        if scene.kind != "operator" and key.user_id not in ("", scene.user_id):
            raise NotPermitted(sentences.caller.NOT_YOUR_PROFILE)


async def without_forgotten(profile: Profile, events: EventEraser) -> Profile:
    """Return a present or past profile without what forgotten events stated."""
    return (await _remover(profile.key, events))(profile)


async def _remover(key: ProfileKey, events: EventEraser) -> Callable[[Profile], Profile]:
    """Return a function that removes from this profile the lines of forgotten events, and what else retells them."""
    gone = [event for event in await events.unrepeatable() if key in keys_of(event)]
    ids, untell = {event.id for event in gone}, untelling(gone)
    return lambda profile: profile.without_events(ids).reworded(untell)
