"""Past portraits: who may see them, and putting one back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from . import sentences
from .consent import Consent
from .domain.forgetting import keys_of
from .domain.profile import Profile, ProfileKey, Revision
from .domain.scope import Scene
from .errors import NotPermitted
from .historian.profiles.profile_indexer import taken_in
from .ports.ambient import Clock
from .ports.ledger import EventEraser, ProfileIndex
from .ports.profiles import ProfileStore
from .recall.profile_reader import ProfileReader
from .text.safety.recitals import untelling


@dataclass(frozen=True)
class ProfileHistory:
    """What portraits were; ``on_restored`` is told after one was put back."""

    store: ProfileStore
    index: ProfileIndex
    portraits: ProfileReader
    consent: Consent
    clock: Clock
    on_restored: Callable[[], None]
    events: EventEraser

    async def revisions(self, scene: Scene, key: ProfileKey) -> list[Revision]:
        """Give the past portraits of a group, or of the one who asks, newest first; raises NotPermitted.

        What somebody was is nobody else's: sharing opens the portrait of now. An operator sees everybody's.
        """
        await self._permit(scene, key)
        if key.user_id in self.consent.opted_out:
            return []
        untold = await self._untold(key)
        return [replace(one, profile=self._worded(one.profile, untold)) for one in await self.store.revisions(key)]

    async def restore(self, scene: Scene, key: ProfileKey, revision_id: str) -> Profile:
        """Put a past portrait in the place of the one of now; raises NotPermitted, UnknownRevision.

        What it told of a forgotten event is left out: only restoring the event brings that back.
        """
        await self._permit(scene, key)
        restored = await self.store.restore(key, revision_id, self.clock.now(), await self._untold(key))
        await taken_in(self.store, self.index, key)
        self.portraits.forget()
        self.on_restored()
        return self._worded(restored, str)

    async def exported(self, profile: Profile) -> Profile:
        """Give a portrait, of now or of the past, without what it may not tell any more."""
        return _without(profile, await self._untold(profile.key))

    async def _untold(self, key: ProfileKey) -> Callable[[str], str]:
        """Give what leaves out of a text of this portrait what forgotten events told."""
        return untelling([event for event in await self.events.untold() if key in keys_of(event)])

    async def _permit(self, scene: Scene, key: ProfileKey) -> None:
        await self.portraits.find(scene, key)
        if scene.kind != "operator" and key.user_id not in ("", scene.user_id):
            raise NotPermitted(sentences.not_your_profile())

    def _worded(self, profile: Profile, untold: Callable[[str], str]) -> Profile:
        """Give a portrait without what may not be told, and without those who want to be left out."""
        return _without(_without(profile, untold), self.consent.hidden)


def _without(profile: Profile, hide: Callable[[str], str]) -> Profile:
    tags = tuple(tag for tag in map(hide, profile.tags) if tag)
    return replace(profile, tags=tags, summary=hide(profile.summary))
