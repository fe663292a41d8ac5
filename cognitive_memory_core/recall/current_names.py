"""Replaces former names of people by their present ones in texts that are shown; stored texts are unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from ..domain.belief import Belief
from ..domain.event import Event
from ..domain.hit import Hit
from ..domain.message import Message
from ..domain.people import Person
from ..domain.profile import Profile
from ..domain.scope import Scope
from ..errors import UnavailableError
from ..store.names import NameBook
from ..text.identity.name_cleaning import clean_name
from ..text.name_rendering import labelled, with_current_names

KnownPlaces = Mapping[Scope, Mapping[str, Person]]
NO_PLACES: KnownPlaces = MappingProxyType({})


@dataclass(frozen=True)
class CurrentNames:
    """Puts people's present names into events, hits, beliefs and profiles, and adds names to log lines that lack one.

    While the name book is unavailable, texts keep the names with which they were written. ``known`` maps places to
    people that the caller has read already; for these places the book is not read.
    """

    book: NameBook

    async def of_hits(self, hits: Sequence[Hit], known: KnownPlaces = NO_PLACES) -> list[Hit]:
        """Return hits with present names in their events."""
        events = await self.of_events([hit.event for hit in hits], known)
        return [replace(hit, event=event) for hit, event in zip(hits, events, strict=True)]

    async def of_events(self, events: Sequence[Event], known: KnownPlaces = NO_PLACES) -> list[Event]:
        """Return events with the present names of people in their texts and as their senders.

        A line of the log only gets a name if its sender has none: OneBot v12 tells a name after the first line.
        """
        stated = [event for event in events if event.kind != "message" or _is_nameless(event)]
        scopes = {event.scope for event in stated}
        people = {scope: known[scope] if scope in known else await self._people(scope, stated) for scope in scopes}
        return [_rendered(event, people.get(event.scope, {})) for event in events]

    async def of_messages(self, scope: Scope, messages: Sequence[Message]) -> list[Message]:
        """Return the messages of a place; those whose sender has no name get the present one."""
        nameless = {one.sender_id for one in messages if one.sender_id and not one.scene.user_name}
        people = await self._named(scope, nameless)
        return [_named_line(one, people.get(one.sender_id)) for one in messages]

    async def of_beliefs(self, scope: Scope, beliefs: Sequence[Belief], known: KnownPlaces = NO_PLACES) -> list[Belief]:
        """Return the beliefs of a place with present names in their statements."""
        people = known.get(scope)
        if people is None:
            people = await self._named(scope, labelled(belief.statement for belief in beliefs))
        return [replace(one, statement=with_current_names(one.statement, people)) if people else one for one in beliefs]

    async def of_profile(self, profile: Profile) -> Profile:
        """Return a profile with present names in summary and tags; its ``name`` is kept current elsewhere."""
        key = profile.key
        scope = Scope(key.agent, "group", key.group_id) if key.group_id else Scope(key.agent, "private", key.user_id)
        people = await self._named(scope, labelled((profile.summary, *profile.tags)))
        return profile.reworded(lambda text: with_current_names(text, people))

    async def _people(self, scope: Scope, events: Iterable[Event]) -> Mapping[str, Person]:
        here = [event for event in events if event.scope == scope]
        texts = (text for event in here for text in _texts(event))
        speakers = {one for event in here for one in (event.sender_id, *(said.sender_id for said in event.quotes))}
        return await self._named(scope, labelled(texts) | speakers - {""})

    async def _named(self, scope: Scope, user_ids: Iterable[str]) -> Mapping[str, Person]:
        wanted = sorted(user_ids)
        if not wanted:
            return {}
        try:
            return {person.id: person for person in await self.book.people(scope, wanted)}
        except UnavailableError:
            return {}


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
