"""Captured lines, and what became of past lines that were handed in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from .. import sentences
from .event import Event, LineKey, Quote
from .ids import checked_id, checked_text
from .instants import checked_instant
from .scope import Scene, checked_scene

ROW_WEIGHT, BYTE_WEIGHT = 340, 7  # bytes on disk of a message's row, and of each byte of its text with the word index


@dataclass(frozen=True)
class Message:
    """One captured chat line: who said it (``scene.user_id``), where, when, and which message it replies to.

    For a line of the bot, ``is_bot`` is set and ``scene`` has the person to whom the bot said it. ``number`` is the
    line's number in its group, the same for every account and in every export; "" if it is not known.
    """

    id: str
    scene: Scene
    text: str
    sent_at: datetime
    reply_to: str | None = field(default=None, kw_only=True)
    is_bot: bool = field(default=False, kw_only=True)
    addressed_to_bot: bool = field(default=False, kw_only=True)
    number: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Reject invalid ids, scenes, times and texts."""
        checked_id(self.id, "message id")
        checked_scene(self.scene)
        checked_instant(self.sent_at, "sent_at")
        checked_text(self.text, "text")
        if self.reply_to is not None:
            checked_id(self.reply_to, "reply_to")
        if self.number:
            checked_id(self.number, "number")

    @cached_property  # asked for several times a line
    def sender_id(self) -> str:
        """Who said it; "" for the bot itself."""
        return "" if self.is_bot else self.scene.user_id

    @cached_property  # asked for several times a line
    def key(self) -> LineKey:
        """The line's scope and id."""
        return self.scene.scope, self.id

    @property
    def weight(self) -> int:
        """The estimated number of bytes that the line takes on disk, including its rows in the indexes."""
        return ROW_WEIGHT + BYTE_WEIGHT * len(self.text.encode("utf-8", "replace"))

    def as_quote(self) -> Quote:
        """Return the line's words with their sender and time."""
        return Quote(self.id, self.sender_id, self.text, self.scene.user_name, self.sent_at)

    def as_event(self) -> Event:
        """Return the line as an Event of kind "message" with the message's id.

        A bot's own line has the addressed person as its subject, so that their opt-out excludes it too.
        """
        return self._event

    @cached_property  # the same lines are found by many questions
    def _event(self) -> Event:
        scene = self.scene
        return Event(
            self.id,
            self.text,
            "message",
            user_id=scene.user_id,
            group_id=scene.group_id,
            sender_id=self.sender_id,
            subjects=(scene.user_id,) if self.is_bot else (),
            message_ids=(self.id,),
            request_type="private" if scene.kind == "private" else "group",
            happened_at=self.sent_at,
            agent=scene.agent,
            sender_name="" if self.is_bot else scene.user_name,
        )


def with_names(message: Message, named: Scene) -> Message:
    """Return a message whose missing names are taken from ``named``, a scene of the same place.

    A person's name is taken only if the scene has the same person.
    """
    said, is_theirs = message.scene, message.scene.user_id == named.user_id
    user_name = said.user_name or (named.user_name if is_theirs else "")
    return replace(message, scene=replace(said, user_name=user_name, group_name=said.group_name or named.group_name))


@dataclass(frozen=True)
class Backfill:
    """What became of past lines: how many were taken, were known already, and were left out, by reason."""

    taken: int = 0
    known: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def total(self) -> int:
        """The number of lines that were handed in."""
        return self.taken + self.known + sum(self.left_out.values())

    @property
    def summary(self) -> str:
        """The counts as one sentence for people."""
        return sentences.caller.outcome(self.taken, self.known, self.left_out)

    def plus(self, other: Backfill) -> Backfill:
        """Return the counts of both."""
        left_out = Counter(self.left_out) + Counter(other.left_out)
        return Backfill(self.taken + other.taken, self.known + other.known, left_out)
