"""The command itself: which call may be carried out, by whom, and what is answered."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nonebot.adapters import Bot, Event, MessageSegment
from nonebot.exception import AdapterException
from nonebot.permission import SUPERUSER

import cognitive_memory_core as core

from .. import heard, replies
from ..capture import announce, hearing, unrecorded
from ..command_table import Command, called, nearest
from ..lifecycle import get_memory, lifetime
from ..onebot import spoken, worded
from ..scene import find_scene
from ..throttled_log import complain
from .authority import objection, superuser_objection
from .pacing import CommandRate, to_confirm
from .sending import picture, send_long

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

Answer = str | tuple[str, tuple[Any, ...]]  # a text, or one with a function of cards/contents.py and its arguments
ONES_OWN = frozenset({"forget_me", "optout", "optin", "export"})  # also while nothing new is remembered
PAGED = frozenset({"list", "beliefs"})
REPLY_LENGTH = 1_200  # characters of one message; longer answers are forwarded
_pace = CommandRate()


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
        return replies.usage.usage(self.command)

    @property
    def message_id(self) -> str:
        """The id of the message that calls, "" if it has none."""
        return str(getattr(self.event, "message_id", ""))


@hearing.handle()
async def reply(bot: Bot, event: Event) -> None:
    """Carry out a call, or reply with the reason for refusing it.

    Superusers never wait, nor does the call that confirms an earlier one; pages of lists are limited separately.
    """
    scene, text = find_scene(bot, event), worded(call_parts(event)).text
    command, _ = called(text)
    name, wait = command.name if command else "", None
    if not (await SUPERUSER(bot, event) or (scene and to_confirm.find((scene, name)))):
        is_page = name in PAGED and any(map(str.isdigit, text))
        wait = _pace.wait((bot.self_id, scene.user_id if scene else event.get_session_id()), is_page=is_page)
        if wait is None:  # they were told already
            return
    if wait:
        result: Answer = replies.commands.TOO_OFTEN.format(seconds=wait)
    elif scene is None:
        result = replies.commands.NOBODY
    elif command is None:
        like = nearest(text)
        result = replies.usage.usage(like, replies.usage.NEAREST) if like else replies.commands.UNKNOWN_SUBCOMMAND
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
        return replies.usage.usage(command)
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
        refusal = ""
        if command.who == "superusers":
            refusal = await superuser_objection(bot, event)
        if not refusal and command.place not in ("anywhere", scene.kind):
            refusal = replies.commands.ONLY_IN_GROUPS if command.place == "group" else replies.commands.ONLY_IN_PRIVATE
        if not refusal and command.who == "admins" and scene.kind == "group":
            refusal = await objection(bot, event, replies.commands.ADMINS_ONLY)
        answer = refusal or await carry_out(call)
        return answer[0] if isinstance(answer, tuple) and call.text else answer  # what is said then asks for text
    except core.MistakeError as mistake:
        return str(mistake)
    except core.CognitiveMemoryError as away:
        complain(str(away))
        return replies.commands.TROUBLE


async def say(bot: Bot, event: Event, result: Answer) -> None:
    """Send a reply that is not recorded; in a group that never got the notice of ``capture.announce``, send that, too.

    A reply that the platform refuses is logged, not raised.
    """
    text, card = (result, None) if isinstance(result, str) else result
    with unrecorded():
        is_shown = False
        try:
            if card and (drawn := await picture(bot, *card)) is not None:
                await bot.send(event, drawn)
                is_shown = True
        except AdapterException as refused:
            complain(replies.log.PICTURE_REFUSED.format(reason=type(refused).__name__))
        try:
            if not is_shown and len(text) > REPLY_LENGTH:
                await send_long(bot, event, text)
            elif not is_shown:
                await bot.send(event, spoken(bot, text))
        except AdapterException as refused:
            complain(replies.log.NOT_ANSWERED.format(reason=type(refused).__name__))
            return
        if scene := find_scene(bot, event):
            await announce(bot, event, scene)
