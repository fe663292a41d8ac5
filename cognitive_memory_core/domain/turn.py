"""Finished turns, jobs and the verified context that a historian works with; people, memos and pins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .. import sentences
from ..errors import BadArgument
from .event import Event, shortened
from .ids import checked_id, checked_text
from .instants import checked_instant
from .message import Message
from .scope import Scene, Scope, checked_scene

if TYPE_CHECKING:
    from typing_extensions import Self

Work = TypeVar("Work", bound="Turn | Dialogue")


@dataclass(frozen=True)
class Memo:
    """A short note on what the bot did in one turn; injected by recency, never searched."""

    id: str
    scope: Scope
    text: str
    written_at: datetime
    user_id: str = ""


@dataclass(frozen=True)
class Pin:
    """A fact that a person entered and that is injected in every turn of its place.

    ``owner_id`` is "" for a pin of the whole group; ``author_id`` is "" for an operator or an unknown author.
    """

    id: str
    scope: Scope
    text: str
    owner_id: str
    pinned_at: datetime
    author_id: str = ""


WEEK = 7 * 86_400.0


@dataclass(frozen=True)
class Alias:
    """A name of a person in a place, with the instants at which it was first and last seen."""

    scope: Scope
    user_id: str
    name: str
    first_seen_at: datetime
    last_seen_at: datetime


@dataclass(frozen=True)
class Person:
    """A known person: ``name`` is the current name in this place, ``aliases`` are earlier ones; equality is by id.

    ``usual`` is the name used longest in recent time, "" if unknown. ``since`` is the Unix
    time at which the person was first seen in the place, 0 if unknown.
    """

    id: str
    name: str = ""
    aliases: tuple[str, ...] = field(default=(), compare=False)
    usual: str = field(default="", compare=False)
    since: float = field(default=0.0, compare=False)

    @property
    def label(self) -> str:
        """``name(id)``, the form in which statements name a person; ``QQ(id)`` if the name is unknown."""
        return f"{self.name}({self.id})" if self.name else f"QQ({self.id})"

    def as_usual(self) -> Person:
        """Return the person with ``usual`` as the name and the current name as an alias; unchanged if there is none."""
        if not self.usual or self.usual == self.name:
            return self
        others = dict.fromkeys((self.name, *self.aliases))
        return replace(self, name=self.usual, aliases=tuple(name for name in others if name != self.usual))

    def is_settled(self, at: datetime) -> bool:
        """Return whether the person was seen in the place a week before ``at``, so that their word counts for it."""
        return 0.0 < self.since <= at.timestamp() - WEEK


@dataclass(frozen=True)
class JobContext:
    """The verified context of a job: time (with zone), place, speaker and participants.

    ``people`` took part or are known in the place. ``neighbours`` are active events of the place to which new
    statements may refer, or which they may repeat or replace. Nothing is from other places. ``earlier`` are the lines
    just before a dialogue; ``answered`` are logged lines outside the dialogue to which one of its lines replies. Both
    only help to understand the dialogue, and no new statement may rest on them alone. If ``is_last_try`` and the model
    answers badly or too late, the job is completed without the model.
    """

    when: datetime
    place: Scope
    place_name: str
    speaker: Person
    people: tuple[Person, ...] = ()
    neighbours: tuple[Event, ...] = ()
    job_id: str = ""
    is_last_try: bool = False
    earlier: tuple[Message, ...] = ()
    answered: tuple[Message, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every known name, of people and of the place."""
        named = (*(person.name for person in (self.speaker, *self.people)), self.place_name)
        return tuple(name for name in named if name)

    @cached_property
    def all_names(self) -> tuple[str, ...]:
        """Every known name once, former ones included."""
        names_and_aliases = (name for person in (self.speaker, *self.people) for name in (person.name, *person.aliases))
        return tuple(dict.fromkeys(name for name in (*names_and_aliases, self.place_name) if name))

    def named(self, user_id: str) -> Person:
        """Return the known person with this id, or a Person without a name if the id is unknown."""
        return next((person for person in (self.speaker, *self.people) if person.id == user_id), Person(user_id))


PERSPECTIVE = 64  # characters


@dataclass(frozen=True)
class TurnLimits:
    """Size limits of one turn: characters, observations, lines."""

    text: int = 500
    observations: int = 20
    source_message: int = 800
    recent_messages: int = 12
    recent_line: int = 240


