"""What the in-memory ledger holds, and the rules by which events come in and go."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from ...domain.event import Event, duplicate_key
from ...domain.message import Message
from ...domain.note import Memo, Pin
from ...domain.scope import Scope
from ...ports.ambient import Clock
from ...ports.ledger import Alias, Switch
from ...ports.models import Vector

Place = tuple[Scope, str]  # a message's id is unique in its scope only
Said = tuple[Scope, str, str]  # scope, sender and duplicate key of a standing event: no two stand alike


@dataclass
class State:
    """Everything, in the order in which it came."""

    clock: Clock
    events: dict[str, Event] = field(default_factory=dict[str, Event])
    said: dict[Said, str] = field(default_factory=dict[Said, str])
    alike: dict[Said, list[str]] = field(default_factory=dict[Said, list[str]])  # retired ones, too
    sources: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    vectors: dict[str, tuple[str, Vector]] = field(default_factory=dict[str, tuple[str, Vector]])
    fingerprint: str = ""
    done: dict[str, datetime] = field(default_factory=dict[str, datetime])
    messages: dict[Place, Message] = field(default_factory=dict[Place, Message])
    withdrawn: dict[Place, datetime] = field(default_factory=dict[Place, datetime])
    memos: dict[str, Memo] = field(default_factory=dict[str, Memo])
    pins: dict[str, Pin] = field(default_factory=dict[str, Pin])
    opted_out: dict[str, datetime] = field(default_factory=dict[str, datetime])
    switches: dict[Scope, Switch] = field(default_factory=dict[Scope, Switch])
    names: dict[tuple[Scope, str, str], Alias] = field(default_factory=dict[tuple[Scope, str, str], Alias])

    def standing_twin(self, event: Event) -> Event | None:
        """Find the standing event that says the same, in the same scope, from the same sender."""
        twin = self.said.get(_said(event))
        return None if twin is None else self.events[twin]

    def standing(self) -> list[Event]:
        """Give the events that are not retired."""
        return [event for event in self.events.values() if event.retired_at is None]

    def add(self, event: Event) -> None:
        """Take in an event that is not known; one all of whose messages are withdrawn comes in retired."""
        left = {message_id for message_id in event.message_ids if (event.scope, message_id) not in self.withdrawn}
        self.sources[event.id] = left
        self.alike.setdefault(_said(event), []).append(event.id)
        if event.message_ids and not left and event.retired_at is None:
            event = replace(event, retired_at=max(self.withdrawn[event.scope, one] for one in event.message_ids))
        self._put(event)

    def absorb(self, standing: Event, event: Event) -> None:
        """Let a standing event count one that says the same; it rests on the messages of both then.

        Where either was said without a message, both were: the messages of the other are remembered as sources alone.
        """
        seen = max(event.last_seen_at or event.happened_at, standing.last_seen_at or standing.happened_at)
        both = standing.message_ids and event.message_ids
        joined = tuple(dict.fromkeys((*standing.message_ids, *event.message_ids))) if both else ()
        self.sources[standing.id] |= {one for one in event.message_ids if (event.scope, one) not in self.withdrawn}
        self.events[standing.id] = replace(
            standing, count=standing.count + event.count, last_seen_at=seen, message_ids=joined
        )

    def is_counted(self, event: Event) -> bool:
        """Tell whether one that says the same, standing or retired, rests on all messages of an event already."""
        alike = self.alike.get(_said(event), ())
        named = ({*self.events[one].message_ids, *self.sources[one]} for one in alike)
        return bool(event.message_ids) and any(known.issuperset(event.message_ids) for known in named)

    def rests_on_nothing(self, event: Event) -> bool:
        """Tell whether all messages of a known event, of which there were some, are withdrawn."""
        return bool(event.message_ids) and not self.sources[event.id]

    def is_withdrawn(self, event: Event) -> bool:
        """Tell whether all messages of an event are withdrawn."""
        places = [(event.scope, message_id) for message_id in event.message_ids]
        return bool(places) and all(place in self.withdrawn for place in places)

    def retire(self, event_id: str, at: datetime) -> bool:
        """Take an event out of every reading; tells whether it stood."""
        event = self.events.get(event_id)
        if event is None or event.retired_at is not None:
            return False
        self._put(replace(event, retired_at=at))
        return True

    def restore(self, event: Event) -> Event:
        """Let a retired event stand again."""
        restored = replace(event, retired_at=None)
        self._put(restored)
        return restored

    def _put(self, event: Event) -> None:
        self.events[event.id] = event
        if event.retired_at is None:
            self.said[_said(event)] = event.id
        elif self.said.get(_said(event)) == event.id:
            del self.said[_said(event)]


def _said(event: Event) -> Said:
    return event.scope, event.sender_id, duplicate_key(event.text)
