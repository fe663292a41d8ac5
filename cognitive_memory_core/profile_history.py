"""Past portraits: who may see them, and putting one back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from . import sentences
from .consent import Consent
from .domain.profile import Profile, ProfileKey, Revision
from .domain.scope import Scene
from .errors import NotPermitted
from .historian.profile_indexer import taken_in
from .ports.ambient import Clock
from .ports.ledger import ProfileIndex
from .ports.profiles import ProfileStore
from .recall.portraits import Portraits


@dataclass(frozen=True)
class ProfileHistory:
    """What portraits were; ``on_restored`` is told after one was put back."""

    store: ProfileStore
    index: ProfileIndex
    portraits: Portraits
    consent: Consent
    clock: Clock
    on_restored: Callable[[], None]

    async def revisions(self, scene: Scene, key: ProfileKey) -> list[Revision]:
        """Give the past portraits of a group, or of the one who asks, newest first; raises NotPermitted.

        What somebody was is nobody else's: sharing opens the portrait of now. An operator sees everybody's.
        """
        await self._permit(scene, key)
        if key.user_id in self.consent.opted_out:
            return []
        return [replace(one, profile=self._worded(one.profile)) for one in await self.store.revisions(key)]

    async def restore(self, scene: Scene, key: ProfileKey, revision_id: str) -> Profile:
        """Put a past portrait in the place of the one of now; raises NotPermitted, UnknownRevision."""
        await self._permit(scene, key)
        restored = await self.store.restore(key, revision_id, self.clock.now())
        await taken_in(self.store, self.index, key)
        self.portraits.forget()
        self.on_restored()
        return self._worded(restored)

    async def _permit(self, scene: Scene, key: ProfileKey) -> None:
        await self.portraits.find(scene, key)
        if scene.kind != "operator" and key.user_id not in ("", scene.user_id):
            raise NotPermitted(sentences.not_your_profile())

    def _worded(self, profile: Profile) -> Profile:
        """Give a portrait without those who want to be left out."""
        hidden = self.consent.hidden
        return replace(profile, tags=tuple(map(hidden, profile.tags)), summary=hidden(profile.summary))
