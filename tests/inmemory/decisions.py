"""Decisions on suggestions, in memory."""

from __future__ import annotations

from dataclasses import replace

from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.domain.suggestion import SuggestionDecision

from .state import InMemoryState


class InMemoryDecisions:
    """The decisions of a state."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state

    async def decide(self, decision: SuggestionDecision) -> None:
        """Store a decision with those of its events that are stored."""
        add(self._state, decision)

    async def decisions(self, scope: Scope) -> list[SuggestionDecision]:
        """Return the decisions of a place, oldest first."""
        return [one for one in self._state.decisions.values() if one.scope == scope]


def add(state: InMemoryState, decision: SuggestionDecision) -> bool:
    """Store a decision unless it is known or none of its events is stored; return whether it was stored."""
    if state.erased.covers_person(decision.decided_by, decision.decided_at):
        decision = replace(decision, decided_by="")
    known = (one for one in decision.event_ids if one in state.events and state.events[one].scope == decision.scope)
    evidence = tuple(sorted(known, key=state.numbers.__getitem__))
    if decision.id in state.decisions or not evidence:
        return False
    state.decisions[decision.id] = replace(decision, event_ids=evidence)
    return True
