"""What an erasure takes away, and the tombstones that keep it from coming back."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from .belief import Belief, Change, SuggestionDecision
from .consent import OptOut, PlaceSwitch, Shared
from .event import Event, without_quotes
from .instants import EARLIEST
from .message import Message
from .notes import Memo, Pin
from .people import Alias
from .profile import Profile, ProfileKey
from .scope import Scope

RESTORABLE = timedelta(days=30)  # how long a forgotten event can be restored
_WRONG = timedelta(days=1)  # a tombstone further ahead of now than this was dated by a wrong clock


@dataclass(frozen=True)
class Erasure:
    """Counts of what was erased. ``reworded`` counts other people's texts from which the person was removed.

    ``purged`` is true once the bytes are gone from the disk; until then the next purge removes them, and the status
    reports when. ``copies`` lists earlier exports and backups, which people must delete themselves.
    """

    events: int = 0
    messages: int = 0
    memos: int = 0
    pins: int = 0
    beliefs: int = 0
    names: int = 0
    jobs: int = 0
    profiles: int = 0
    reworded: int = 0
    purged: bool = False
    copies: tuple[str, ...] = ()


def covered_until(at: datetime, previous: datetime | None) -> datetime:
    """Return up to which instant a renewed tombstone rejects data: the later of ``at`` and ``previous``.

    A ``previous`` more than a day after ``at`` was dated by a wrong clock and is ignored.
    """
    return at if previous is None or not at < previous <= at + _WRONG else previous


@dataclass(frozen=True)
class Tombstones:
    """Keyed hashes of people and places that were erased, each with the instant up to which their data is rejected."""

    key: bytes = b""
    marks: Mapping[str, datetime] = field(default_factory=dict[str, datetime])

    def covers_profile(self, profile: Profile) -> bool:
        """Return whether a profile was last updated before its person, its place or somebody in its text was erased.

        Somebody is recognised in the text by their id only.
        """
        numbers = _NUMBER.findall("\n".join((profile.name, *profile.tags, profile.summary))) if self.marks else ()
        return self.covers(profile.key.scope, (profile.key.user_id, *numbers), profile.updated_at)

    def covers(self, scope: Scope | None, people: Iterable[str], at: datetime) -> bool:
        """Return whether a place, the person of a private place, or one of ``people`` was erased at ``at`` or later.

        What was said there, or by and about them, at ``at`` must then stay out.
        """
        if not self.marks:
            return False
        names = [("person", one) for one in people if one]
        if scope is not None:
            names += [("place", scope.key), *([("person", scope.place_id)] if scope.kind == "private" else ())]
        return any(at <= until for name in names if (until := self.marks.get(self.digest(*name))))

    def digest(self, *parts: str) -> str:
        """Return the keyed hash of what the parts name together: ("person", id), ("place", key)."""
        identity = "\x1f".join(parts).encode("utf-8", "surrogatepass")
        return hmac.new(self.key, identity, hashlib.sha256).hexdigest()


_NUMBER = re.compile("[0-9]{5,}")  # a possible user id; shorter numbers are days and counts

StoredItem = Event | Message | Memo | Pin | Alias | OptOut | Shared | PlaceSwitch | Belief | Change | SuggestionDecision


def reworded(event: Event, hide: Callable[[str], str]) -> Event:
    """Return an event with ``hide`` applied to each of its texts; the same object if nothing changes."""
    left = replace(
        event,
        text=hide(event.text),
        pain=hide(event.pain),
        solution=hide(event.solution),
        outcome=hide(event.outcome),
        perspective=None if event.perspective is None else hide(event.perspective),
        quotes=tuple(replace(one, text=hide(one.text), sender_name=hide(one.sender_name)) for one in event.quotes),
    )
    return event if left == event else left


def without_person(event: Event, user_id: str, hide: Callable[[str], str]) -> Event | None:
    """Return an event of somebody else without a person's quotes, and with the person removed from texts and ids.

    Returns the same object if it is unchanged, None if the event has no line of its voice left.
    """
    remaining = without_quotes(event, lambda quote: quote.sender_id == user_id)
    if remaining is None:
        return None
    left = replace(
        reworded(remaining, hide),
        subjects=tuple(subject for subject in event.subjects if subject != user_id),
        user_id="" if event.user_id == user_id else event.user_id,
    )
    return event if left == event else left


def texts_of(said: StoredItem) -> tuple[str, ...]:
    """Return all texts of an item that may mention people."""
    if isinstance(said, Event):
        quotes = (one.text for one in said.quotes)
        return said.text, said.pain, said.solution, said.outcome, said.perspective or "", *quotes
    if isinstance(said, Belief):
        return said.statement, said.change_summary, *said.tags
    if isinstance(said, Change):
        return said.old_statement, said.new_statement, said.change_reason
    return (said.text,) if isinstance(said, Message | Memo | Pin) else ()


Origin = tuple[Scope | None, tuple[str, ...], datetime]
_ORIGINS: Mapping[type, Callable[[Any], Origin]] = {
    Event: lambda one: (one.scope, (one.sender_id, *one.subjects), one.happened_at),
    Message: lambda one: (one.scene.scope, (one.scene.user_id,), one.sent_at),
    Memo: lambda one: (one.scope, (one.user_id,), one.written_at),
    Pin: lambda one: (one.scope, (one.owner_id, one.author_id), one.pinned_at),
    Alias: lambda one: (one.scope, (one.user_id,), one.last_seen_at),
    OptOut: lambda one: (None, (one.user_id,), one.at),
    Shared: lambda one: (None, (one.user_id,), one.at),
    PlaceSwitch: lambda one: (one.scope, (), EARLIEST),  # when it was set is not known
    Belief: lambda one: (one.scope, (), one.updated_at),  # said by several people, who are checked one by one
    Change: lambda one: (one.scope, (), one.changed_at),
    SuggestionDecision: lambda one: (one.scope, (), one.decided_at),
}


def origin_of(said: StoredItem) -> Origin:
    """Return the place of an item (None for all places), by and about whom it is, and when it was said."""
    return _ORIGINS[type(said)](said)


def people_of(said: StoredItem) -> set[str]:
    """Return by and about whom an item is; of a private place, also whose it is."""
    place, people, _ = origin_of(said)
    return {*people, *((place.place_id,) if place and place.kind == "private" else ())} - {""}


def stays_out(tombstones: Tombstones, said: StoredItem) -> bool:
    """Return whether an item must not be stored: its place, its author or a subject was erased after its date."""
    return tombstones.covers(*origin_of(said))


def names_erased(tombstones: Tombstones, said: StoredItem) -> bool:
    """Return whether a text of an item contains the id of a person who was erased after the item's date."""
    numbers = (number for text in texts_of(said) for number in _NUMBER.findall(text))
    return tombstones.covers(None, numbers, origin_of(said)[2])


def keys_of(event: Event) -> Iterator[ProfileKey]:
    """Return the keys of the profiles that an event may have been merged into."""
    for person in _people(event):
        yield ProfileKey.user(person, event.agent)
        if event.group_id:
            yield ProfileKey.member(event.group_id, person, event.agent)
    if event.group_id:
        yield ProfileKey.group(event.group_id, event.agent)


def _people(event: Event) -> Iterable[str]:
    return dict.fromkeys(filter(None, (event.sender_id, event.user_id, *event.subjects)))
