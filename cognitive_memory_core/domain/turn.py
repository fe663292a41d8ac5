"""Finished turns and dialogues, as they are handed in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar, cast

from .. import sentences
from ..errors import BadArgument
from .event import shortened
from .ids import checked_id, checked_text
from .instants import checked_instant
from .message import Message
from .scope import Scene, checked_scene

if TYPE_CHECKING:
    from typing_extensions import Self

Work = TypeVar("Work", bound="Turn | Dialogue")
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
        return replace(
            self,
            memo=shortened(self.memo, limits.text),
            observations=tuple(shortened(item, limits.text) for item in self.observations[: limits.observations]),
            source_message=shortened(self.source_message, limits.source_message),
            recent_messages=tuple(_cut(line, limits.recent_line) for line in recent),
        )


def without_lines(work: Work, is_kept: Callable[[Message | str], bool], hide: Callable[[str], str]) -> Work:
    """Return work with the lines that are kept only, and with ``hide`` applied to all texts but people's names."""

    def place(scene: Scene) -> Scene:
        return replace(scene, group_name=hide(scene.group_name), nickname=hide(scene.nickname))

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
        return replace(self, messages=tuple(_cut(line, limits.text) for line in self.messages))


def _cut(line: Message | str, limit: int) -> Message | str:
    """Return a line cut to ``limit`` characters; the line itself if it is no longer."""
    if isinstance(line, str):
        return shortened(line, limit)
    return line if len(line.text) <= limit else replace(line, text=shortened(line.text, limit))


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
