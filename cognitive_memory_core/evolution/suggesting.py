"""Suggests what a group could keep of problems that it met again and again, and carries out what admins decide."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from operator import mul

from .. import sentences
from ..domain.belief import Belief, BeliefEdit, logged
from ..domain.event import Event
from ..domain.hit import ReadFilter
from ..domain.ids import derived_id
from ..domain.scope import Scene
from ..domain.suggestion import Suggestion, SuggestionDecision
from ..errors import UnavailableError, UnknownSuggestion
from ..ports.ambient import Clock
from ..ports.beliefs import BeliefBook
from ..ports.ledger import EventLedger
from ..ports.models import Embedder, Vector
from ..ports.suggestions import DecisionBook
from ..read_access import ReadAccess
from ..settings import Live, Settings
from ..text.statements.problems import ProblemReading
from .belief_keeping import OPERATOR, group_of
from .patterns import Same, patterns_among, readable, suggested
from .strength import first_strength

MOST_READ = 300  # experiences of a group that are compared; the newest
NEAR = 0.85  # calibrated similarity from which a model's vectors say that two problems are the same
LOCAL = "hashing-"  # the local embedder, whose vectors know no more than the words
EXPERIENCE = ("experience",)


@dataclass
class Suggesting:
    """Makes suggestions from the experiences that a scene may read; nothing is stored until an admin decides.

    ``named`` renders events with the present names of people. Callers check who may decide.
    """

    events: EventLedger
    decisions: DecisionBook
    beliefs: BeliefBook
    embedder: Embedder
    access: ReadAccess
    settings: Live[Settings]
    clock: Clock
    named: Callable[[Sequence[Event]], Awaitable[list[Event]]]
    on_stored: Callable[[], None] = lambda: None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None, None]:
        """Let nothing be decided inside the block."""
        async with self._turn:
            yield

    async def suggestions(self, scene: Scene) -> list[Suggestion]:
        """Return the open suggestions of a group, the problem that was met most often first."""
        scope = group_of(scene)
        if not self.access.may_recall(scene):
            return []
        reading = ReadFilter(scene, group_id=scope.group_id, kinds=EXPERIENCE, without=self.access.hidden_people)
        found = await self.events.recent(reading, MOST_READ)
        decisions = await self.decisions.decisions(scope)
        decided = [one for decision in decisions for one in decision.event_ids]
        known = [one for one in await self.events.fetch(decided) if reading.admits(one)]
        events = await self._told(scene, found)
        same = await self._same(list({one.id: one for one in (*events, *known)}.values()))
        zone = self.settings.current.zone

        def made() -> list[Suggestion]:
            return suggested(scope, patterns_among(events, zone, same), decisions, known, same)

        return await asyncio.to_thread(made)

    async def decide(self, scene: Scene, suggestion_id: str, *, accept: bool) -> None:
        """Remember a decision; what is accepted becomes a belief of the group. Raises UnknownSuggestion."""
        async with self._turn:
            known = {one.id: one for one in await self.suggestions(scene)}
            suggestion = known.get(suggestion_id)
            if suggestion is None:
                raise UnknownSuggestion(sentences.suggestions.UNKNOWN_SUGGESTION)
            by, now = scene.user_id or OPERATOR, self.clock.now()
            if accept:
                await self._keep(suggestion, by)
            decision = SuggestionDecision(
                suggestion.id, suggestion.scope, suggestion.kind, accept, now, by, suggestion.event_ids
            )
            await self.decisions.decide(decision)

    async def _keep(self, suggestion: Suggestion, by: str) -> None:
        """Store the draft as a belief, with its evidence; an equal active belief is left as it is."""
        now = self.clock.now()
        events = await self.events.fetch(suggestion.event_ids)
        messages = dict.fromkeys(message for one in events for message in one.message_ids)
        belief = Belief(
            derived_id("accepted", suggestion.id),
            suggestion.scope,
            suggestion.draft,
            tags=(sentences.suggestions.KINDS[suggestion.kind],),
            strength=first_strength(len(suggestion.people)),
            change_summary=sentences.suggestions.ACCEPTED,
            created_at=now,
            updated_at=now,
            weighed_at=now,
            message_ids=tuple(messages),
            event_ids=suggestion.event_ids,
            supporters=suggestion.people,
        )
        change = logged("create", belief, None, sentences.suggestions.ACCEPTED, now, by=by)
        await self.beliefs.commit([BeliefEdit(belief, None, change)])
        self.on_stored()

    async def _told(self, scene: Scene, events: Sequence[Event]) -> list[Event]:
        """Return what may be shown of the events, in present names and without people who opted out."""
        shown = self.access.shown(scene, await self.named(events))
        return [readable(one, self.access.hidden) for one in shown if one.pain]

    async def _same(self, events: Sequence[Event]) -> Same:
        """Return how two of these experiences compare: by their words, and by vectors of a model if there is one."""
        readings = {one.id: ProblemReading.of(one.pain, one.solution) for one in events}
        vectors = await self._vectors(events)

        def same(one: Event, other: Event) -> bool:
            mine, theirs = readings[one.id], readings[other.id]
            return mine.is_same(theirs) or (
                self._similarity(vectors.get(one.id), vectors.get(other.id)) >= NEAR
                and not mine.is_of_other_code(theirs)
            )

        return same

    async def _vectors(self, events: Sequence[Event]) -> dict[str, Vector]:
        if self.embedder.fingerprint.startswith(LOCAL) or not events:
            return {}
        try:
            vectors = await self.embedder.embed_documents([one.pain for one in events])
        except UnavailableError:
            return {}
        return {one.id: vector for one, vector in zip(events, vectors, strict=True)}

    def _similarity(self, one: Vector | None, other: Vector | None) -> float:
        if one is None or other is None or len(one) != len(other):
            return 0.0
        return self.embedder.calibration.similarity(sum(map(mul, one, other)))
