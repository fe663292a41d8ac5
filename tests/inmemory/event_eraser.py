"""Forgetting single events, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.ports.ledger import ErasedRows

from . import beliefs
from .state import InMemoryState


class InMemoryEventEraser:
    """Forgets events of a state."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state

    async def forget(self, event_id: str, at: datetime) -> None:
        """Retire an event and hide the messages that tell it."""
        if event_id in self._state.events:
            self._state.retire(event_id, at)
            self._state.hide_lines(self._state.events[event_id])

    async def unrepeatable(self) -> list[Event]:
        """Return the retired events that must not be shown anywhere."""
        return [event for event in self._gone() if self._state.active_duplicate(event) is None]

    async def forgotten(self, user_id: str, since: datetime) -> list[Event]:
        """Return a person's events that were forgotten since an instant and can be restored, the latest first."""
        state = self._state
        own = [
            event
            for event in reversed(self._retired())
            if event.id in state.forgotten
            and not state.rests_on_nothing(event)
            and (event.sender_id == user_id or (event.request_type == "private" and event.user_id == user_id))
        ]
        recent = [event for event in own if event.retired_at is not None and event.retired_at >= since]
        return sorted(recent, key=lambda event: event.retired_at or since, reverse=True)

    async def expired(self, before: datetime) -> list[Event]:
        """Return the events retired before an instant, and all withdrawn ones."""
        return [
            event
            for event in self._retired()
            if self._state.rests_on_nothing(event) or (event.retired_at and event.retired_at < before)
        ]

    async def erase(self, event_ids: Sequence[str], at: datetime) -> ErasedRows:
        """Erase retired events and the messages that were hidden with them."""
        state = self._state
        erased = [event.id for event in self._retired() if event.id in event_ids]
        gone = [event.id for event in self._gone() if event.id in erased]
        lines = [place for place, because in state.hidden_lines.items() if not because.isdisjoint(gone)]
        sources = [(state.events[one].scope, source) for one in gone for source in state.sources[one]]
        for place in (*lines, *sources):  # also for messages that the log has deleted
            state.withdrawn.setdefault(place, at)
            beliefs.withdraw(state, *place, at)
        messages = len([state.messages.pop(place) for place in lines if place in state.messages])
        for event_id in erased:
            state.drop(event_id)
        state.gone |= set(erased)
        if erased:
            due = min(state.purge_state.erased_at or at, at)
            state.purge_state = replace(state.purge_state, erased_at=due)
        return ErasedRows(events=len(erased), messages=messages, event_ids=tuple(erased))

    def _retired(self) -> list[Event]:
        return [event for event in self._state.events.values() if event.retired_at is not None]

    def _gone(self) -> list[Event]:
        state = self._state
        return [event for event in self._retired() if event.id in state.forgotten or state.rests_on_nothing(event)]
