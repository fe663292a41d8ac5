"""Forgetting single events: hidden with the lines that tell them, and erased when nobody can restore them any more."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime

from . import sentences
from .domain.erasure import RESTORABLE
from .domain.event import Event
from .domain.forgetting import keys_of
from .domain.profile import ProfileKey
from .errors import CognitiveMemoryError
from .forgetting import Purge
from .historian.messages.message_buffer import MessageBuffer
from .ports.ambient import Clock
from .ports.ledger import EventEraser
from .ports.profiles import ProfileEraser
from .text.safety.recitals import untelling

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class EventForgetting:
    """Forgets events, and erases them after the days in which they can be restored.

    ``horizon`` gives an instant that has passed for sure. ``held`` keeps jobs and merges from writing meanwhile;
    ``unindex`` takes ids out of the vector index; ``unportray`` lets go of what is remembered of changed portraits.
    """

    journal: MessageBuffer
    eraser: EventEraser
    portraits: ProfileEraser
    clock: Clock
    horizon: Callable[[], datetime]
    purge: Purge
    held: Callable[[], AbstractAsyncContextManager[None]]
    unindex: Callable[[Sequence[str]], Awaitable[None]]
    unportray: Callable[[Sequence[ProfileKey]], Awaitable[None]]

    async def forget(self, event: Event) -> None:
        """Retire an event and hide the lines that tell it, also those that are not written yet."""
        await self.journal.settle()
        await self.eraser.forget(event.id, self.clock.now())

    async def erase_expired(self) -> int:
        """Erase what nobody can restore any more, and let the purge take its bytes; answers how many events.

        Never raises for a store that is away: the next call goes on from there.
        """
        try:
            return await self._erase_expired()
        except CognitiveMemoryError as away:
            log.warning("%s", sentences.purge_waits(str(away)))
            return 0

    async def _erase_expired(self) -> int:
        expired = await self.eraser.expired(self.horizon() - RESTORABLE)
        if not expired:
            return 0
        async with self.purge.erasing():
            async with self.held():
                await self.unportray(await self._reworded(expired))  # the ledger comes last: it knows what must go
                erased = await self.eraser.erase([event.id for event in expired], self.clock.now())
            await self.unindex(erased.event_ids)
        self.purge.begin(await self.purge.state())
        return erased.events

    async def _reworded(self, expired: Sequence[Event]) -> list[ProfileKey]:
        """Take what these events tell out of portraits and their past."""
        told: dict[ProfileKey, list[Event]] = {}
        for event in expired:
            for key in keys_of(event):
                told.setdefault(key, []).append(event)
        return [key for key, events in told.items() if await self.portraits.reword(key, untelling(events))]
