"""Forgets single events: hides them with the lines that repeat them, and erases them after 30 days."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from . import sentences
from .domain.erasure import RESTORABLE, keys_of
from .domain.event import Event
from .domain.interval import Interval
from .domain.profile import ProfileKey
from .domain.read_filter import ReadFilter
from .domain.scope import Scene
from .errors import CognitiveMemoryError, UnknownEvent
from .permanent_erasure import ErasureSurroundings
from .ports.clock import Clock
from .store.erasure.event_eraser import EventEraser
from .store.events import EventLedger
from .text.safety.retold_events import untelling

log = logging.getLogger(__name__)
MOST_CORRECTIONS = 1_000  # events of one instant that are read to find the corrected one


@dataclass(frozen=True)
class EventForgetting:
    """Forgets events, and erases them after the restore period.

    ``horizon`` returns an instant that has certainly passed, even if the clock is wrong. ``on_changed`` is called after
    :meth:`forget` and :meth:`restore`.
    """

    events: EventLedger
    eraser: EventEraser
    around: ErasureSurroundings
    clock: Clock
    horizon: Callable[[], datetime]
    on_changed: Callable[[], None]

    async def forget(self, scene: Scene, event: Event) -> None:
        """Retire an event and hide the lines that repeat it, including lines that are still in the message buffer."""
        if event.retired_at is None:
            await self.around.buffer.flush()
            theirs = (event.person, event.user_id if event.request_type == "private" else "")
            by_author = scene.kind != "operator" and scene.user_id in theirs
            await self.eraser.forget(event.id, self.clock.now(), "author" if by_author else "other")
            self.on_changed()

    async def restore(self, event: Event) -> Event:
        """Make a forgotten event active again and return it; if an active event has the same text, return that one.

        Raises UnknownEvent if the event was forgotten over 30 days ago, is erased, or its messages were withdrawn.
        """
        is_over = event.retired_at is not None and event.retired_at < self.clock.now() - RESTORABLE
        restored = None if is_over else await self.events.restore(event.id)
        if restored is None:
            raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)
        self.on_changed()
        return restored

    async def erase_expired(self) -> int:
        """Erase events whose restore period is over and schedule a purge; return how many events.

        If a store is unavailable, return 0; the next call continues.
        """
        try:
            return await self._erase_expired()
        except CognitiveMemoryError as away:
            log.warning("%s", sentences.log.PURGE_WAITS.format(reason=str(away)))
            return 0

    async def _erase_expired(self) -> int:
        expired = await self.eraser.expired(self.horizon() - RESTORABLE)
        if not expired:
            return 0
        async with self.around.purge.erasing():
            async with self.around.suspended():
                await self.around.refresh(
                    await self._reworded(expired)
                )  # the ledger comes last: it records what must be erased
                erased = await self.eraser.erase([event.id for event in expired], self.clock.now())
            await self.around.remove_from_index(erased.event_ids)
        self.around.purge.begin(await self.around.purge.state())
        return erased.events

    async def _reworded(self, expired: Sequence[Event]) -> list[ProfileKey]:
        """Remove from profiles and their revisions what these events state; return the keys of the changed profiles."""
        corrected = {event.id: await self._active_corrections(event) for event in expired}
        events_by_key: dict[ProfileKey, list[Event]] = {}
        for event in expired:
            for key in keys_of(event):
                events_by_key.setdefault(key, []).append(event)
        reword = self.around.profiles.reword
        return [
            key
            for key, events in events_by_key.items()
            if await reword(key, untelling(events, corrected), [event.id for event in events])
        ]

    async def _active_corrections(self, old: Event) -> list[Event]:
        """Return the active events that replaced this one by corrections: they have its date, speaker and sources."""
        instant = Interval(old.happened_at, old.happened_at + timedelta(microseconds=1))
        dated = await self.events.recent(ReadFilter(Scene.operator(old.agent), window=instant), MOST_CORRECTIONS)
        alike = (old.scope, old.sender_id, old.message_ids)
        return [event for event in dated if (event.scope, event.sender_id, event.message_ids) == alike]
