"""The people of a place by name: whom a query names, and present names in place of former ones in what is shown."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import TypeVar

from ..domain.belief import Belief
from ..domain.event import Event
from ..domain.message import Message
from ..domain.people import Person
from ..domain.profile import Profile
from ..domain.scope import Scene, Scope
from ..errors import UnavailableError
from ..store.database.table import Snapshot, at_once
from ..store.names import NameBook
from ..text.caches import cleared_on_erasure, register_cache
from ..text.callnames import callname, callnames, characters, parts, titled
from ..text.ids import BARE_ID
from ..text.names import clean_name
from ..text.spoken_events import labelled, with_current_names

READ = 400  # characters of a query that are searched for names
MOST_PEOPLE = 1_000  # per place, those seen last
_BEGINNING = 2  # characters; the minimum length of a name
LIFETIME = 10.0  # seconds for which the names of a place are cached
HELD = 256  # places
_ID = re.compile(r"(?<![0-9A-Za-z_-])(?:(@|\()\s?)?([0-9A-Za-z_-]{1,128})(?![0-9A-Za-z_-])")


@dataclass(frozen=True)
class Names:
    """An index of the names of people in one place; ``people`` maps ids to people.

    ``are_known`` is False if the name book could not be read.
    """

    ids_by_name: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    people: Mapping[str, Person] = field(default_factory=dict[str, Person])
    lengths: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])  # by how a name begins
    titled: Mapping[str, str] = field(default_factory=dict[str, str])  # ids by the character that a title is put to
    are_known: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, people: Iterable[Person]) -> Names:
        """Index people by all their names; a short form or part of a name counts only if one person alone has it."""
        full: dict[str, set[str]] = {}
        short: dict[str, set[str]] = {}
        known = {person.id: person for person in islice(people, MOST_PEOPLE)}
        for person in known.values():
            for name in (person.name, *person.aliases):
                for at, called in enumerate(callnames(name)):
                    (short if at else full).setdefault(called, set()).add(person.id)
                for part in parts(name):
                    short.setdefault(part, set()).add(person.id)
        distinct = {name: who for name, who in short.items() if len(who) == 1} | full
        lengths: dict[str, list[int]] = {}
        for name in sorted(distinct, key=len, reverse=True):
            lengths.setdefault(name[:_BEGINNING], []).append(len(name))
        ids_by_name = {name: frozenset(who) for name, who in distinct.items()}
        return cls(ids_by_name, known, lengths, _by_character(known.values()), are_known=True)

    def named(self, said: str) -> frozenset[str]:
        """Return the ids of the people that a text names; ids win over names, and longer names over shorter ones."""
        text = callname(said[:READ])
        written = [match for match in _ID.finditer(text) if self._is_id(match[1] or "", match[2])]
        for match in reversed(written):
            text = f"{text[: match.start()]} {text[match.end() :]}"
        return frozenset((*(match[2] for match in written), *self._called(text), *self._titled(text)))

    def _is_id(self, mark: str, token: str) -> bool:
        """Return whether a token is the id of a known person or, after "@" or "(", any long number."""
        is_long = len(token) >= BARE_ID
        return (token in self.people and (is_long or bool(mark))) or (bool(mark) and is_long and token.isdecimal())

    def _called(self, text: str) -> Iterable[str]:
        stop = 0
        for at in range(len(text) - 1):
            for size in self.lengths.get(text[at : at + _BEGINNING], ()) if at >= stop else ():
                name = text[at : at + size]
                if name in self.ids_by_name and not (_runs_on(text, at) or _runs_on(text, at + size)):
                    yield from self.ids_by_name[name]
                    stop = at + size
                    break

    def _titled(self, text: str) -> Iterator[str]:
        """Yield the id of each person named by a title with one character of the name, unless it is in a full name."""
        for at, character in titled(text):
            is_named = any(text[at : at + size] in self.ids_by_name for size in self.lengths.get(text[at : at + 2], ()))
            if character in self.titled and not is_named:
                yield self.titled[character]


def _by_character(people: Iterable[Person]) -> Mapping[str, str]:
    """Map each rare character that occurs in the names of one person only to that person's id."""
    ids_by_name: dict[str, set[str]] = {}
    for person in people:
        for character in frozenset[str]().union(*map(characters, (person.name, *person.aliases))):
            ids_by_name.setdefault(character, set()).add(person.id)
    return {character: next(iter(who)) for character, who in ids_by_name.items() if len(who) == 1}


NOBODY = Names()


@cleared_on_erasure
@lru_cache(maxsize=1024)  # the same people ask repeatedly
def names_of(person: Person) -> Names:
    """Return the name index of a single person."""
    return Names.of((person,))


class KnownNames:
    """A cache of the names known in each place.

    A place is read again after ten seconds, and once a name was recorded there (:meth:`drop`).
    """

    def __init__(self, book: NameBook) -> None:
        """Look names up in a name book."""
        self._book = book
        self._read: dict[Scope, tuple[float, Names]] = {}
        self._drops = 0
        register_cache(self)

    def clear_caches(self) -> None:
        """Drop all cached names."""
        self.drop()

    def drop(self, scopes: Iterable[Scope] | None = None) -> None:
        """Drop cached names of these places (None: of all), because names were recorded there."""
        self._drops += 1
        for scope in list(self._read) if scopes is None else scopes:
            self._read.pop(scope, None)

    def at(self, connection: Snapshot, scene: Scene) -> Names:
        """Return the names known in a scene's place."""
        if not scene.has_place:
            return NOBODY
        scope, now, drops = scene.scope, time.monotonic(), self._drops
        began, names = self._read.get(scope, (-LIFETIME, NOBODY))
        if now - began < LIFETIME:
            return names
        names = Names.of(at_once(self._book.people, connection, scope))
        if drops == self._drops:  # nobody recorded a name meanwhile
            self._read.pop(scope, None)
            self._read[scope] = now, names
        while len(self._read) > HELD:
            self._read.pop(next(iter(self._read)))
        return names


def _runs_on(text: str, at: int) -> bool:
    """Return whether a position is inside an ASCII word."""
    pair = text[max(at - 1, 0) : at + 1]
    return len(pair) > 1 and pair.isascii() and pair.isalnum()


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
    return {*labelled(text for event in here for text in event.wording[1:]), *speakers} - {""}


def _beliefs_with(people: Mapping[str, Person], beliefs: Iterable[Belief]) -> list[Belief]:
    worded = ((one, with_current_names(one.statement, people) if people else one.statement) for one in beliefs)
    return [one if said == one.statement else replace(one, statement=said) for one, said in worded]


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
    sender, quotes = people.get(event.sender_id), event.quotes
    name = sender.name if sender else event.sender_name
    wording = (name, *(one and with_current_names(one, people) for one in event.wording[1:]))
    named = [clean_name(people[one.sender_id].name) if one.sender_id in people else one.sender_name for one in quotes]
    if named != [one.sender_name for one in quotes]:
        quotes = tuple(replace(one, sender_name=now) for one, now in zip(quotes, named, strict=True))
    elif wording == event.wording:
        return event
    _, text, pain, solution, outcome = wording
    return replace(event, text=text, pain=pain, solution=solution, outcome=outcome, sender_name=name, quotes=quotes)
