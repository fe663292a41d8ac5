"""Facts that wait for profiles, and the event that each observation became, in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from cognitive_memory_core.domain.event import Event, duplicate_key, is_replaced
from cognitive_memory_core.domain.fact import Fact
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.ports.ledger import PendingFacts

from .state import InMemoryState
from .waiting_facts import Noted, counted


class InMemoryFacts:
    """The facts of a state."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state

    async def waiting(self) -> list[PendingFacts]:
        """List the profiles for which facts wait, longest first."""
        facts = self._state.facts
        return counted(filter(self._is_given, facts.facts.values()), facts.failures)

    async def facts(self, key: ProfileKey, limit: int) -> list[Fact]:
        """Return the waiting facts of one profile: withdrawn ones first, then new ones, oldest first."""
        given = [noted.shown for noted in self._state.facts.of(key) if self._is_given(noted)]
        return sorted(given, key=lambda fact: not fact.is_withdrawn)[: max(limit, 0)]

    async def mark_merged(self, key: ProfileKey, facts: Collection[Fact]) -> None:
        """Record which facts were merged into their profile or removed from it, and clear its failures."""
        book = self._state.facts
        known = {noted.fact.id for noted in book.of(key)}
        for fact in facts:
            if fact.id in known:
                book.settle(fact)
        book.failures.pop(key, None)

    async def keys_to_update(self) -> frozenset[ProfileKey]:
        """Return the profiles with a merged fact whose event is retired."""
        events, merged = self._state.events, (noted for noted in self._state.facts.facts.values() if noted.is_merged)
        return frozenset(noted.fact.key for noted in merged if events[noted.fact.event_id].retired_at is not None)

    async def fail(self, key: ProfileKey, error: str, at: datetime) -> None:
        """Record a failed merge if facts wait for the profile; an erased profile has none."""
        if any(self._is_fallen(noted) or not noted.is_merged for noted in self._state.facts.of(key)):
            self._state.facts.fail(key, error, at)

    async def keys_with_facts_of(self, scope: Scope) -> frozenset[ProfileKey]:
        """Return the profiles with facts that were learned in a place."""
        return self._state.keys_with_facts_of(scope)

    async def events_of_observations(
        self, scope: Scope, sender_id: str, observations: Sequence[str]
    ) -> Mapping[str, Event]:
        """Return, for each observation, the event that the same words of this person became here before."""
        state = self._state
        ids = {said: state.facts.heard.get((scope, sender_id, duplicate_key(said))) for said in observations}
        events = {said: state.events[event_id] for said, event_id in ids.items() if event_id is not None}
        return {said: event for said, event in events.items() if event.retired_at is None}

    def _is_given(self, noted: Noted) -> bool:
        event = self._state.events[noted.fact.event_id]
        people = (noted.fact.key.user_id, event.sender_id, *event.subjects)
        return noted.is_merged == self._is_fallen(noted) and self._state.opted_out.keys().isdisjoint(people)

    def _is_fallen(self, noted: Noted) -> bool:
        """Return whether a fact's event is retired, or replaced by an active one that feeds the same profile."""
        event, fed = self._state.events[noted.fact.event_id], self._state.facts.of(noted.fact.key)
        newer = (self._state.events[one.fact.event_id] for one in fed if one is not noted)
        return event.retired_at is not None or any(is_replaced(event, one) for one in newer if one.retired_at is None)
