"""Suggests what a group could keep about problems that it met repeatedly, and carries out the admins' decisions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo

from .. import sentences
from ..consent import Consent
from ..domain.belief import STATEMENT_LENGTH, Belief, Suggestion, SuggestionDecision, SuggestionKind, logged
from ..domain.event import Event
from ..domain.ids import derived_id
from ..domain.reading import ReadFilter
from ..domain.scope import Scene, Scope
from ..errors import UnknownSuggestion
from ..ports import Clock
from ..settings.schema import Live, Settings
from ..store.beliefs import BeliefBook
from ..store.events import EventLedger
from ..text.cleaning import one_line
from ..text.problems import ProblemReading, has_steps, steps_of, uses_tool
from .beliefs import OPERATOR, group_of
from .support import first_strength

LEAST = 2  # people, or days, that have met a problem
MOST_STEPS = 6
PROBLEM_LENGTH = 80
Same = Callable[[Event, Event], bool]


def suggestions_among(
    scope: Scope,
    events: Sequence[Event],
    decisions: Sequence[SuggestionDecision],
    known: Sequence[Event],
    zone: tzinfo,
) -> list[Suggestion]:
    """Return what to suggest about experiences (events), the problem that was met most often first.

    A problem counts if several people met it, or one on several days, and one of them solved it; not if an admin
    decided on it: ``known`` are the events of these ``decisions``.
    """
    readings = {one.id: ProblemReading.of(one.pain, one.solution) for one in (*events, *known)}

    def same(one: Event, other: Event) -> bool:
        return readings[one.id].is_same(readings[other.id])

    decided = {one for decision in decisions for one in decision.event_ids}
    found: list[tuple[tuple[int, int, float], Suggestion]] = []
    for group in _by_problem(events, same):
        best = max(group, key=lambda one: (bool(one.solution), one.happened_at))
        people = tuple(dict.fromkeys(person for one in group if (person := one.sender_id or one.user_id)))
        met = (at for one in group for at in (one.happened_at, one.last_seen_at) if at is not None)
        days = {at.astimezone(zone).date() for at in met}
        occasions = max(len(people), len(days))
        is_decided = any(one.id in decided or any(same(one, old) for old in known) for one in group)
        if best.solution and occasions >= LEAST and not is_decided:
            weight = occasions, sum(one.count for one in group), group[-1].happened_at.timestamp()
            found.append((weight, _suggestion(scope, group, best, people, len(days))))
    return [suggestion for _, suggestion in sorted(found, key=lambda one: one[0], reverse=True)]


def _by_problem(events: Sequence[Event], same: Same) -> list[list[Event]]:
    """Group experiences by problem, oldest first.

    Each joins the group that it fits best, if more than half of the experiences there have the same problem, or else
    begins a group.
    """
    groups: list[list[Event]] = []
    for event in sorted(events, key=lambda one: (one.happened_at, one.id)):
        shares = [sum(same(event, one) for one in group) / len(group) for group in groups]
        best = max(range(len(groups)), key=shares.__getitem__, default=None)
        if best is not None and shares[best] > 1 / 2:
            groups[best].append(event)
        else:
            groups.append([event])
    return groups


def _suggestion(scope: Scope, group: Sequence[Event], best: Event, people: tuple[str, ...], days: int) -> Suggestion:
    """Return the suggestion to keep a problem; its draft quotes the best experience, in the length of a belief.

    It is a "workflow" if at least half of the solutions list steps, a "skill" if most use a tool, else an "faq".
    """
    solved, ids = [one.solution for one in group if one.solution], tuple(one.id for one in group)
    kind: SuggestionKind = "skill" if sum(map(uses_tool, solved)) * 2 > len(solved) else "faq"
    kind = "workflow" if sum(map(has_steps, solved)) * 2 >= len(solved) else kind
    steps = steps_of(best.solution)[:MOST_STEPS] if kind == "workflow" else [best.solution]
    draft = one_line(sentences.caller.draft(kind, best.pain, steps, best.outcome), STATEMENT_LENGTH)
    return Suggestion(
        derived_id("suggestion", scope.key, kind, draft, *ids),
        scope,
        kind,
        one_line(best.pain, PROBLEM_LENGTH),
        draft,
        ids,
        people,
        days,
        first_at=group[0].happened_at,
        last_at=max(one.last_seen_at or one.happened_at for one in group),
        quotes=best.quotes,
    )


MOST_READ = 300  # experiences of a group that are compared; the newest
EXPERIENCE = ("experience",)


@dataclass
class Suggesting:
    """Makes suggestions from the experiences that a scene may read; nothing is stored until an admin decides.

    ``named`` returns events with the present names of people. Callers must check who may decide.
    """

    events: EventLedger
    beliefs: BeliefBook
    consent: Consent
    settings: Live[Settings]
    clock: Clock
    named: Callable[[Sequence[Event]], Awaitable[list[Event]]]
    on_stored: Callable[[], None] = lambda: None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def suspended(self) -> asyncio.Lock:
        """Prevent decisions in a ``with`` block."""
        return self._turn

    async def suggestions(self, scene: Scene) -> list[Suggestion]:
        """Return the open suggestions of a group, the problem that was met most often first."""
        scope = group_of(scene)
        if not self.consent.may_recall(scene):
            return []
        read_filter = ReadFilter(scene, group_id=scope.group_id, kinds=EXPERIENCE, without=self.consent.opted_out)
        found = await self.events.recent(read_filter, MOST_READ)
        decisions = await self.beliefs.decisions(scope)
        decided = [one for decision in decisions for one in decision.event_ids]
        known = [one for one in await self.events.fetch(decided) if read_filter.admits(one)]
        shown = self.consent.shown(scene, await self.named(found))  # by present names, without people who opted out
        events = [one for one in shown if one.pain]
        zone = self.settings.current.zone
        return await asyncio.to_thread(suggestions_among, scope, events, decisions, known, zone)

    async def decide(self, scene: Scene, suggestion_id: str, *, accept: bool) -> None:
        """Store a decision; an accepted suggestion becomes a belief of the group. Raises UnknownSuggestion."""
        async with self._turn:
            open_ones = await self.suggestions(scene)
            suggestion = next((one for one in open_ones if one.id == suggestion_id), None)
            if suggestion is None:
                raise UnknownSuggestion(sentences.caller.UNKNOWN_SUGGESTION)
            by, now = scene.user_id or OPERATOR, self.clock.now()
            decision = SuggestionDecision(
                suggestion.id, suggestion.scope, suggestion.kind, accept, now, by, suggestion.event_ids
            )
            if accept:
                events = await self.events.fetch(suggestion.event_ids)
                messages = dict.fromkeys(message for one in events for message in one.message_ids)
                belief = Belief(
                    derived_id("accepted", suggestion.id),
                    suggestion.scope,
                    suggestion.draft,
                    tags=(sentences.caller.SUGGESTION_KINDS[suggestion.kind],),
                    strength=first_strength(len(suggestion.people)),
                    change_summary=sentences.caller.SUGGESTION_ACCEPTED,
                    created_at=now,
                    updated_at=now,
                    weighed_at=now,
                    message_ids=tuple(messages),
                    event_ids=suggestion.event_ids,
                    supporters=suggestion.people,
                )
                edit = logged("create", belief, None, sentences.caller.SUGGESTION_ACCEPTED, now, by=by)
                await self.beliefs.commit([edit])  # nothing, if an equal one is active
                self.on_stored()
            await self.beliefs.decide(decision)
