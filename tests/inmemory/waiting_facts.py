"""Facts between events and profiles, in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from cognitive_memory_core.domain.event import Event, duplicate_key
from cognitive_memory_core.domain.fact import Fact
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.ports.ledger import PendingFacts

Heard = tuple[Scope, str, str]  # scope, sender and duplicate key of an observation


@dataclass(frozen=True)
class Noted:
    """A fact with its time, and whether it is merged into its profile."""

    fact: Fact
    at: datetime
    is_merged: bool = False

    @property
    def shown(self) -> Fact:
        """The fact as a waiting one; if it is merged, it waits to be removed."""
        return replace(self.fact, is_withdrawn=self.is_merged)


@dataclass
class WaitingFacts:
    """Facts in the order of adding, failed merges, and the event that each observation became."""

    facts: dict[str, Noted] = field(default_factory=dict[str, Noted])
    failures: dict[ProfileKey, PendingFacts] = field(default_factory=dict[ProfileKey, PendingFacts])
    heard: dict[Heard, str] = field(default_factory=dict[Heard, str])

    def keep(self, fact: Fact, at: datetime) -> None:
        """Add a waiting fact; a second one of the same event and profile changes nothing."""
        self.facts.setdefault(fact.id, Noted(fact, at))

    def of(self, key: ProfileKey) -> list[Noted]:
        """Return all facts of one profile, waiting or not."""
        return [noted for noted in self.facts.values() if noted.fact.key == key]

    def settle(self, fact: Fact) -> None:
        """Record that a known fact was merged into its profile, or removed from it, as it was given."""
        self.facts[fact.id] = replace(self.facts[fact.id], is_merged=not fact.is_withdrawn)

    def fail(self, key: ProfileKey, error: str, at: datetime) -> None:
        """Record a failed merge."""
        attempts = self.failures[key].attempts if key in self.failures else 0
        self.failures[key] = PendingFacts(key, 0, at, attempts + 1, at, error)

    def hear(self, event: Event, observation: str, event_id: str) -> None:
        """Record the current event that an observation became; the latest one counts."""
        if observation.strip():
            self.heard[event.scope, event.sender_id or event.user_id, duplicate_key(observation)] = event_id

    def unhear(self, event_id: str) -> None:
        """Remove the observations that an event was made from."""
        self.heard = {said: one for said, one in self.heard.items() if one != event_id}

    def drop_event(self, event_id: str) -> None:
        """Remove everything about an event."""
        self.facts = {one: noted for one, noted in self.facts.items() if noted.fact.event_id != event_id}
        self.unhear(event_id)

    def drop(self, goes: Callable[[ProfileKey], bool]) -> None:
        """Remove the facts of these profiles."""
        self.facts = {one: noted for one, noted in self.facts.items() if not goes(noted.fact.key)}
        self.failures = {key: failure for key, failure in self.failures.items() if not goes(key)}

    def mark_unmerged(self, keys: Collection[ProfileKey]) -> None:
        """Make all facts of deleted profiles wait again."""
        waiting = {one: replace(noted, is_merged=False) for one, noted in self.facts.items() if noted.fact.key in keys}
        self.facts |= waiting
        self.failures = {key: failure for key, failure in self.failures.items() if key not in keys}

    def reword(self, of_fact: Callable[[Fact], str], of_error: Callable[[str], str]) -> None:
        """Replace the texts of facts and errors."""
        self.facts = {
            one: replace(noted, fact=replace(noted.fact, text=of_fact(noted.fact))) for one, noted in self.facts.items()
        }
        self.failures = {key: replace(failure, error=of_error(failure.error)) for key, failure in self.failures.items()}


def goes_with(key: ProfileKey, scope: Scope) -> bool:
    """Return whether a profile belongs to a place: a group with its members, or the person of a private chat."""
    if scope.agent != key.agent:
        return False
    if scope.kind == "private":
        return key.entity_type == "user" and key.user_id == scope.place_id
    return key.group_id == scope.place_id


def counted(given: Iterable[Noted], failures: dict[ProfileKey, PendingFacts]) -> list[PendingFacts]:
    """Return the profiles for which facts wait, longest first."""
    found: dict[ProfileKey, list[Noted]] = {}
    for noted in given:
        found.setdefault(noted.fact.key, []).append(noted)
    return sorted((_counted(key, noted, failures) for key, noted in found.items()), key=lambda waiting: waiting.since)


def _counted(key: ProfileKey, noted: Sequence[Noted], failures: Mapping[ProfileKey, PendingFacts]) -> PendingFacts:
    since = min(one.at for one in noted)
    withdrawn = sum(one.is_merged for one in noted)
    return replace(failures.get(key, PendingFacts(key, 0, since)), facts=len(noted), since=since, withdrawn=withdrawn)
