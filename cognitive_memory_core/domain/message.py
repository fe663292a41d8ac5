"""One captured chat line."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from .. import sentences
from ..errors import BadArgument
from .event import Event
from .ids import checked_id
from .interval import checked_instant
from .scope import Scene


@dataclass(frozen=True)
class Message:
    """One captured chat line, with who (``scene.user_id``), where, when and what it answers.

    A bot's own line stands in the scene of the person it was said to, with ``is_bot`` set.
    """

    id: str
    scene: Scene
    text: str
    sent_at: datetime
    reply_to: str | None = field(default=None, kw_only=True)
    is_bot: bool = field(default=False, kw_only=True)
    addressed_to_bot: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Refuse what no log could keep."""
        checked_id(self.id, "message id")
        checked_instant(self.sent_at, "sent_at")
        if not isinstance(self.text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # chat plugins are untyped
            raise BadArgument(sentences.bad_value("text", self.text, "文本"))

    @property
    def sender_id(self) -> str:
        """Who said it; "" for the bot itself."""
        return "" if self.is_bot else self.scene.user_id

    def as_event(self) -> Event:
        """Give the line as an Event of kind "message" whose id is the message's.

        A bot's own line speaks of the person it was said to, so that it is left out with them.
        """
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
