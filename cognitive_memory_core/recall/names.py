"""The people of a place by name: whom a question names, and their present names in what is shown."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
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
from ..store.database.database import Snapshot, at_once
from ..store.names import NameBook
from ..text.callnames import callname, callnames, parts
from ..text.characters import register_cache
from ..text.ids import BARE_ID
from ..text.names import clean_name
from ..text.query import LINES, Query, windows_in
from ..text.questions import speaks_of_asker
from ..text.speakers import ids_in_brackets, with_current_names

READ = 400  # characters of a query that are searched for names
MOST_PEOPLE = 1_000  # per place, those seen last
_BEGINNING = 2  # characters; the minimum length of a name
LIFETIME = 10.0  # seconds for which the names of a place are cached
HELD = 256  # places
_ID = re.compile(r"(?<![0-9A-Za-z_-])(?:(@|\()\s?)?([0-9A-Za-z_-]{1,128})(?![0-9A-Za-z_-])")
KnownPlaces = Mapping[Scope, Mapping[str, Person]]
NO_PLACES: KnownPlaces = MappingProxyType({})
Showable = Event | Message | Belief | Profile
Named = TypeVar("Named", Event, Message, Belief, Profile)


@dataclass(frozen=True)
class Names:
    """An index of the names of people in one place; ``people`` maps ids to people.

    ``are_known`` is False if the name book could not be read.
    """

    ids_by_name: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    people: Mapping[str, Person] = field(default_factory=dict[str, Person])
    lengths: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])  # by how a name begins
    are_known: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, people: Iterable[Person]) -> Names:
        """Index people by all their names; a part of a name counts only if one person alone has it.

        Such parts are short forms and given names.
        """
        full, short = dict[str, set[str]](), dict[str, set[str]]()
        known = {person.id: person for person in islice(people, MOST_PEOPLE)}
        for person in known.values():
            for name in (person.name, *person.aliases):
                whole, *shorter = callnames(name) or ("",)
                for index, forms in ((full, (whole,)), (short, (*shorter, *parts(name)))):
                    for form in filter(None, forms):
                        index.setdefault(form, set()).add(person.id)
        distinct = {name: who for name, who in short.items() if len(who) == 1} | full
        lengths: dict[str, list[int]] = {}
        for name in sorted(distinct, key=len, reverse=True):
            lengths.setdefault(name[:_BEGINNING], []).append(len(name))
        ids_by_name = {name: frozenset(who) for name, who in distinct.items()}
        return cls(ids_by_name, known, lengths, are_known=True)

    def as_known(self, scene: Scene) -> KnownPlaces:
        """Return the people as those of a scene's place, if none of them is missing."""
        is_whole = self.are_known and len(self.people) < MOST_PEOPLE
        return {scene.scope: self.people} if is_whole and scene.has_place else NO_PLACES

    def named(self, said: str) -> frozenset[str]:
        """Return the ids of the people that a text names; ids win over names, and longer names over shorter ones."""
        text, found, stop = callname(said[:READ]), set[str](), 0
        for match in reversed([*_ID.finditer(text)]):  # of a known person or, after "@" or "(", any long number
            mark, token = match[1], match[2]
            is_long = len(token) >= BARE_ID
            if (token in self.people and (is_long or mark)) or (mark and is_long and token.isdecimal()):
                found.add(token)
                text = f"{text[: match.start()]} {text[match.end() :]}"
        for at in range(len(text) - 1):
            for size in self.lengths.get(text[at : at + _BEGINNING], ()) if at >= stop else ():
                who = self.ids_by_name.get(text[at : at + size])
                if who and not (_runs_on(text, at) or _runs_on(text, at + size)):
                    found |= who
                    stop = at + size
                    break
        return frozenset(found)


NOBODY = Names()


def with_names(query: Query, scene: Scene, reference: datetime, names: Names) -> Query:
    """Return a query with the people and the times that it names, given the ``names`` known in the place."""
    windows, lines = query.windows, query.said.split("\n")[-LINES:]
    if windows:
        called = {name for one in names.people.values() for name in (one.name, *one.aliases) if name in query.said}
        windows = windows_in(query.said, reference, called) if called else windows
    people = frozenset[str]().union(*map(names.named, lines))
    if scene.kind != "operator" and any(map(speaks_of_asker, lines)):
        people |= {scene.user_id}
    return replace(query, windows=windows, people=people)


