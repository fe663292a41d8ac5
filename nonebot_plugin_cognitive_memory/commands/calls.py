"""A call of a subcommand; what a person was asked to confirm, and which lists were shown, for a while."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nonebot.adapters import Bot, Event, MessageSegment

import cognitive_memory_core as core

from .. import replies
from ..command_table import Command
from ..limits import Lasting

if TYPE_CHECKING:
    Listed = core.Event | core.Pin | core.Belief | core.Suggestion


@dataclass(frozen=True)
class Call:
    """A call of a subcommand: where and by whom, and the number and the text behind the subcommand."""

    bot: Bot
    event: Event
    here: core.Scene
    command: Command
    number: int | None
    text: str

    @property
    def usage(self) -> str:
        """The answer to a call that cannot be understood."""
        return replies.commands.usage(self.command)


def call_parts(event: Event) -> list[MessageSegment]:
    """Return the texts and mentions of a message from its first text on, which calls a command."""
    parts = [part for part in event.get_message() if part.type in ("text", "at", "mention")]
    while parts and not (parts[0].type == "text" and str(parts[0].data.get("text")).strip()):
        parts.pop(0)
    return parts


to_confirm: Lasting[tuple[core.Scene, str], tuple[Hashable, str]] = Lasting(60.0, 1_000)
"""What people were asked to confirm by calling a command again, and the id of the message that called it."""


def is_confirmed(call: Call, content: Hashable) -> bool:
    """Return whether this call confirms an earlier one with the same content; if not, it is stored to be confirmed.

    ``content`` identifies everything that the command would change. A message that is delivered twice confirms nothing.
    """
    key, message_id = (call.here, call.command.name), str(getattr(call.event, "message_id", ""))
    asked = to_confirm.find(key)
    to_confirm.drop(key)
    if asked is not None and asked[0] == content and asked[1] != message_id:
        return True
    to_confirm.put(key, (content, message_id))
    return False


shown: Lasting[tuple[core.Scene, str], dict[int, str]] = Lasting(600.0, 1_000)
"""The ids by number of the list of each kind that each person was shown last in each scene."""


def show(scene: core.Scene, kind: str, items: Sequence[Listed], first: int = 1) -> None:
    """Store a list as shown, numbered from ``first``; what its numbers mean is read on use, as it may be forgotten."""
    shown.put((scene, kind), {number: item.id for number, item in enumerate(items, first)})


def shown_id(scene: core.Scene, kind: str, number: int | None) -> str:
    """Return the id of the item with this number in the list shown last; raises :func:`unknown_number` without one."""
    if item_id := (shown.find((scene, kind)) or {}).get(number or 0):
        return item_id
    raise unknown_number(kind)


def unknown_number(kind: str) -> core.MistakeError:
    """Return the error that a list of this kind has no such number, or has it no longer."""
    return core.MistakeError(replies.commands.NUMBER_UNKNOWN.format(command=replies.commands.LISTED_BY[kind]))
