"""Past portraits: who may see them, and putting one back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import sentences
from .consent import Consent
from .domain.profile import Profile, ProfileKey, Revision
from .domain.scope import Scene
from .errors import NotPermitted
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
        """Give the past portraits that a scene may see, newest first; raises NotPermitted."""
        await self.portraits.find(scene, key)
        if key.user_id in self.consent.opted_out:
            return []
        return await self.store.revisions(key)

    async def restore(self, scene: Scene, key: ProfileKey, revision_id: str) -> Profile:
        """Put a past portrait in the place of the one of now; raises NotPermitted, UnknownRevision."""
        await self.portraits.find(scene, key)
        if scene.kind != "operator" and key.user_id not in ("", scene.user_id):
            raise NotPermitted(sentences.not_your_profile())
        restored = await self.store.restore(key, revision_id, self.clock.now())
        await self.index.put(restored)
        self.portraits.forget()
        self.on_restored()
        return restored