def _runs_on(text: str, at: int) -> bool:
    """Return whether a position is inside an ASCII word."""
    pair = text[max(at - 1, 0) : at + 1]
    return len(pair) > 1 and pair.isascii() and pair.isalnum()


class CurrentNames:
    """The names known in each place, for reading questions and for showing stored texts with present names.

    A place is read again after ten seconds, and once a name was recorded there (:meth:`drop`). While the name book is
    unavailable, texts keep the names with which they were written.
    """

    def __init__(self, book: NameBook) -> None:
        """Read names from a book."""
        self.book = book
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
        names = Names.of(at_once(self.book.people, connection, scope))
        if drops == self._drops:  # nobody recorded a name meanwhile
            self._read.pop(scope, None)
            self._read[scope] = now, names
        while len(self._read) > HELD:
            self._read.pop(next(iter(self._read)))
        return names

    async def of(self, items: Sequence[Named]) -> list[Named]:
        """Return items with the present names of people in their texts and as their senders.

        A line of the log only gets a name if its sender has none: OneBot v12 tells a name after the first line. The
        ``name`` of a profile is kept current elsewhere.
        """
        try:
            return await self.book.database.read(self.present, items) if items else []
        except UnavailableError:
            return [*items]

    def present(self, connection: Snapshot, items: Sequence[Named]) -> list[Named]:
        """Do what :meth:`of` does, on a connection."""
        people = self.people(connection, items)
        return [with_present_names(item, here) if (here := people.get(_place_of(item))) else item for item in items]

    def people(self, connection: Snapshot, items: Sequence[Showable], known: KnownPlaces = NO_PLACES) -> KnownPlaces:
        """Return by place and id the people whose names items may need; ``known`` are places that were read already."""
        wanted, people = dict[Scope, set[str]](), {**known}
        for item in items:
            if (scope := _place_of(item)) not in known and (ids := _mentioned(item)):
                wanted.setdefault(scope, set()).update(ids)
        with suppress(UnavailableError), self.book.database.failed_reads:
            for scope, ids in wanted.items():
                people[scope] = {one.id: one for one in at_once(self.book.people, connection, scope, sorted(ids))}
        return people


def _place_of(item: Showable) -> Scope:
    """Return the place whose names an item needs."""
    if isinstance(item, Message):
        return item.scene.scope
    if isinstance(item, Profile):
        return item.key.scope
    return item.scope


def _mentioned(item: Showable) -> Iterable[str]:
    """Return the ids of the people whose present names an item may need."""
    match item:
        case Message():
            return {item.sender_id} - {""} if not item.scene.user_name else ()
        case Event(kind="message"):
            return {item.sender_id} - {""} if not item.sender_name else ()
        case Event():
            speakers = {item.sender_id, *(quote.sender_id for quote in item.quotes)}
            return {*ids_in_brackets(item.wording[1:]), *speakers} - {""}
        case Belief():
            return {*ids_in_brackets((item.statement,)), *item.supporters[:1]}
        case Profile():
            return ids_in_brackets((item.summary, *item.tags))


def with_present_names(item: Named, people: Mapping[str, Person]) -> Named:
    """Return an item of a place with the present names of its people."""
    if isinstance(item, Profile):
        return item.reworded(lambda text: with_current_names(text, people))
    if isinstance(item, Belief):
        statement = with_current_names(item.statement, people)
        return item if statement == item.statement else replace(item, statement=statement)
    sender = people.get(item.sender_id)
    if isinstance(item, Message):
        is_nameless = sender is not None and not item.scene.user_name
        return replace(item, scene=replace(item.scene, user_name=sender.name)) if sender and is_nameless else item
    if item.kind == "message":
        return replace(item, sender_name=sender.name) if sender and not item.sender_name else item
    name, quotes = sender.name if sender else item.sender_name, item.quotes
    texts = [one and with_current_names(one, people) for one in item.wording[1:]]
    named = [clean_name(people[one.sender_id].name) if one.sender_id in people else one.sender_name for one in quotes]
    if named != [one.sender_name for one in quotes]:
        quotes = tuple(replace(one, sender_name=now) for one, now in zip(quotes, named, strict=True))
    elif (name, *texts) == item.wording:
        return item
    text, pain, solution, outcome = texts
    return replace(item, text=text, pain=pain, solution=solution, outcome=outcome, sender_name=name, quotes=quotes)
