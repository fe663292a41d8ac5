"""The contents of the in-memory ledger and the rules for adding and retiring events."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from cognitive_memory_core.domain.belief import Belief, Change, relinked
from cognitive_memory_core.domain.erasure_rules import texts_of
from cognitive_memory_core.domain.event import Event, duplicate_key, with_absolute_text
from cognitive_memory_core.domain.incognito import Incognito
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.missed_event import MissedEvent
from cognitive_memory_core.domain.note import Memo, Pin
from cognitive_memory_core.domain.place_switch import PlaceSwitch
from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.domain.suggestion import SuggestionDecision
from cognitive_memory_core.domain.tombstones import Tombstones
from cognitive_memory_core.ports.clock import Clock
from cognitive_memory_core.ports.ledger import Alias, Checkpoint, Copy, PurgeState
from cognitive_memory_core.ports.models import Vector
from cognitive_memory_core.text.safety.retold_events import retells

from .waiting_facts import WaitingFacts

Place = tuple[Scope, str]  # a message's id is unique in its scope only
Said = tuple[Scope, str, str]  # scope, sender and duplicate key; only one current event has each


@dataclass
class InMemoryState:
    """All data, in the order in which it was added."""

    clock: Clock
    events: dict[str, Event] = field(default_factory=dict[str, Event])
    said: dict[Said, str] = field(default_factory=dict[Said, str])
    alike: dict[Said, list[str]] = field(default_factory=dict[Said, list[str]])  # including retired ones
    sources: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    vectors: dict[str, tuple[str, Vector]] = field(default_factory=dict[str, tuple[str, Vector]])
    fingerprint: str = ""
    done: dict[str, datetime] = field(default_factory=dict[str, datetime])
    messages: dict[Place, Message] = field(default_factory=dict[Place, Message])
    withdrawn: dict[Place, datetime] = field(default_factory=dict[Place, datetime])
    memos: dict[str, Memo] = field(default_factory=dict[str, Memo])
    pins: dict[str, Pin] = field(default_factory=dict[str, Pin])
    opted_out: dict[str, datetime] = field(default_factory=dict[str, datetime])
    switches: dict[Scope, PlaceSwitch] = field(default_factory=dict[Scope, PlaceSwitch])
    names: dict[tuple[Scope, str, str], Alias] = field(default_factory=dict[tuple[Scope, str, str], Alias])
    facts: WaitingFacts = field(default_factory=WaitingFacts)
    profiles: dict[ProfileKey, Profile] = field(default_factory=dict[ProfileKey, Profile])
    profile_vectors: dict[ProfileKey, tuple[str, Vector]] = field(default_factory=dict[ProfileKey, tuple[str, Vector]])
    sharing: dict[str, datetime] = field(default_factory=dict[str, datetime])
    incognito: dict[tuple[Scope, str, datetime], Incognito] = field(
        default_factory=dict[tuple[Scope, str, datetime], Incognito]
    )
    revision: int = 0
    changed: dict[str, int] = field(default_factory=dict[str, int])  # the revision of each event's latest change
    last_number: int = 0
    numbers: dict[str, int] = field(default_factory=dict[str, int])  # the position of each event in the order of adding
    erased: Tombstones = field(default_factory=lambda: Tombstones(secrets.token_bytes(32)))
    purge_state: PurgeState = field(default_factory=PurgeState)
    forgotten: set[str] = field(default_factory=set[str])  # events that somebody asked to forget
    hidden_lines: dict[Place, set[str]] = field(
        default_factory=dict[Place, set[str]]
    )  # hidden messages, with the events that they are hidden for
    missed: dict[str, MissedEvent] = field(default_factory=dict[str, MissedEvent])
    gone: set[str] = field(default_factory=set[str])  # events that were forgotten and then erased
    copies: dict[str, Copy] = field(default_factory=dict[str, Copy])
    index_marks: dict[str, Checkpoint] = field(default_factory=dict[str, Checkpoint])

    beliefs: dict[str, Belief] = field(default_factory=dict[str, Belief])
    belief_vectors: dict[str, tuple[str, Vector]] = field(default_factory=dict[str, tuple[str, Vector]])
    belief_changes: dict[str, Change] = field(default_factory=dict[str, Change])
    decisions: dict[str, SuggestionDecision] = field(default_factory=dict[str, SuggestionDecision])
    tallies: dict[tuple[date, str], int] = field(default_factory=dict[tuple[date, str], int])
    recalls: dict[str, int] = field(default_factory=dict[str, int])
    evolved: dict[Scope, tuple[frozenset[str], int]] = field(default_factory=dict[Scope, tuple[frozenset[str], int]])

    def put_belief(self, belief: Belief) -> None:
        """Store a version; its vector is removed if its statement changed or it is retired."""
        old = self.beliefs.get(belief.id)
        self.beliefs[belief.id] = belief
        if old is None or old.key != belief.key or belief.status != "active":
            self.belief_vectors.pop(belief.id, None)

    def chain(self, chain_id: str) -> list[Belief]:
        """Return the versions of a chain, oldest first."""
        versions = (one for one in self.beliefs.values() if one.chain_id == chain_id)
        return sorted(versions, key=lambda one: one.version)

    def relink(self, chain_id: str) -> None:
        """Link the versions of a chain again."""
        for belief in relinked(self.chain(chain_id)):
            self.put_belief(belief)

    def active_duplicate(self, event: Event) -> Event | None:
        """Return the current event with the same statement, scope and sender."""
        twin = self.said.get(_said(event))
        return None if twin is None else self.events[twin]

    def active_event_of_id(self, event: Event, event_id: str | None) -> Event | None:
        """Return the current event with an id if it has the same scope and sender."""
        twin = None if event_id is None else self.events.get(event_id)
        if twin is None or twin.retired_at is not None:
            return None
        return twin if (twin.scope, twin.sender_id) == (event.scope, event.sender_id) else None

    def put_vector(self, event_id: str, fingerprint: str, vector: Vector, revision: int) -> None:
        """Store the vector of a known event."""
        self.vectors[event_id] = (fingerprint, vector)
        self.changed[event_id] = revision

    def dimensions(self, fingerprint: str) -> int:
        """Return the vector length of a model from its oldest current event; 0 if there is none."""
        known = (self.vectors[event.id] for event in self.standing() if event.id in self.vectors)
        return next((len(vector) for model, vector in known if model == fingerprint), 0)

    def next_revision(self) -> int:
        """Return a number higher than any before."""
        self.revision += 1
        return self.revision

    def standing(self) -> list[Event]:
        """Return the events that are not retired."""
        return [event for event in self.events.values() if event.retired_at is None]

    def add(self, event: Event) -> None:
        """Add an unknown event; it is retired if all its messages were withdrawn."""
        self.last_number += 1
        self.numbers[event.id] = self.last_number
        left = self._left(event)
        self.sources[event.id] = left
        self.alike.setdefault(_said(event), []).append(event.id)
        if event.message_ids and not left and event.retired_at is None:
            event = replace(event, retired_at=max(self.withdrawn[event.scope, one] for one in event.message_ids))
        self._put(event)

    def drop_incognito(self, is_dropped: Callable[[Incognito], bool]) -> None:
        """Delete incognito periods."""
        self.incognito = {key: one for key, one in self.incognito.items() if not is_dropped(one)}

    def import_rows(self, standing: Event, event: Event) -> None:
        """Let a standing event count one that says the same; it rests on the messages of both then.

        Where either was said without a message, both were: the messages of the other are remembered as sources alone.
        """
        seen = max(event.last_seen_at or event.happened_at, standing.last_seen_at or standing.happened_at)
        both = standing.message_ids and event.message_ids
        joined = tuple(dict.fromkeys((*standing.message_ids, *event.message_ids))) if both else ()
        self.sources[standing.id] |= self.sources.get(event.id, self._left(event))
        self.events[standing.id] = replace(
            standing, count=standing.count + event.count, last_seen_at=seen, message_ids=joined
        )

    def lift(self, event_id: str, event: Event) -> bool:
        """Let a standing event take the words of one that says the same, where that one alone is absolute.

        Tells whether it did: not where another event stands in those words.
        """
        standing, equal = self.events[event_id], self.active_duplicate(event)
        better = with_absolute_text(standing, event)
        if better is standing or (equal is not None and equal.id != event_id):
            return False
        self.reword(better, self.next_revision(), keeps_vector=texts_of(better) == texts_of(standing))
        return True

    def drop(self, event_id: str) -> None:
        """Delete an event and everything that finds it."""
        event = self.events.pop(event_id)
        self._unsay(event)
        self.alike[_said(event)].remove(event_id)
        for known in (self.sources, self.vectors, self.changed, self.numbers):
            known.pop(event_id, None)
        self.facts.drop_event(event_id)
        self.recalls.pop(event_id, None)
        self.drop_evidence(event_id)
        self.show_lines(event_id)
        self.forgotten.discard(event_id)

    def reword(self, event: Event, revision: int, *, keeps_vector: bool) -> None:
        """Replace the text of a known event."""
        old = self.events[event.id]
        self._unsay(old)
        self.alike[_said(old)].remove(event.id)
        self.alike.setdefault(_said(event), []).append(event.id)
        self._put(event)
        self.changed[event.id] = revision
        if not keeps_vector:
            self.vectors.pop(event.id, None)

    def drop_evidence(self, event_id: str) -> None:
        """Take an event from the decisions that rest on it; one that is left without any goes."""
        for old in [one for one in self.decisions.values() if event_id in one.event_ids]:
            left = tuple(one for one in old.event_ids if one != event_id)
            self.decisions[old.id] = replace(old, event_ids=left)
            if not left:
                del self.decisions[old.id]

    def put_profile(self, profile: Profile) -> None:
        """Store a profile; its vector is removed if its text changed."""
        old = self.profiles.get(profile.key)
        self.profiles[profile.key] = profile
        if old is not None and words_of(old) != words_of(profile):
            self.profile_vectors.pop(profile.key, None)

    def keys_with_facts_of(self, scope: Scope) -> frozenset[ProfileKey]:
        """Return the profiles with facts that were learned in a place."""
        known = (noted.fact for noted in self.facts.facts.values())
        return frozenset(fact.key for fact in known if self.events[fact.event_id].scope == scope)

    def drop_profiles(self, keys: Iterable[ProfileKey]) -> None:
        """Remove profiles."""
        for key in keys:
            self.profiles.pop(key, None)
            self.profile_vectors.pop(key, None)

    def is_counted(self, event: Event, named: Event | None = None) -> bool:
        """Return whether one that says the same, standing or retired, rests on all messages of an event already.

        The one that is ``named`` says the same, however it is put.
        """
        alike = [*self.alike.get(_said(event), ()), *([] if named is None else [named.id])]
        known = ({*self.events[one].message_ids, *self.sources[one]} for one in alike)
        return bool(event.message_ids) and any(messages.issuperset(event.message_ids) for messages in known)

    def rests_on_nothing(self, event: Event) -> bool:
        """Return whether a known event had messages and all of them were withdrawn."""
        return bool(event.message_ids) and not self.sources[event.id]

    def is_withdrawn(self, event: Event) -> bool:
        """Return whether all messages of an event are withdrawn."""
        places = [(event.scope, message_id) for message_id in event.message_ids]
        return bool(places) and all(place in self.withdrawn for place in places)

    def retire(self, event_id: str, at: datetime) -> bool:
        """Retire an event; return whether it was current."""
        event = self.events.get(event_id)
        if event is None or event.retired_at is not None:
            return False
        self._put(replace(event, retired_at=at))
        self.changed[event_id] = self.next_revision()
        return True

    def restore(self, event: Event) -> Event:
        """Restore a retired event."""
        restored = replace(event, retired_at=None)
        self._put(restored)
        self.changed[event.id] = self.next_revision()
        self.show_lines(event.id)
        self.forgotten.discard(event.id)
        return restored

    def hide_lines(self, event: Event) -> None:
        """Forget a retired event, and hide the messages that it was made from and those that repeat it."""
        self.forgotten.add(event.id)
        for place, message in self.messages.items():
            if self._is_source(place, event) or retells(message, event):
                self.hidden_lines.setdefault(place, set()).add(event.id)

    def show_lines(self, event_id: str) -> None:
        """Show the messages again that were hidden for an event."""
        left = {place: because - {event_id} for place, because in self.hidden_lines.items()}
        self.hidden_lines = {place: because for place, because in left.items() if because}

    def told_by(self, message: Message) -> set[str]:
        """Return the forgotten events that a message was a source of, or repeats while no equal event is current."""
        place = (message.scene.scope, message.id)
        known = [self.events[one] for one in self.forgotten]
        again = (event for event in known if self.active_duplicate(event) is None and retells(message, event))
        return {event.id for event in (*again, *(one for one in known if self._is_source(place, one)))}

    def _is_source(self, place: Place, event: Event) -> bool:
        return place[0] == event.scope and place[1] in {*event.message_ids, *self.sources[event.id]}

    def _left(self, event: Event) -> set[str]:
        return {message_id for message_id in event.message_ids if (event.scope, message_id) not in self.withdrawn}

    def _put(self, event: Event) -> None:
        self.events[event.id] = event
        if event.retired_at is None:
            self.said[_said(event)] = event.id
        else:
            self._unsay(event)

    def _unsay(self, event: Event) -> None:
        if self.said.get(_said(event)) == event.id:
            del self.said[_said(event)]


def words_of(profile: Profile) -> tuple[str, tuple[str, ...], str]:
    """Return the texts that a profile's vector is made from."""
    return profile.name, profile.tags, profile.summary


def _said(event: Event) -> Said:
    return event.scope, event.sender_id, duplicate_key(event.text)
