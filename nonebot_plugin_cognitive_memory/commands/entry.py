"""A call of the command: it is recognised, admitted and carried out, and its answer is sent.

What is kept of earlier calls for a while: how many there were, what is to be confirmed, which lists were shown.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import ceil
from typing import TYPE_CHECKING

from nonebot import on_message
from nonebot.adapters import Bot, Event, MessageSegment
from nonebot.permission import SUPERUSER
from nonebot.rule import Rule

import cognitive_memory_core as core

from .. import heard, replies
from ..command_table import Command, called, is_ours, nearest
from ..lifecycle import get_memory, lifetime
from ..limits import Lasting, TokenBuckets, warn_once
from ..onebot import worded
from ..scene import find_scene
from .answering import Answer, say
from .authority import check_admin, check_superuser

if TYPE_CHECKING:
    Listed = core.Event | core.Pin | core.Belief | core.Suggestion
    from collections.abc import Awaitable, Callable


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


def shown_id(scene: core.Scene, kind: str, number: int | None, unknown: str) -> str:
    """Return the id of the item with this number in the list shown last.

    Raises MistakeError with the sentence ``unknown`` if there is none, or no longer.
    """
    if item_id := (shown.find((scene, kind)) or {}).get(number or 0):
        return item_id
    raise core.MistakeError(unknown)


ONES_OWN = frozenset({"forget_me", "optout", "optin", "export"})  # also while nothing new is remembered
CALLS = 10  # at once, and then by the minute
_told_to_wait: Lasting[Hashable, bool] = Lasting(60.0, 1_000)


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


class _Calls(Rule):
    """Matches calls of ``/memory``; a class costs no task for each message."""

    async def __call__(self, _bot: Bot, event: Event, *_: object) -> bool:
        """Return whether a message is one."""
        return is_ours(event.get_plaintext())


_pace = TokenBuckets(CALLS, CALLS)
calling = on_message(priority=0, block=True)  # chat plugins, whose default priority is 1, never answer a call
calling.rule = _Calls()


@calling.handle()
async def reply(bot: Bot, event: Event) -> None:
    """Carry out a call, or reply with the reason for refusing it.

    Superusers never wait, nor does the call that confirms an earlier one. Who was told to wait gets no answer until a
    call is admitted.
    """
    scene, text = find_scene(bot, event), worded(call_parts(event)).text
    command, _ = called(text)
    name, wait = command.name if command else "", 0
    if not (await SUPERUSER(bot, event) or (scene and to_confirm.find((scene, name)))):
        who = bot.self_id, scene.user_id if scene else event.get_session_id()
        wait = ceil(_pace.wait(who, take=True))
        if wait and _told_to_wait.find(who):
            return
        _told_to_wait.put(who, wait > 0)
    if wait:
        result: Answer = replies.commands.TOO_OFTEN.format(seconds=wait)
    elif scene is None:
        result = replies.commands.NOBODY
    elif command is None:
        like = nearest(text)
        result = replies.commands.usage(like, replies.commands.NEAREST) if like else replies.commands.UNKNOWN_SUBCOMMAND
    else:
        result = await _answered(bot, event, scene, command)
    await say(bot, event, result)


def call_parts(event: Event) -> list[MessageSegment]:
    """Return the texts and mentions of a message from its first text on, which calls a command."""
    parts = [part for part in event.get_message() if part.type in ("text", "at", "mention")]
    while parts and not (parts[0].type == "text" and str(parts[0].data.get("text")).strip()):
        parts.pop(0)
    return parts


async def _answered(bot: Bot, event: Event, scene: core.Scene, command: Command) -> Answer:
    """Return the answer to a call of a command, or one sentence on why it is refused or failed."""
    _, said = called(worded(call_parts(event), name_of=lambda user_id: heard.name_of(scene, user_id)).text)
    taken = re.fullmatch(command.takes, said, re.DOTALL)
    if taken is None:
        return replies.commands.usage(command)
    memory = get_memory()
    if not memory.is_running and command.name != "help" and not (lifetime.is_open and command.name in ONES_OWN):
        if lifetime.is_listening:
            return replies.commands.OPENING
        return replies.commands.off(memory.reason if await SUPERUSER(bot, event) else "")
    words = {name: value for name, value in taken.groupdict().items() if value}
    number = int(words["number"]) if "number" in words else None
    call = Call(bot, event, scene, command, number, words.get("text", "").strip())
    module, _, name = command.handler.partition(".")
    carry_out: Callable[[Call], Awaitable[Answer]] = getattr(
        await asyncio.to_thread(import_module, f".{module}", __package__), name
    )
    try:
        if command.who == "superusers":
            await check_superuser(call)
        if command.place not in ("anywhere", scene.kind):
            return replies.commands.ONLY_IN_GROUPS if command.place == "group" else replies.commands.ONLY_IN_PRIVATE
        if command.who == "admins" and scene.kind == "group":
            await check_admin(call, replies.commands.ADMINS_ONLY)
        answer = await carry_out(call)
        return answer if isinstance(answer, str) or not call.text else answer.text  # what is said then asks for text
    except core.MistakeError as mistake:
        return str(mistake)
    except core.CognitiveMemoryError as away:
        warn_once(str(away))
        return replies.commands.TROUBLE
