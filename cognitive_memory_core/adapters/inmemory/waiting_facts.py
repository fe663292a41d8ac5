"""What the in-memory ledger holds on the way from events to profiles."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ...domain.event import Event, duplicate_key
from ...domain.fact import Fact
from ...domain.profile import ProfileKey
from ...domain.scope import Scope
from ...ports.ledger import PendingFacts

Heard = tuple[Scope, str, str]  # scope, sender and duplicate key of an observation


@dataclass(frozen=True)
class Noted:
    """A fact, when it came, and whether it is in its profile."""

    fact: Fact
    at: datetime
    is_merged: bool = False

    @property
    def shown(self) -> Fact:
        """The fact as one that waits: what is in its profile waits to leave it."""
        return replace(self.fact, is_withdrawn=self.is_merged)


@dataclass
class WaitingFacts:
    """Facts by their id in the order of coming, failed merges, and which words became which event."""

    facts: dict[str, Noted] = field(default_factory=dict[str, Noted])
    failures: dict[ProfileKey, PendingFacts] = field(default_factory=dict[ProfileKey, PendingFacts])
    heard: dict[Heard, str] = field(default_factory=dict[Heard, str])

    def keep(self, fact: Fact, at: datetime) -> None:
        """Add a waiting fact; a second of the same event and profile changes nothing."""
        self.facts.setdefault(fact.id, Noted(fact, at))

    def of(self, key: ProfileKey) -> list[Noted]:
        """Return what is kept for one profile, whether it waits or not."""
        return [noted for noted in self.facts.values() if noted.fact.key == key]

    def settle(self, fact: Fact) -> None:
        """Note that a known fact is in its profile, or has left it, as it was given."""
        self.facts[fact.id] = replace(self.facts[fact.id], is_merged=not fact.is_withdrawn)

    def fail(self, key: ProfileKey, error: str, at: datetime) -> None:
        """Remember that a merge failed."""
        attempts = self.failures[key].attempts if key in self.failures else 0
        self.failures[key] = PendingFacts(key, 0, at, attempts + 1, at, error)

    def hear(self, event: Event, observation: str, event_id: str) -> None:
        """Remember which standing event words became; the latest counts."""
        if observation.strip():
            self.heard[event.scope, event.sender_id, duplicate_key(observation)] = event_id

    def unhear(self, event_id: str) -> None:
        """Forget which words an event was made of."""
        self.heard = {said: one for said, one in self.heard.items() if one != event_id}

    def drop_event(self, event_id: str) -> None:
        """Forget what hangs on an event."""
        self.facts = {one: noted for one, noted in self.facts.items() if noted.fact.event_id != event_id}
        self.unhear(event_id)

    def drop(self, goes: Callable[[ProfileKey], bool]) -> None:
        """Forget what is on its way to these profiles."""
        self.facts = {one: noted for one, noted in self.facts.items() if not goes(noted.fact.key)}
        self.failures = {key: failure for key, failure in self.failures.items() if not goes(key)}

    def wait_again(self, keys: Collection[ProfileKey]) -> None:
        """Let all facts of profiles that are gone wait for the next ones."""
        waiting = {one: replace(noted, is_merged=False) for one, noted in self.facts.items() if noted.fact.key in keys}
        self.facts |= waiting
        self.failures = {key: failure for key, failure in self.failures.items() if key not in keys}

    def reword(self, of_fact: Callable[[Fact], str], of_error: Callable[[str], str]) -> None:
        """Put the facts and the errors anew."""
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
    """List the profiles for which facts wait, longest first."""
    found: dict[ProfileKey, list[Noted]] = {}
    for noted in given:
        found.setdefault(noted.fact.key, []).append(noted)
    return sorted((_counted(key, noted, failures) for key, noted in found.items()), key=lambda waiting: waiting.since)


def _counted(key: ProfileKey, noted: Sequence[Noted], failures: Mapping[ProfileKey, PendingFacts]) -> PendingFacts:
    since = min(one.at for one in noted)
    withdrawn = sum(one.is_merged for one in noted)
    return replace(failures.get(key, PendingFacts(key, 0, since)), facts=len(noted), since=since, withdrawn=withdrawn)
