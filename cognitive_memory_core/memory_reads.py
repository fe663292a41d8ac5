"""The reads of the façade; each checks access before it queries a store, and again for each row returned by it."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from . import sentences
from .domain.belief import Belief, BeliefHit, BeliefPage, Change, Listing, Suggestion
from .domain.context import NOTHING, Context, Hit
from .domain.erasure import RESTORABLE
from .domain.event import Event
from .domain.message import Message
from .domain.note import Memo, Pin
from .domain.profile import EntityType, Profile, ProfileHit, ProfileKey, Revision
from .domain.read_filter import ReadFilter
from .domain.scope import Scene, Scope
from .errors import UnknownEvent
from .evolution.belief_keeping import BeliefKeeping, group_of
from .evolution.suggesting import Suggesting
from .historian.messages.message_buffer import MessageBuffer
from .pinboard import Pinboard
from .ports.tally import Tally, Untallied
from .profile_history import ProfileHistory
from .read_access import ReadAccess
from .recall.belief_search import BeliefSearch
from .recall.current_names import CurrentNames
from .recall.profile_reader import ProfileReader
from .recall.recall import Recall
from .recall.trace import Explanation
from .settings import Settings
from .store.erasure.event_eraser import EventEraser
from .store.events import EventLedger


@dataclass(frozen=True)
class Reads:
    """The reads of an open memory; a row that ``access`` does not admit is left out, whichever store returned it.

    ``names`` puts the present names of people into statements.
    """

    access: ReadAccess
    names: CurrentNames
    recall: Recall
    event_ledger: EventLedger
    buffer: MessageBuffer
    profile_reader: ProfileReader
    history: ProfileHistory
    pinboard: Pinboard
    beliefs: BeliefKeeping
    belief_search: BeliefSearch
    suggesting: Suggesting
    event_eraser: EventEraser
    tally: Tally = field(default_factory=Untallied)

    async def context(self, scene: Scene, query: str, *, budget: int | None, shown: frozenset[str] | None) -> Context:
        """Build the context of a turn, only from memos if ``enabled=false``; the builder checks access to each item."""
        if not self.access.may_recall(scene):
            return NOTHING
        if not self.access.is_enabled:
            return await self.recall.memos_only(scene, budget=budget)
        began = time.monotonic()
        built = await self.recall.context(scene, query, budget=budget, shown=shown)
        self.tally.took("context", time.monotonic() - began)
        return built

    async def explained(
        self, scene: Scene, query: str, *, budget: int | None, settings: Settings | None
    ) -> Explanation:
        """Build the context of a turn and explain its choice of events; empty if the scene may search nothing."""
        if not self.access.may_search(scene):
            return Explanation(NOTHING)
        return await self.recall.explained(scene, query, budget=budget, settings=settings)

    async def hits(self, read_filter: ReadFilter, query: str, *, top_k: int) -> list[Hit]:
        """Search events, and the log if the kinds of the read filter include "message"."""
        if not self.access.may_search(read_filter.scene):
            return []
        read_filter = replace(read_filter, without=self.access.hidden_people)
        began = time.monotonic()
        found = await self.recall.search(read_filter, query, top_k=top_k)
        self.tally.took("search", time.monotonic() - began)
        hits = self.access.hits(read_filter, found.hits)
        self.tally.recalled([hit.event.id for hit in hits if hit.event.kind != "message"])
        return hits

    async def events(self, scene: Scene, limit: int, offset: int) -> list[Event]:
        """Return events, newest first."""
        if not self.access.may_recall(scene):
            return []
        read_filter = ReadFilter(scene, without=self.access.hidden_people)
        found = await self.event_ledger.recent(read_filter, limit, offset)
        return self.access.shown(scene, await self.names.of_events(found))

    async def forgotten(self, scene: Scene, limit: int, offset: int) -> list[Event]:
        """Return the asker's own events that the asker forgot and can restore, the latest forgotten first."""
        if not (scene.user_id and self.access.may_recall(scene)):
            return []
        since = self.beliefs.clock.now() - RESTORABLE
        found = await self.event_eraser.forgotten(scene.user_id, since)
        standing = [replace(event, retired_at=None) for event in found]  # the access check admits no retired ones
        shown = self.access.shown(scene, await self.names.of_events(standing))
        forgotten_at = {event.id: event.retired_at for event in found}
        return [replace(event, retired_at=forgotten_at[event.id]) for event in shown[offset : offset + limit]]

    async def event(self, scene: Scene, event_id: str) -> Event:
        """Return an active event that the scene may see; raises UnknownEvent."""
        found = await self.stored_event(scene, event_id)
        if found.retired_at is None and self.access.may_recall(scene):
            shown = self.access.shown(scene, await self.names.of_events([found]))
            if shown:
                return shown[0]
        raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)

    async def stored_event(self, scene: Scene, event_id: str) -> Event:
        """Return an event, active or retired, for a change of it; raises UnknownEvent if the scene may not read it.

        Its text is unredacted. The switch of the place is ignored, so that events can be forgotten everywhere.
        """
        event = await self.event_ledger.find(event_id)
        if event is None or not event.readable_by(scene):
            raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)
        return event

    async def recent_messages(self, scene: Scene, limit: int, *, until: datetime | None) -> list[Message]:
        """Return the newest messages of the place, oldest first."""
        if not self.access.may_recall(scene):
            return []
        hidden = self.access.hidden_people
        found = await self.buffer.recent(scene.scope, limit, before=until, without=hidden)
        return self.access.shown(scene, await self.names.of_messages(scene.scope, found))

    async def find_messages(self, scene: Scene, message_ids: Collection[str]) -> list[Message]:
        """Return messages of the place by id, oldest first."""
        if not self.access.may_find(scene):
            return []
        found = await self.buffer.find(scene.scope, message_ids)
        return self.access.shown(scene, await self.names.of_messages(scene.scope, found))

    async def memos(self, scene: Scene, limit: int) -> list[Memo]:
        """Return the newest memos of the place, newest last."""
        if not self.access.may_recall(scene):
            return []
        return self.access.shown(scene, await self.recall.memos(scene.scope, limit))

    async def profile(self, scene: Scene, entity_type: EntityType, entity_id: str) -> Profile | None:
        """Return one profile; raises NotPermitted for one that the scene may not read."""
        if not self.access.may_search(scene):
            return None
        return self.access.profile(scene, await self.profile_reader.asked(scene, entity_type, entity_id))

    async def profiles(
        self, scene: Scene, query: str, *, entity_type: EntityType | None, top_k: int
    ) -> list[ProfileHit]:
        """Search profiles, best first."""
        if not self.access.may_search(scene):
            return []
        found = await self.profile_reader.search(scene, query, entity_type=entity_type, top_k=top_k)
        return self.access.profile_hits(scene, found)

    async def revisions(self, scene: Scene, key: ProfileKey) -> list[Revision]:
        """Return the past profiles of the asker or of the group, newest first."""
        if not self.access.may_search(scene):
            return []
        return self.access.revisions(scene, key, await self.history.revisions(scene, key))

    async def pins(self, scene: Scene) -> list[Pin]:
        """Return pins, oldest first, whatever the place's switch, because people need the list to remove pins."""
        return self.access.shown(scene, await self.pinboard.pins(scene))

    async def belief_page(self, scene: Scene, status: Listing, limit: int, offset: int) -> BeliefPage:
        """Return current beliefs of the group, strongest first."""
        scope = group_of(scene)
        if not self.access.may_recall(scene):
            return BeliefPage((), 0)
        page = await self.beliefs.beliefs.page(scope, status, limit, offset)
        return BeliefPage(tuple(await _shown(self, scope, page.beliefs)), page.total)

    async def belief_hits(self, scene: Scene, query: str, *, limit: int, threshold: float) -> list[BeliefHit]:
        """Search the active beliefs of the group, best first."""
        scope = group_of(scene)
        if not self.access.may_search(scene):
            return []
        worded = partial(self.access.belief, scope)
        hits = await self.belief_search.find(scope, query, limit=limit, threshold=threshold, worded=worded)
        named = await _shown(self, scope, [hit.belief for hit in hits])
        return [replace(hit, belief=belief) for hit, belief in zip(hits, named, strict=False)]

    async def belief_history(self, scene: Scene, belief_id: str) -> list[Belief]:
        """Return all versions of a belief that the scene may see, oldest first; raises UnknownBelief."""
        if not self.access.may_recall(scene):
            return []
        stored = await self.beliefs.stored(scene, belief_id)
        return await _shown(self, stored.scope, await self.beliefs.beliefs.history(stored.chain_id))

    async def belief_changes(self, scene: Scene, days: int) -> list[Change]:
        """Return the change log of the group's beliefs for the last ``days``, oldest first."""
        scope = group_of(scene)
        if not self.access.may_recall(scene):
            return []
        since = self.beliefs.clock.now() - timedelta(days=days)
        found = await self.beliefs.beliefs.changes(scope, since)
        return [shown for change in found if (shown := self.access.change(scope, change))]

    async def suggestions(self, scene: Scene) -> list[Suggestion]:
        """Return the open suggestions of the group, made from experiences that pass the access check."""
        return await self.suggesting.suggestions(scene)


async def _shown(reads: Reads, scope: Scope, beliefs: Sequence[Belief]) -> list[Belief]:
    named = await reads.names.of_beliefs(scope, beliefs)
    return [shown for belief in named if (shown := reads.access.belief(scope, belief))]
