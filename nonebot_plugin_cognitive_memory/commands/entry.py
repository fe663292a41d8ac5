"""The command: a call is recognised, admitted and carried out, and its answer is sent."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Hashable
from importlib import import_module
from math import ceil

from nonebot import on
from nonebot.adapters import Bot, Event
from nonebot.permission import SUPERUSER
from nonebot.rule import Rule

import cognitive_memory_core as core

from .. import heard, replies
from ..capture import withdraw
from ..command_table import Command, called, is_ours, nearest
from ..left_places import note_departure
from ..lifecycle import get_memory, lifetime
from ..limits import Lasting, TokenBuckets, warn_once
from ..onebot import worded
from ..scene import find_scene
from .answering import Answer, say
from .authority import check_admin, check_superuser
from .calls import Call, call_parts, to_confirm

ONES_OWN = frozenset({"forget_me", "optout", "optin", "export"})  # also while nothing new is remembered
CALLS = 10  # at once, and then by the minute
_told_to_wait: Lasting[Hashable, bool] = Lasting(60.0, 1_000)


class _Calls(Rule):
    """Matches calls of ``/memory``, and takes notices; a class costs no task for each event, another matcher one."""

    async def __call__(self, bot: Bot, event: Event, *_: object) -> bool:
        """Return whether an event is a call."""
        kind = event.get_type()
        if kind == "notice":  # taken before a plugin of the usual priority can block it
            await withdraw(bot, event)
            await note_departure(bot, event)
        return kind == "message" and is_ours(event.get_plaintext())


_pace = TokenBuckets(CALLS, CALLS)
calling = on(priority=0, block=True)  # before chat plugins, whose default priority is 1
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
