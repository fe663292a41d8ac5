"""Decisions on suggestions in the ledger; see :mod:`.ledger` for the guarantees of all its ports."""

from __future__ import annotations

from typing import Protocol

from ..domain.scope import Scope
from ..domain.suggestion import SuggestionDecision


class DecisionBook(Protocol):
    """What admins decided on suggestions. A decision is deleted with the last event that it rests on."""

    async def decide(self, decision: SuggestionDecision) -> None:
        """Store a decision; does nothing if its id is known or none of its events is stored."""
        ...

    async def decisions(self, scope: Scope) -> list[SuggestionDecision]:
        """Return the decisions of a place, oldest first, each with those of its events that are still stored."""
        ...
