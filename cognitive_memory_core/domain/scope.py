"""Where something is said and by whom, and whose memory it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

from .. import sentences
from ..errors import BadArgument, NotPermitted
from .ids import checked_id

DEFAULT_AGENT = "default"
NAME_LENGTH = 128
SceneKind = Literal["group", "private", "operator"]
PlaceKind = Literal["group", "private"]
_SEPARATOR = "\x1f"  # a control character, which ids must not contain; hence keys are unique


@dataclass(frozen=True)
class Scene:
    """The current place and asker; created by :meth:`group`, :meth:`private` or :meth:`operator`.

    Names and role do not affect access. ``nickname`` is the person's name outside of the group, where it differs from
    ``user_name``. ``is_admin``: the platform stated that the person owns the group or is an admin of it; False if it is
    unknown.
    """

    kind: SceneKind
    agent: str
    group_id: str = ""
    user_id: str = ""
    user_name: str = field(default="", compare=False)
    group_name: str = field(default="", compare=False)
    is_admin: bool = field(default=False, compare=False)
    nickname: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Reject invalid ids and truncate names, which are unverified."""
        if self.kind not in get_args(SceneKind):
            raise BadArgument(sentences.caller.bad_value("kind", self.kind, " group、private 或 operator"))
        for part in ("user_name", "group_name", "nickname"):
            name: object = getattr(self, part)
            object.__setattr__(self, part, name[:NAME_LENGTH] if isinstance(name, str) else "")
        object.__setattr__(self, "is_admin", self.is_admin is True and self.kind == "group")
        checked_id(self.agent, "agent")
        if self.kind == "group" or self.group_id:
            checked_id(self.group_id, "group_id")
        if self.kind != "operator":
            checked_id(self.user_id, "user_id")

    @classmethod
    def group(
        cls,
        group_id: str,
        user_id: str,
        *,
        user_name: str = "",
        group_name: str = "",
        agent: str = DEFAULT_AGENT,
        is_admin: bool = False,
        nickname: str = "",
    ) -> Scene:
        """Return the scene of a group with the person who speaks or asks."""
        return cls("group", agent, group_id, user_id, user_name, group_name, is_admin, nickname)

    @classmethod
    def private(cls, user_id: str, *, user_name: str = "", agent: str = DEFAULT_AGENT) -> Scene:
        """Return the scene of the private chat with a person."""
        return cls("private", agent, "", user_id, user_name)

    @classmethod
    def operator(cls, agent: str = DEFAULT_AGENT, *, group_id: str | None = None) -> Scene:
        """Return the operator's scene: it reads everything of its agent and writes to ``group_id``, if given."""
        return cls("operator", agent, "" if group_id is None else checked_id(group_id, "group_id"))

    @cached_property
    def scope(self) -> Scope:
        """The scope to which this scene writes; raises BadArgument for an operator without a group."""
        if self.kind == "private":
            return Scope(self.agent, "private", self.user_id)
        if not self.group_id:
            raise BadArgument(sentences.caller.PLACE_NEEDED)
        return Scope(self.agent, "group", self.group_id)

    @property
    def has_place(self) -> bool:
        """Whether the scene is in a place: an operator may ask about all of them."""
        return self.kind != "operator" or bool(self.group_id)

    def check_target(self, *, user_id: str | None = None, group_id: str | None = None) -> None:
        """Raise NotPermitted for another ``group_id`` in a group's scene or another ``user_id`` in a private one.

        A permitted target only narrows a read; each row is still checked by :class:`Consent`.
        """
        if self.kind == "operator":
            return
        if group_id and self.kind == "group" and group_id != self.group_id:
            raise NotPermitted(sentences.caller.FOREIGN_TARGET.format(what="群"))
        if user_id and self.kind == "private" and user_id != self.user_id:
            raise NotPermitted(sentences.caller.FOREIGN_TARGET.format(what="人"))


@dataclass(frozen=True, order=True)
class Scope:
    """Where something was learned: a group, or the private chat with a person, of one agent."""

    agent: str
    kind: PlaceKind
    place_id: str

    @classmethod
    def of_key(cls, key: str) -> Scope:
        """Parse a scope from its key; raise BadArgument for an unknown kind."""
        agent, kind, place_id = key.split(_SEPARATOR)
        if kind not in ("group", "private"):
            raise BadArgument(sentences.caller.bad_value("scope", key, "group 或 private"))
        return cls(agent, kind, place_id)

    @property
    def key(self) -> str:
        """A unique text for the scope, used by stores."""
        return _SEPARATOR.join((self.agent, self.kind, self.place_id))

    @property
    def group_id(self) -> str:
        """The group, or "" in private."""
        return self.place_id if self.kind == "group" else ""

    def readable_by(self, scene: Scene, *, sender_id: str = "") -> bool:
        """Return whether ``scene`` may read what ``sender_id`` said here. This is the whole access rule.

        In a group: what was learned in that group. In private: what was learned in that chat, and what the same
        person said in groups. An operator: everything of the agent. Agents never read each other.
        """
        if scene.agent != self.agent:
            return False
        if scene.kind == "operator":
            return True
        if scene.kind == "group":
            return self.kind == "group" and self.place_id == scene.group_id
        if self.kind == "private":
            return self.place_id == scene.user_id
        return bool(sender_id) and sender_id == scene.user_id


def checked_scene(value: object, *, placed: bool = False) -> Scene:
    """Return the value if it is a Scene; raise BadArgument otherwise, and with ``placed`` for an operator's scene."""
    if not isinstance(value, Scene):
        raise BadArgument(sentences.caller.bad_value("scene", value, " Scene"))
    if placed and value.kind == "operator":
        raise BadArgument(sentences.caller.PLACE_NEEDED)
    return value


Kind = Literal["job", "rewrite", "triage", "profile", "beliefs", "part"]


def log_fields(kind: Kind, *, job_id: str = "", place: Scope | None = None, part: str = "") -> dict[str, str]:
    """Return the ``extra`` argument of a log call: topic, job, place and component, each "" if unknown.

    A group is written with its id; a private chat only as "private", without its person.
    """
    where = "" if place is None else f"group:{place.place_id}" if place.kind == "group" else "private"
    return {"memory_kind": kind, "memory_job": job_id, "memory_place": where, "memory_part": part}
