"""Experiences of a group, and what suggests from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from cognitive_memory_core.consent import Consent
from cognitive_memory_core.domain.belief import Suggestion
from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.evolution.suggesting import Suggesting
from cognitive_memory_core.settings.schema import Live, Settings
from tests.support.ledgers import a_ledger

from .builders import GROUP, an_event
from .clock import NOON, FrozenClock
from .ledgers import committed

TANG, LIN, MO = "2000001", "2000002", "2000003"


def an_experience(pain: str, solution: str, by: str = TANG, day: int = 0, scene: Scene = GROUP, **fields: Any) -> Event:
    """Return what somebody told of a problem, so many days after noon."""
    outcome = fields.pop("outcome", "好了")
    return an_event(
        f"({by}) 遇到{pain}，{solution}，{outcome}",
        scene,
        kind="experience",
        pain=pain,
        solution=solution,
        outcome=outcome,
        **{"sender_id": by, "user_id": by, "happened_at": NOON + timedelta(days=day), **fields},
    )


@dataclass
class SuggestingGroup:
    """A group with suggestions over a ledger of choice."""

    ledger: Any
    consent: Consent
    suggesting: Suggesting

    @classmethod
    async def over(cls, *events: Event, ledger: Any = None, **given: Any) -> SuggestingGroup:
        """Build a group that has these experiences."""
        ledger = ledger or a_ledger()
        await committed(ledger, *events)
        settings = Live(Settings())
        consent = Consent(ledger, settings)
        await consent.load()

        async def named(events: Sequence[Event]) -> list[Event]:
            return list(events)

        suggesting = Suggesting(
            events=ledger.events,
            beliefs=ledger.beliefs,
            consent=consent,
            settings=settings,
            clock=FrozenClock(),
            named=named,
            **given,
        )
        return cls(ledger, consent, suggesting)

    async def suggestions(self, scene: Scene = GROUP) -> list[Suggestion]:
        """Return the open suggestions."""
        return await self.suggesting.suggestions(scene)

    async def decide(self, number: int = 0, *, accept: bool) -> Suggestion:
        """Decide on one of the open suggestions and return it."""
        suggestion = (await self.suggestions())[number]
        await self.suggesting.decide(GROUP, suggestion.id, accept=accept)
        return suggestion
