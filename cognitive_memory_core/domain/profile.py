"""Current portraits of people and groups: who a profile is of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from .. import sentences
from ..errors import BadArgument
from .ids import checked_id
from .scope import DEFAULT_AGENT, Scene

EntityType = Literal["user", "member", "group"]


@dataclass(frozen=True, order=True)
class ProfileKey:
    """Of whom a profile is: a user, a member in a group, or a group, of one agent."""

    agent: str
    entity_type: EntityType
    group_id: str = ""
    user_id: str = ""

    @classmethod
    def user(cls, user_id: str, agent: str = DEFAULT_AGENT) -> ProfileKey:
        """Name a person's profile."""
        return cls(agent, "user", user_id=checked_id(user_id, "user_id"))

    @classmethod
    def member(cls, group_id: str, user_id: str, agent: str = DEFAULT_AGENT) -> ProfileKey:
        """Name a person's profile inside one group."""
        return cls(agent, "member", checked_id(group_id, "group_id"), checked_id(user_id, "user_id"))

    @classmethod
    def group(cls, group_id: str, agent: str = DEFAULT_AGENT) -> ProfileKey:
        """Name a group's profile."""
        return cls(agent, "group", checked_id(group_id, "group_id"))

    @classmethod
    def asked(cls, scene: Scene, entity_type: object, entity_id: object) -> ProfileKey:
        """Read what was asked for in a scene: "user" in a group means the member there, "member" is "group/user"."""
        if entity_type not in get_args(EntityType):
            raise BadArgument(sentences.bad_value("entity_type", entity_type, " user、member 或 group"))
        identifier = checked_id(entity_id, "entity_id")
        if entity_type == "group":
            return cls.group(identifier, scene.agent)
        if entity_type == "member":
            group_id, _, user_id = identifier.partition("/")
            return cls.member(group_id, user_id, scene.agent)
        if scene.kind == "group":
            return cls.member(scene.group_id, identifier, scene.agent)
        return cls.user(identifier, scene.agent)

    def readable_by(self, scene: Scene, *, shared: bool = False) -> bool:
        """Tell whether a scene may read the profile; ``shared`` says that its person, or the operator, opened it."""
        if scene.agent != self.agent or scene.kind == "operator":
            return scene.agent == self.agent
        if self.entity_type == "user":
            return shared or (scene.kind == "private" and scene.user_id == self.user_id)
        if scene.kind == "group":
            return self.group_id == scene.group_id
        return self.entity_type == "member" and self.user_id == scene.user_id


@dataclass(frozen=True)
class Profile:
    """The current portrait: ``tags`` and a Markdown ``summary``."""

    key: ProfileKey
    name: str
    tags: tuple[str, ...]
    summary: str
    updated_at: datetime


@dataclass(frozen=True)
class ProfileHit:
    """A profile that a search found, with its score in [0, 1]."""

    profile: Profile
    score: float
