"""Pure rules of erasure: ownership, removal of a person from other people's texts, and tombstone checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from .belief import Belief, Change
from .event import Event, without_quotes
from .message import Message
from .note import Memo, Pin
from .profile import ProfileKey
from .scope import Scope
from .tombstones import Tombstones

_NUMBER = re.compile("[0-9]{5,}")  # a possible user id; shorter numbers are days and counts

StoredItem = Event | Message | Memo | Pin | Belief | Change


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
    return (said.text,)


def stays_out(tombstones: Tombstones, said: StoredItem) -> bool:
    """Return whether an item must not be stored: its place, its author or a subject was erased after its date."""
    return bool(tombstones.marks) and is_covered(tombstones, _place_of(said), _people_of(said), _time_of(said))


def is_covered(tombstones: Tombstones, scope: Scope, people: Iterable[str], at: datetime) -> bool:
    """Return whether the place, the person of a private place, or one of ``people`` was erased at ``at`` or later."""
    if tombstones.covers_place(scope, at):
        return True
    there = (scope.place_id,) if scope.kind == "private" else ()
    return any(tombstones.covers_person(person, at) for person in {*people, *there} if person)


def names_erased(tombstones: Tombstones, said: StoredItem) -> bool:
    """Return whether a text of an item contains the id of a person who was erased after the item's date."""
    if not tombstones.marks:
        return False
    numbers = {number for text in texts_of(said) for number in _NUMBER.findall(text)}
    return any(tombstones.covers_person(number, _time_of(said)) for number in numbers)


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


def _place_of(said: StoredItem) -> Scope:
    return said.scene.scope if isinstance(said, Message) else said.scope


def _people_of(said: StoredItem) -> tuple[str, ...]:
    match said:
        case Event():
            return (said.sender_id, *said.subjects)
        case Message():
            return (said.scene.user_id,)
        case Memo():
            return (said.user_id,)
        case Pin():
            return said.owner_id, said.author_id
        case Belief() | Change():  # said by several people; the supporters are checked one by one
            return ()


def _time_of(said: StoredItem) -> datetime:
    match said:
        case Event():
            return said.happened_at
        case Message():
            return said.sent_at
        case Memo():
            return said.written_at
        case Pin():
            return said.pinned_at
        case Belief():
            return said.updated_at
        case Change():
            return said.changed_at
