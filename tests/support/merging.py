"""Helpers for tests of merging: a ledger with facts, profiles in memory, and a scripted merger."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.historian.merging import EntityMerge
from cognitive_memory_core.ports import MergedLine, MergedLines, MergeInput
from cognitive_memory_core.settings.schema import Live, Settings
from tests.support.ledgers import a_ledger
from tests.support.profiles import TemporaryProfiles

from .builders import a_draft, an_event
from .clock import FrozenClock
from .ledgers import a_fact
from .profiles import KEEP


@dataclass
class ScriptedMerger:
    """A merger that appends facts to a profile and records its calls; ``react`` may raise, or change the world."""

    react: Callable[[Person], Any] = lambda _: None
    seconds: float = 0.0
    merged: list[tuple[Person, list[list[str]], list[str]]] = field(default_factory=list[Any])
    in_hand: list[str] = field(default_factory=list[str])
    most_at_once: int = 0

    async def merge(self, given: MergeInput, now: datetime) -> MergedLines:
        """Return the facts as lines."""
        person = given.person
        assert person.id not in self.in_hand, "two merges of one profile at once"
        self.in_hand.append(person.id)
        self.most_at_once = max(self.most_at_once, len(self.in_hand))
        try:
            await asyncio.sleep(self.seconds)
            self.merged.append(
                (person, [[one.text for one in line] for line in given.told], [one.text for one in given.new])
            )
            answer = self.react(person)
            if asyncio.iscoroutine(answer):
                answer = await answer
        finally:
            self.in_hand.remove(person.id)
        if isinstance(answer, MergedLines):
            return answer
        return MergedLines(tuple(MergedLine("", fact.text, (fact.event_id,)) for fact in given.new))


@dataclass
class World:
    """A ledger, profiles and a clock, with the merge of one entity over them."""

    merger: ScriptedMerger = field(default_factory=ScriptedMerger)
    clock: FrozenClock = field(default_factory=FrozenClock)
    settings: Live[Settings] = field(default_factory=lambda: Live(Settings()))
    left_out: set[str] = field(default_factory=set[str])
    written: int = 0

    def __post_init__(self) -> None:
        """Connect the parts."""
        self.ledger = a_ledger(clock=self.clock)
        self.profiles = TemporaryProfiles(KEEP, self.clock)
        self.entity = EntityMerge(
            self.merger,
            self.profiles,
            self.ledger,
            self.settings,
            self.clock,
            group_names={},
            is_left_out=lambda key: key.user_id in self.left_out,
            on_written=self._count,
        )

    async def tell(self, key: ProfileKey, *texts: str) -> None:
        """Commit facts that wait for a profile from now on."""
        user_id, group_id = key.user_id or "2000001", key.group_id
        scene = Scene.group(group_id, user_id, agent=key.agent) if group_id else Scene.private(user_id, agent=key.agent)
        for text in texts:
            event = an_event(text, scene, happened_at=self.clock.now())
            await self.ledger.events.commit(replace(a_draft(event), facts=(a_fact(event, key),)))

    async def summary(self, key: ProfileKey) -> str:
        """Return the text of a profile, "" if there is none."""
        profile = await self.profiles.find(key)
        return profile.summary if profile else ""

    async def waiting(self) -> int:
        """Return the number of waiting facts."""
        return sum(one.facts for one in await self.ledger.facts.waiting())

    def _count(self) -> None:
        self.written += 1
