"""Events, in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from cognitive_memory_core import sentences
from cognitive_memory_core.domain.erasure_rules import stays_out
from cognitive_memory_core.domain.event import Draft, Event
from cognitive_memory_core.domain.fact import Fact
from cognitive_memory_core.domain.read_filter import ReadFilter
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.errors import UnknownEvent

from .state import InMemoryState


class InMemoryEvents:
    """The events of a state."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state

    async def commit(self, draft: Draft) -> None:
        """Store a draft and mark its job as done."""
        state = self._state
        if draft.job_id in state.done:
            return
        facts_of: dict[str, str] = {}
        is_written = False
        if draft.corrects and not await self.fetch([draft.corrects]):
            raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)
        for event in draft.events:
            is_left_out = not state.opted_out.keys().isdisjoint((event.sender_id, *event.subjects))
            if not is_left_out and not stays_out(state.erased, event):
                became = self._enter(event, draft.repeats.get(event.id), corrects=bool(draft.corrects))
                if became is not None:
                    is_written = True
                    state.facts.hear(event, draft.observations.get(event.id, ""), became)
                    facts_of |= {event.id: became} if became == event.id or state.lift(became, event) else {}
        for fact in draft.facts:
            is_fed = not draft.corrects or self._may_replace(draft.corrects, fact)
            if is_fed and fact.event_id in facts_of and self._is_kept(fact):
                state.facts.keep(replace(fact, event_id=facts_of[fact.event_id]), state.clock.now())
        if is_written and draft.corrects:
            state.retire(draft.corrects, state.clock.now())
        state.done[draft.job_id] = state.clock.now()

    async def done(self, job_id: str) -> bool:
        """Return whether the job's draft was committed."""
        return job_id in self._state.done

    async def find(self, event_id: str) -> Event | None:
        """Return an event, retired or not."""
        return self._state.events.get(event_id)

    async def fetch(self, event_ids: Sequence[str]) -> list[Event]:
        """Return the events that are not retired, in the order of the ids."""
        events = self._state.events
        found = [events[event_id] for event_id in event_ids if event_id in events]
        return [event for event in found if event.retired_at is None]

    async def recent(self, read_filter: ReadFilter, limit: int, offset: int = 0) -> list[Event]:
        """Return the events that the read filter admits, newest first."""
        start = max(offset, 0)
        newest_first = sorted(
            (event for event in reversed(self._state.events.values()) if read_filter.admits(event)),
            key=lambda event: event.happened_at,
            reverse=True,
        )
        return newest_first[start : start + max(limit, 0)]

    async def made_of(self, lines: Collection[tuple[Scope, str]], read_filter: ReadFilter) -> list[Event]:
        """Return the events that the read filter admits and that were made from one of these messages."""
        state, wanted = self._state, frozenset(lines)
        resting = (event for event in state.events.values() if read_filter.admits(event))
        return [
            one for one in resting if any((one.scope, source) in wanted for source in state.sources.get(one.id, ()))
        ]

    async def replacing(self, event_ids: Collection[str], read_filter: ReadFilter) -> list[Event]:
        """Return the events that the read filter admits and that name one of these as replaced."""
        return [one for one in self._state.events.values() if one.replaces in event_ids and read_filter.admits(one)]

    async def replaced_ids(self, limit: int) -> frozenset[str] | None:
        """Return the ids that events name as replaced; None if more than ``limit`` events do."""
        found = [one.replaces for one in self._state.events.values() if one.replaces]
        return None if len(found) > limit else frozenset(found)

    async def retire(self, event_id: str, at: datetime) -> None:
        """Retire an event, which hides it from every reading."""
        self._state.retire(event_id, at)

    async def restore(self, event_id: str) -> Event | None:
        """Restore a retired event, or return the equal one that exists; None if all its messages were withdrawn."""
        event = self._state.events.get(event_id)
        if event is None or event.retired_at is None:
            return event
        if self._state.rests_on_nothing(event):
            return None
        twin = self._state.active_duplicate(event)
        if twin is None:
            return self._state.restore(event)
        self._state.show_lines(event.id)
        return twin

    def _may_replace(self, corrected_id: str, fact: Fact) -> bool:
        fed = (noted.fact.event_id for noted in self._state.facts.of(fact.key))
        return fact.key.entity_type != "group" or corrected_id in fed

    def _is_kept(self, fact: Fact) -> bool:
        person = fact.key.user_id
        return person not in self._state.opted_out and not self._state.erased.covers_person(person, fact.happened_at)

    def _enter(self, event: Event, named: str | None, *, corrects: bool) -> str | None:
        """Add an event, or count it with an equal one; return the id of the current event, None if there is none."""
        state = self._state
        active_event_of_id = state.active_event_of_id(event, named)
        if event.id in state.events or event.id in state.gone:
            return None
        if not corrects and state.is_counted(event, active_event_of_id):
            return None
        is_retired = event.retired_at is not None or state.is_withdrawn(event)
        twin = None if is_retired else active_event_of_id or state.active_duplicate(event)
        if twin is not None:
            state.import_rows(twin, event)
            return twin.id
        state.add(event)
        return None if is_retired else event.id
