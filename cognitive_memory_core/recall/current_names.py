"""Replaces former names of people by their present ones in texts that are shown; stored texts are unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from ..domain.belief import Belief
from ..domain.event import Event
from ..domain.message import Message
from ..domain.people import Person
from ..domain.profile import Profile
from ..domain.scope import Scope
from ..errors import UnavailableError
from ..store.database.table import Snapshot, at_once
from ..store.names import NameBook
from ..text.name_rendering import labelled, with_current_names
from ..text.names import clean_name

KnownPlaces = Mapping[Scope, Mapping[str, Person]]
NO_PLACES: KnownPlaces = MappingProxyType({})
T = TypeVar("T")


class CurrentNames:
    """Puts people's present names into events, hits, beliefs and profiles, and adds names to log lines that lack one.

    While the name book is unavailable, texts keep the names with which they were written.
    """

    def __init__(self, book: NameBook) -> None:
        """Read names from a book."""
        self.book = book

    async def of_events(self, events: Sequence[Event]) -> list[Event]:
        """Return events with the present names of people in their texts and as their senders.

        A line of the log only gets a name if its sender has none: OneBot v12 tells a name after the first line.
        """
        return await self._read(self.events, [*events]) if events else []

    def events(self, connection: Snapshot, events: list[Event], known: KnownPlaces = NO_PLACES) -> list[Event]:
        """Do what :meth:`of_events` does, on a connection; ``known`` are places whose people were read already."""
        stated = [event for event in events if event.kind != "message" or _is_nameless(event)]
        people = {
            scope: known[scope] if scope in known else self._people(connection, scope, _named_in(scope, stated))
            for scope in {event.scope for event in stated}
        }
        return [_rendered(event, people.get(event.scope, {})) for event in events]

    async def of_messages(self, scope: Scope, messages: Sequence[Message]) -> list[Message]:
        """Return the messages of a place; those whose sender has no name get the present one."""
        nameless = {one.sender_id for one in messages if one.sender_id and not one.scene.user_name}
        people = await self._named(scope, nameless)
        return [_named_line(one, people.get(one.sender_id)) for one in messages]

    async def of_beliefs(self, scope: Scope, beliefs: Sequence[Belief]) -> list[Belief]:
        """Return the beliefs of a place with present names in their statements."""
        people = await self._named(scope, labelled(belief.statement for belief in beliefs))
        return _beliefs_with(people, beliefs)

    def beliefs(
        self, connection: Snapshot, scope: Scope, beliefs: Sequence[Belief], known: KnownPlaces = NO_PLACES
    ) -> list[Belief]:
        """Do what :meth:`of_beliefs` does, on a connection; ``known`` are places whose people were read already."""
        named = labelled(belief.statement for belief in beliefs)
        return _beliefs_with(known[scope] if scope in known else self._people(connection, scope, named), beliefs)

    async def of_profile(self, profile: Profile) -> Profile:
        """Return a profile with present names in summary and tags; its ``name`` is kept current elsewhere."""
        return await self._read(self.profile, profile)

    def profile(self, connection: Snapshot, profile: Profile) -> Profile:
        """Do what :meth:`of_profile` does, on a connection."""
        key = profile.key
        scope = Scope(key.agent, "group", key.group_id) if key.group_id else Scope(key.agent, "private", key.user_id)
        people = self._people(connection, scope, labelled((profile.summary, *profile.tags)))
        return profile.reworded(lambda text: with_current_names(text, people)) if people else profile

    async def _read(self, work: Callable[[Snapshot, T], T], stated: T) -> T:
        try:
            return await self.book.database.read(work, stated)
        except UnavailableError:
            return stated

    async def _named(self, scope: Scope, user_ids: Iterable[str]) -> Mapping[str, Person]:
        try:
            wanted = sorted(user_ids)
            return {one.id: one for one in await self.book.people(scope, wanted)} if wanted else {}
        except UnavailableError:
            return {}

    def _people(self, connection: Snapshot, scope: Scope, user_ids: Iterable[str]) -> Mapping[str, Person]:
        wanted = sorted(user_ids)
        try:
            with self.book.database.failed_reads:
                found = at_once(self.book.people, connection, scope, wanted) if wanted else []
        except UnavailableError:
            return {}
        return {one.id: one for one in found}


def _named_in(scope: Scope, events: Iterable[Event]) -> set[str]:
    here = [event for event in events if event.scope == scope]
    speakers = {one for event in here for one in (event.sender_id, *(said.sender_id for said in event.quotes))}
    return {*labelled(text for event in here for text in _texts(event)), *speakers} - {""}


def _beliefs_with(people: Mapping[str, Person], beliefs: Iterable[Belief]) -> list[Belief]:
    return [replace(one, statement=with_current_names(one.statement, people)) if people else one for one in beliefs]


def _texts(event: Event) -> tuple[str, ...]:
    return event.text, event.pain, event.solution, event.outcome


def _is_nameless(line: Event) -> bool:
    return bool(line.sender_id and not line.sender_name)


def _named_line(message: Message, sender: Person | None) -> Message:
    if sender is None or message.scene.user_name:
        return message
    return replace(message, scene=replace(message.scene, user_name=sender.name))


def _rendered(event: Event, people: Mapping[str, Person]) -> Event:
    if not people:
        return event
    if event.kind == "message":
        known = people.get(event.sender_id) if _is_nameless(event) else None
        return replace(event, sender_name=known.name) if known else event
    text, pain, solution, outcome = (with_current_names(one, people) for one in _texts(event))
    sender = people.get(event.sender_id)
    name = sender.name if sender else event.sender_name
    quotes = tuple(
        replace(one, sender_name=clean_name(people[one.sender_id].name)) if one.sender_id in people else one
        for one in event.quotes
    )
    return replace(event, text=text, pain=pain, solution=solution, outcome=outcome, sender_name=name, quotes=quotes)
