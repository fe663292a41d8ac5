"""Profiles of people and groups: keys, current content, revisions."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Literal, get_args

from .. import sentences
from ..errors import BadArgument
from .ids import checked_id
from .scope import DEFAULT_AGENT, Scene, Scope

EntityType = Literal["user", "member", "group"]
_REVISION_ID = re.compile(r"(?:19|2[0-2])[0-9]{6}T[0-9]{6}\.[0-9]{6}Z", re.ASCII)
_SECTIONS = re.compile(r"\n(?=##)")
_LATEST = datetime(2255, 1, 1, tzinfo=timezone.utc)  # later instants are clock errors
_EARLIEST = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True, order=True)
class ProfileKey:
    """The subject of a profile: a user, a member of a group, or a group, of one agent."""

    agent: str
    entity_type: EntityType
    group_id: str = ""
    user_id: str = ""

    @classmethod
    def user(cls, user_id: str, agent: str = DEFAULT_AGENT) -> ProfileKey:
        """Return the key of a person's profile."""
        return cls(agent, "user", user_id=checked_id(user_id, "user_id"))

    @classmethod
    def member(cls, group_id: str, user_id: str, agent: str = DEFAULT_AGENT) -> ProfileKey:
        """Return the key of a person's profile inside one group."""
        return cls(agent, "member", checked_id(group_id, "group_id"), checked_id(user_id, "user_id"))

    @classmethod
    def group(cls, group_id: str, agent: str = DEFAULT_AGENT) -> ProfileKey:
        """Return the key of a group's profile."""
        return cls(agent, "group", checked_id(group_id, "group_id"))

    @classmethod
    def asked(cls, scene: Scene, entity_type: object, entity_id: object) -> ProfileKey:
        """Return the key for a type and id that a caller gave; raise BadArgument for an unknown type or invalid id.

        A "member" has the id ``group/user``. In a group's scene, "user" means the member of that group.
        """
        if entity_type not in get_args(EntityType):
            raise BadArgument(sentences.caller.bad_value("entity_type", entity_type, " user、member 或 group"))
        identifier = checked_id(entity_id, "entity_id")
        if entity_type == "group":
            return cls.group(identifier, scene.agent)
        if entity_type == "member":
            group_id, _, user_id = identifier.partition("/")
            return cls.member(group_id, user_id, scene.agent)
        if scene.kind == "group":
            return cls.member(scene.group_id, identifier, scene.agent)
        return cls.user(identifier, scene.agent)

    @property
    def scope(self) -> Scope:
        """The place where the profile was learned: the group, or the private chat with its person."""
        return Scope(self.agent, *(("group", self.group_id) if self.group_id else ("private", self.user_id)))

    def readable_by(self, scene: Scene, *, shared: bool = False) -> bool:
        """Return whether a scene may read the profile; ``shared``: its person, or the operator, has shared it."""
        if scene.agent != self.agent or scene.kind == "operator":
            return scene.agent == self.agent
        if self.entity_type == "user":
            return shared or (scene.kind == "private" and scene.user_id == self.user_id)
        if scene.kind == "group":
            return self.group_id == scene.group_id
        return self.entity_type == "member" and self.user_id == scene.user_id


@dataclass(frozen=True)
class Profile:
    """The current profile: ``tags`` and a Markdown ``summary``.

    ``source_event_id`` is the last event merged into it. ``version`` changes with every change of the stored file,
    including manual edits; it is "" until the profile is first stored. ``sources`` are the ids of the events that each
    line of the summary (without its bullet) or tag rests on; a line that has none was written by hand, or before lines
    had any. Only the stored file has them, not the searchable copy.
    """

    key: ProfileKey
    name: str
    tags: tuple[str, ...]
    summary: str
    updated_at: datetime
    source_event_id: str = ""
    version: str = field(default="", compare=False)
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]], hash=False)

    def reworded(self, change: Callable[[str], str]) -> Profile:
        """Return the profile with its texts, except the name, changed; tags that become empty go."""
        tags = tuple(dict.fromkeys(new for tag in self.tags if (new := change(tag))))
        sources = {new: ids for said, ids in self.sources.items() if (new := change(said))}
        return replace(self, tags=tags, summary=change(self.summary), sources=sources)

    def without_events(self, events: Collection[str], *, wholly: bool = False) -> Profile:
        """Return the profile without the lines and tags that rest on one of these events, and headings left empty.

        With ``wholly`` only those go that rest on nothing else.
        """
        rests = all if wholly else any
        gone = {said for said, ids in self.sources.items() if rests(one in events for one in ids)}
        if not gone:
            return self
        lines: list[str] = []
        for section in _SECTIONS.split(self.summary):
            left = [line for line in section.split("\n") if said_in(line) not in gone]
            is_emptied = section.startswith("#") and not "".join(left[1:]).strip() and "\n" in section.strip()
            lines += [] if is_emptied else left
        tags = tuple(tag for tag in self.tags if tag not in gone)
        sources = {said: ids for said, ids in self.sources.items() if said not in gone}
        return replace(self, tags=tags, summary="\n".join(lines).strip(), sources=sources)


@dataclass(frozen=True)
class Revision:
    """A past version of a profile; ``id`` is the instant at which the next version replaced it."""

    id: str
    profile: Profile


@dataclass(frozen=True)
class ProfileHit:
    """A profile that a search found, with its score in [0, 1]."""

    profile: Profile
    score: float


def said_in(line: str) -> str:
    """Return what a line of a profile says, without its bullet: the form in which ``Profile.sources`` names it."""
    return line.strip("-*+• \t")


def revision_id(at: datetime, last: str = "") -> str:
    """Format an instant as a revision id (20260222T103000.123456Z), or ``last`` plus 1 µs if that is later."""
    instant = min(max(at.astimezone(timezone.utc), _EARLIEST), _LATEST)
    if last:
        instant = max(instant, _instant_of(last) + timedelta(microseconds=1))
    return f"{instant:%Y%m%dT%H%M%S.%f}Z"


def is_revision_id(text: str) -> bool:
    """Return whether a text is a valid revision id."""
    try:
        return _REVISION_ID.fullmatch(text) is not None and bool(_instant_of(text))
    except ValueError:
        return False


@lru_cache(maxsize=4_096)
def _instant_of(revision: str) -> datetime:
    return datetime.strptime(revision, "%Y%m%dT%H%M%S.%f%z")