@dataclass(frozen=True)
class Turn:
    """One finished exchange: a memo of what was done and raw observations of what was learned.

    ``recent_messages`` may be Message objects or plain lines. Turns with equal ``request_id`` become one job.
    """

    scene: Scene
    memo: str = field(default="", kw_only=True)
    observations: Sequence[str] = field(default=(), kw_only=True)
    perspective: str | None = field(default=None, kw_only=True)
    force: bool = field(default=False, kw_only=True)
    source_message: str = field(default="", kw_only=True)
    recent_messages: Sequence[Message | str] = field(default=(), kw_only=True)
    message_ids: Sequence[str] = field(default=(), kw_only=True)
    request_id: str | None = field(default=None, kw_only=True)
    happened_at: datetime | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Reject invalid values, drop blank observations and treat None as empty."""
        checked_scene(self.scene, placed=True)
        if self.happened_at is not None:
            checked_instant(self.happened_at, "happened_at")
        observations = [checked_text(item, "observations").strip() for item in _listed(self.observations)]
        fields: dict[str, object] = {
            "memo": _text(self.memo, "memo").strip(),
            "force": bool(self.force),
            "source_message": _text(self.source_message, "source_message"),
            "observations": tuple(item for item in observations if item),
            "recent_messages": tuple(
                line
                for line in map(_line, _listed(self.recent_messages))
                if isinstance(line, str) or line.scene.scope == self.scene.scope  # of another place: not of this turn
            ),
            "message_ids": tuple(checked_id(item, "message_ids") for item in _listed(self.message_ids)),
            "perspective": shortened(_text(self.perspective, "perspective"), PERSPECTIVE) or None,
            "request_id": _text(self.request_id, "request_id") or None,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def is_blank(self) -> bool:
        """Whether the turn has neither a memo nor observations."""
        return not self.memo and not self.observations

    def within(self, limits: TurnLimits) -> Self:
        """Return the turn cut to the limits; cut texts end in "…"."""
        recent = self.recent_messages[-limits.recent_messages :] if limits.recent_messages else ()
        return with_fields(
            self,
            memo=shortened(self.memo, limits.text),
            observations=tuple(shortened(item, limits.text) for item in self.observations[: limits.observations]),
            source_message=shortened(self.source_message, limits.source_message),
            recent_messages=tuple(
                shortened(line, limits.recent_line)
                if isinstance(line, str)
                else replace(line, text=shortened(line.text, limits.recent_line))
                for line in recent
            ),
        )


def with_fields(work: Work, **fields: Any) -> Work:
    """Return work with other fields; the work itself if none differs, because a new one is checked as a whole."""
    differing = {name: value for name, value in fields.items() if getattr(work, name) != value}
    return replace(work, **differing) if differing else work


def without_lines(work: Work, is_kept: Callable[[Message | str], bool], hide: Callable[[str], str]) -> Work:
    """Return work with the lines that are kept only, and with ``hide`` applied to all texts but people's names."""

    def place(scene: Scene) -> Scene:
        names = {"group_name": hide(scene.group_name), "nickname": hide(scene.nickname)}
        is_same = names == {"group_name": scene.group_name, "nickname": scene.nickname}
        return scene if is_same else replace(scene, **names)

    lines = tuple(
        hide(line) if isinstance(line, str) else replace(line, text=hide(line.text), scene=place(line.scene))
        for line in (work.recent_messages if isinstance(work, Turn) else work.messages)
        if is_kept(line)
    )
    if isinstance(work, Dialogue):
        return replace(work, scene=place(work.scene), messages=lines)
    return replace(
        work,
        scene=place(work.scene),
        memo=hide(work.memo),
        observations=tuple(map(hide, work.observations)),
        perspective=work.perspective and hide(work.perspective),
        source_message=hide(work.source_message),
        request_id=work.request_id and hide(work.request_id),
        recent_messages=lines,
    )


@dataclass(frozen=True)
class Dialogue:
    """Consecutive messages of one place, handed in for triage, which selects what in them is worth remembering."""

    scene: Scene
    messages: Sequence[Message]

    def __post_init__(self) -> None:
        """Reject a dialogue without a place and drop lines of other places."""
        checked_scene(self.scene, placed=True)
        lines = tuple(_line(item) for item in _listed(self.messages))
        here = (line for line in lines if isinstance(line, Message) and line.scene.scope == self.scene.scope)
        object.__setattr__(self, "messages", tuple(here))

    def within(self, limits: TurnLimits) -> Self:
        """Return the dialogue with each line cut to ``limits.text``."""
        lines = tuple(replace(line, text=shortened(line.text, limits.text)) for line in self.messages)
        return replace(self, messages=lines)


def _text(value: object, what: str) -> str:
    return "" if value is None else checked_text(value, what)


def _line(value: object) -> Message | str:
    if isinstance(value, Message | str):
        return value
    raise BadArgument(sentences.caller.bad_value("messages", value, " Message 或文本"))


def _listed(value: object) -> Iterable[object]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Iterable) or isinstance(value, bytes | Mapping):
        raise BadArgument(sentences.caller.bad_value("observations", cast("object", value), "一列文本"))
    return cast("Iterable[object]", value)


@dataclass(frozen=True)
class Job:
    """One piece of accepted work."""

    id: str
    work: Turn | Dialogue
    accepted_at: datetime

    @property
    def scope(self) -> Scope:
        """The scope that the results are written to; jobs of one scope run in order."""
        return self.work.scene.scope

    @property
    def happened_at(self) -> datetime:
        """When the turn or dialogue took place: as given, else the last message's time, else the time of acceptance."""
        if isinstance(self.work, Turn):
            return self.work.happened_at or self.accepted_at
        return self.work.messages[-1].sent_at if self.work.messages else self.accepted_at

    @property
    def memo(self) -> Memo | None:
        """The memo of a turn, under the job's id; None for a turn without memo and for a dialogue."""
        if not isinstance(self.work, Turn) or not self.work.memo:
            return None
        return Memo(self.id, self.scope, self.work.memo, self.happened_at, self.work.scene.user_id)


@dataclass(frozen=True)
class FailedJob:
    """A failed job: its last error in one line, the number of attempts, and when it was buried."""

    id: str
    error: str
    attempts: int
    failed_at: datetime
    job: Job | None = None

    @property
    def advice(self) -> str:
        """What an operator can do about the failure, as one sentence."""
        return sentences.report.advice(self.error, is_readable=self.job is not None)


@dataclass(frozen=True)
class QueueCounts:
    """The number of jobs in each state, and the size of the pending ones in bytes.

    ``removed`` counts failed jobs deleted since the start because they were too old or too many.
    """

    pending: int = 0
    processing: int = 0
    failed: int = 0
    pending_bytes: int = 0
    removed: int = field(default=0, compare=False)
