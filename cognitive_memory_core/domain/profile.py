"""Current portraits of people and groups: who a profile is of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from .ids import checked_id
from .scope import DEFAULT_AGENT

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
