"""Secrets told in many places, each with a unique token, so that a token found shows where it came from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Literal

from cognitive_memory_core.domain.erasure import keys_of
from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.scope import Scene

What = Literal["words", "memo", "pin", "profile", "past profile"]
TOKEN = re.compile(r"zq[a-z]{8}")
MUTED = ("off", "record_only")


@dataclass(frozen=True)
class Planted:
    """One text that was stored; ``place_id`` is a group, or the person of a private chat.

    ``person`` owns the turn, pin or profile ("" for the group's own), ``said_by`` is who spoke or wrote it ("" for the
    bot), and ``subjects`` are those it is about. "words" have the ``kind`` of their event, or "message".
    """

    token: str
    what: What
    agent: str
    is_in_group: bool
    place_id: str
    person: str = ""
    said_by: str = ""
    subjects: tuple[str, ...] = ()
    id: str = ""
    kind: str = ""

    @property
    def is_message(self) -> bool:
        """Return whether it is a line of the log."""
        return self.kind == "message"

    @property
    def people(self) -> frozenset[str]:
        """Return the people whose opt-out hides it: its author, its subjects, and the addressee of a log line."""
        if self.what == "words":
            to_whom = (self.person,) if self.is_message else ()
            return frozenset((self.said_by, *self.subjects, *to_whom)) - {""}
        return frozenset((self.person,)) - {""} if self.what != "pin" else frozenset()

    @property
    def key(self) -> ProfileKey:
        """Return the profile that it is, or that its speaker's words there go into."""
        if not self.is_in_group:
            return ProfileKey.user(self.place_id, self.agent)
        if self.person:
            return ProfileKey.member(self.place_id, self.person, self.agent)
        return ProfileKey.group(self.place_id, self.agent)

    @property
    def keys(self) -> frozenset[ProfileKey]:
        """Return the profiles that it may have gone into: its person's there and everywhere, and the group's."""
        everywhere = ProfileKey.user(self.person, self.agent) if self.person else self.key
        return frozenset((self.key, everywhere, replace(self, person="").key))

    def stands_in(self, scene: Scene) -> bool:
        """Return whether a scene is where it was told."""
        place_id = scene.group_id or scene.user_id
        return (self.agent, self.is_in_group, self.place_id) == (scene.agent, bool(scene.group_id), place_id)


@dataclass
class Standing:
    """Everything that was planted, and what people requested since.

    ``known`` are (agent, group, person) whose names were seen there. ``gone`` are tokens that nobody may read now, not
    even in past profiles; those of them in ``taken_back`` are withdrawn, not erased. For ``doubtful`` tokens it is left
    open whether they are still there.
    """

    planted: dict[str, Planted] = field(default_factory=dict[str, Planted])
    is_shared_by_all: bool = False
    opted_out: set[str] = field(default_factory=set[str])
    shared: set[str] = field(default_factory=set[str])
    known: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])
    switches: dict[tuple[str, str, str], str] = field(default_factory=dict[tuple[str, str, str], str])
    gone: set[str] = field(default_factory=set[str])
    taken_back: set[str] = field(default_factory=set[str])
    doubtful: set[str] = field(default_factory=set[str])

    def take_back(self, tokens: Iterable[str]) -> None:
        """Record tokens that were withdrawn or forgotten; a profile may then lose other text that tells the same."""
        taken = set(tokens)
        self.taken_back |= taken - self.gone
        self.gone |= taken
        keys = {key for token in taken for key in self.planted[token].keys}
        self.doubtful |= {one.token for one in self.planted.values() if "profile" in one.what and one.key in keys}

    def take_back_event(self, event: Event, words: Iterable[str]) -> set[str]:
        """Record a forgotten event with its source lines; return all their tokens.

        Lines of the bot, and of the sender where the event names none, may tell the same, since the texts here are
        similar.
        """
        lines = [one for one in self.planted.values() if one.is_message and one.agent == event.agent]
        here = [one for one in lines if (one.is_in_group, one.place_id) == (bool(event.group_id), event.scope.place_id)]
        taken = {*words, *(one.token for one in here if one.id in event.message_ids)}
        self.take_back(taken)
        self.doubtful |= {one.token for one in here if one.said_by in ("", event.sender_id)}
        self.doubtful |= {one.token for one in lines if not one.said_by and one.person == event.sender_id}
        told = set(keys_of(event))
        self.doubtful |= {one.token for one in self.planted.values() if "profile" in one.what and one.key in told}
        return taken

    def erase(self, tokens: Iterable[str]) -> None:
        """Record tokens that do not exist any more, or never did."""
        erased = set(tokens)
        self.gone |= erased
        self.taken_back -= erased

    def is_mute(self, scene: Scene) -> bool:
        """Return whether recall is switched off in a place."""
        return self.switches.get((scene.agent, scene.group_id, "" if scene.group_id else scene.user_id)) in MUTED

    def is_known(self, person: str, scene: Scene) -> bool:
        """Return whether a person's name was seen in a group."""
        return (scene.agent, scene.group_id, person) in self.known

    def is_open(self, profile: Planted, scene: Scene) -> bool:
        """Return whether a group may read a person's profile: it is shared, and the person is known there."""
        is_there = profile.person == scene.user_id or self.is_known(profile.person, scene)
        return is_there and (self.is_shared_by_all or profile.person in self.shared)


def strings(value: object) -> Iterator[str]:
    """Yield every text in a value, at any depth: fields, keys and values, items."""
    if isinstance(value, str):
        yield value
    elif is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            yield from strings(getattr(value, one.name))
    elif isinstance(value, Mapping):
        for pair in value.items():
            yield from strings(pair)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from strings(item)


def tokens_in(value: object) -> set[str]:
    """Return the tokens that occur anywhere in a value."""
    return {token for text in strings(value) for token in TOKEN.findall(text)}
