"""Ids and instants as the memory takes them, and whose memory something is."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property
from typing import Literal, get_args

from .. import sentences
from ..errors import BadArgument, NotPermitted

ID_LENGTH = 128
_PLAIN = re.compile(f"[!-~]{{1,{ID_LENGTH}}}")  # as nearly all ids are; found without a look at each character
_SAFE_COMPONENT = re.compile(r"[0-9][0-9a-z_-]{0,63}")


def checked_id(value: object, what: str) -> str:
    """Return the id if it is 1 to 128 characters of text without control characters; raise BadArgument otherwise."""
    if isinstance(value, str):
        controls = (char for char in value if unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"})
        if _PLAIN.fullmatch(value) or (0 < len(value) <= ID_LENGTH and not any(controls)):
            return value
    raise BadArgument(sentences.caller.BAD_ID.format(what=what, value=value))


def checked_text(value: object, what: str) -> str:
    """Return the value if it is a ``str``; raise BadArgument otherwise."""
    if not isinstance(value, str):
        raise BadArgument(sentences.caller.bad_value(what, value, "文本"))
    return value


def path_component(identifier: str) -> str:
    """Return the file or folder name of an id: the id itself if every file system accepts it, else a hash of it."""
    if _SAFE_COMPONENT.fullmatch(identifier):
        return identifier
    return "x-" + hashlib.sha256(identifier.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def derived_id(*parts: object) -> str:
    """Return a 128-bit id derived from the parts; equal parts give equal ids, which makes writes idempotent."""
    joined = "\x1f".join(str(part) for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:32]


_WRITTEN = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?:(:\d\d)(?:[.,](\d+))?)? ?(?:([Zz])|([+-]\d\d)(?::?(\d\d))?)?", re.ASCII
)


def datetime_of(text: str) -> datetime:
    """Parse a date, with or without a time; naive if it names no zone. Raises ValueError for any other text."""
    found = _WRITTEN.fullmatch(text.strip())
    if found is None:
        return datetime.fromisoformat(text.strip())
    day, minute, second, fraction, utc, hours, minutes = found.groups()
    fraction = f".{fraction[:6]:0<6}" if fraction else ""
    zone = "+00:00" if utc else f"{hours}:{minutes or '00'}" if hours else ""
    return datetime.fromisoformat(f"{day}T{minute}{second or ':00'}{fraction}{zone}")


FIRST_YEAR, LAST_YEAR = 2, 9998  # outside of them a conversion to another zone can overflow
EARLIEST = datetime(FIRST_YEAR, 1, 2, tzinfo=timezone.utc)
LATEST = datetime(LAST_YEAR, 12, 30, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Interval:
    """The half-open interval ``[start, stop)``; both ends have a time zone."""

    start: datetime
    stop: datetime

    def __post_init__(self) -> None:
        """Reject ends without a time zone."""
        checked_instant(self.start, "start")
        checked_instant(self.stop, "stop")

    def __contains__(self, instant: datetime) -> bool:
        """Return whether the instant lies inside; ``stop`` itself is outside."""
        return self.start <= instant < self.stop


def checked_instant(value: object, what: str) -> datetime:
    """Return the instant if it has a time zone and a year that every zone can represent; else raise BadArgument."""
    instant = checked_zoned(value, what)
    if not FIRST_YEAR <= instant.year <= LAST_YEAR:
        raise BadArgument(sentences.caller.bad_value(what, instant.year, f" {FIRST_YEAR} 到 {LAST_YEAR} 年之间的时间"))
    return instant


def checked_zoned(value: object, what: str) -> datetime:
    """Return the time if it has a time zone; raise BadArgument otherwise."""
    if not isinstance(value, datetime) or value.tzinfo is None or value.utcoffset() is None:
        raise BadArgument(sentences.caller.NAIVE_INSTANT.format(what=what))
    return value


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


Switch = Literal["on", "off", "record_only", "recall_only"]


@dataclass(frozen=True)
class OptOut:
    """One person's opt-out, as exported."""

    user_id: str
    at: datetime


@dataclass(frozen=True)
class Shared:
    """One person's consent to show their own profile in every place, as exported."""

    user_id: str
    at: datetime


@dataclass(frozen=True)
class PlaceSwitch:
    """A place's switch, in force until an instant, or with ``until=None`` until it is changed.

    From ``until`` on, the place is "on" again, as if its switch had never been set.
    """

    scope: Scope
    switch: Switch = "on"
    until: datetime | None = None

    @property
    def records(self) -> bool:
        """Whether the switch lets what is said here be recorded."""
        return self.switch in ("on", "record_only")

    def is_over(self, at: datetime) -> bool:
        """Return whether the switch is no longer in force at an instant."""
        return self.until is not None and at >= self.until


@dataclass(frozen=True)
class Incognito:
    """The half-open period ``[starts_at, ends_at)`` in which a person asked not to be recorded in a place."""

    scope: Scope
    user_id: str
    starts_at: datetime
    ends_at: datetime

    def covers(self, at: datetime) -> bool:
        """Return whether an instant lies in the period."""
        return self.starts_at <= at < self.ends_at


Kind = Literal["job", "rewrite", "triage", "profile", "beliefs", "part"]


def log_fields(kind: Kind, *, job_id: str = "", place: Scope | None = None, part: str = "") -> dict[str, str]:
    """Return the ``extra`` argument of a log call: topic, job, place and component, each "" if unknown.

    A group is written with its id; a private chat only as "private", without its person.
    """
    where = "" if place is None else f"group:{place.place_id}" if place.kind == "group" else "private"
    return {"memory_kind": kind, "memory_job": job_id, "memory_place": where, "memory_part": part}
