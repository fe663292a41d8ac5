"""The command itself: its syntax, access checks and replies."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from importlib import import_module
from typing import Any

from arclet.alconna import (
    Alconna,
    AllParam,
    Args,
    Arparma,
    CommandMeta,
    Field,
    Namespace,
    Subcommand,
    command_manager,
    config,
)
from nonebot.adapters import Bot, Event
from nonebot.exception import AdapterException
from nonebot.permission import SUPERUSER
from nonebot.rule import Rule
from nonebot_plugin_alconna import AlcMatches, on_alconna

import cognitive_memory_core as core

from .. import replies
from ..announcing import announce
from ..capture_outgoing import unrecorded
from ..command_detection import HEAD, SUBCOMMANDS, called_subcommand, is_ours, nearest_subcommand
from ..lifecycle import get_memory, lifetime
from ..message_text import spoken
from ..scene import find_scene
from ..throttled_log import complain
from .call_form import CallForm
from .confirmations import confirmations
from .long_text import send_long
from .pictures import PictureAnswer, is_shown
from .rate_limit import CommandRate

ONES_OWN = frozenset({"forget_me", "optout", "optin", "export"})  # also while nothing new is remembered
PAGED = frozenset({"list", "beliefs"})
REPLY_LENGTH = 1_200  # characters of one message; longer answers are forwarded
_NAMESPACE = Namespace(
    "cognitive_memory",
    disable_builtin_options={"help", "shortcut", "completion"},  # a shortcut would let anybody rename commands
    enable_message_cache=False,
)
config.namespaces[_NAMESPACE.name] = _NAMESPACE
_ARGUMENTS = {
    "show": Args["number", int],
    "search": Args["words", AllParam],
    "add": Args["words", AllParam],
    "forget": Args["target", str],
    "correct": Args["number", int]["words", AllParam],
    "share": Args["wish", str],
    "beliefs": Args["page?", int],
    "changes": Args["days?", int],
    "evolve": Args["days?", int],
    **dict.fromkeys(("history", "retire", "restore"), Args["number", int]),
    "summarize": Args["count?", int],
    "pin": Args["words", AllParam],
    "retry": Args["target?", str],
    **dict.fromkeys(
        ("list", "view", "rollback", "config", "suggestions", "incognito", "on", "off", "record", "recall"),
        Args["words", AllParam, Field(default=())],
    ),
    **dict.fromkeys(("status", "profile", "group", "stats"), Args["form?", str]),
}


class _CallRule(Rule):
    """Alconna's rule, asked for calls of ``/memory`` only: it takes a dozen tasks and most of a millisecond.

    The first call loads the subcommands' handlers, in a thread. NoneBot reads a matcher's handlers after its rule ran,
    so that this call is answered, too.
    """

    async def __call__(self, bot: Bot, event: Event, *others: Any) -> bool:
        if event.get_type() != "message" or not is_ours(event.get_plaintext()):
            return False
        await asyncio.to_thread(import_module, ".subcommands", __package__)
        return await super().__call__(bot, event, *others)


_COMMAND = Alconna(
    f"re:{HEAD}",
    *(Subcommand(name, _ARGUMENTS.get(name, Args())) for name in SUBCOMMANDS),
    namespace=_NAMESPACE,
    meta=CommandMeta(description=replies.label.PLUGIN_NAME),
)
memory_command = on_alconna(
    _COMMAND,
    skip_for_unmatch=False,
    auto_send_output=False,
    use_cmd_start=False,
    use_cmd_sep=False,
    use_origin=False,
    extensions=[CallForm],
    priority=0,  # before chat plugins, whose default priority is 1
    block=True,
)
memory_command.rule = _CallRule(*memory_command.rule.checkers)
with command_manager.update(_COMMAND):
    _COMMAND.meta.context_style = None  # ALCONNA_CONTEXT_STYLE would make Alconna evaluate what people write
_pace = CommandRate()


@memory_command.handle()
async def admit(bot: Bot, event: Event, result: AlcMatches) -> None:
    """Pass the call to its subcommand, or reply with the reason for refusing it."""
    scene = find_scene(bot, event)
    wait = await _wait(bot, event, scene)
    if wait is None:
        await memory_command.finish()
    refusal = replies.commands.TOO_OFTEN.format(seconds=wait) if wait else await _refusal(bot, event, scene, result)
    if refusal:
        await say(bot, event, refusal)
        await memory_command.finish()


async def answer(bot: Bot, event: Event, work: Awaitable[str | PictureAnswer]) -> None:
    """Reply with the result of the work, as a picture if possible, or with one sentence on why the work failed."""
    try:
        result = await work
    except core.MistakeError as mistake:
        result = str(mistake)
    except core.CognitiveMemoryError as away:
        complain(str(away))
        result = replies.commands.TROUBLE
    await say(bot, event, result)


async def say(bot: Bot, event: Event, result: str | PictureAnswer) -> None:
    """Send a reply that is not recorded; in a group that never got the notice of ``capture.announce``, send that, too.

    A reply that the platform refuses is logged, not raised.
    """
    with unrecorded():
        try:
            if isinstance(result, str) or not await is_shown(bot, event, result.card):
                await _say_text(bot, event, result if isinstance(result, str) else result.text)
        except AdapterException as refused:
            complain(replies.log.NOT_ANSWERED.format(reason=type(refused).__name__))
            return
        if scene := find_scene(bot, event):
            await announce(bot, event, scene)


async def _say_text(bot: Bot, event: Event, text: str) -> None:
    if len(text) > REPLY_LENGTH:
        await send_long(bot, event, text)
    else:
        await bot.send(event, spoken(bot, text))


async def _wait(bot: Bot, event: Event, scene: core.Scene | None) -> int | None:
    """Return the seconds until this call may be carried out, None if told already.

    Superusers never wait, nor does the call that confirms an earlier one; pages of lists are limited separately.
    """
    text = event.get_plaintext()
    subcommand = called_subcommand(text)
    if await SUPERUSER(bot, event) or (scene and subcommand and confirmations.is_open(scene, subcommand)):
        return 0
    is_page = subcommand in PAGED and any(map(str.isdigit, text))
    return _pace.wait((bot.self_id, scene.user_id if scene else event.get_session_id()), is_page=is_page)


async def _refusal(bot: Bot, event: Event, scene: core.Scene | None, result: Arparma) -> str:
    if scene is None:
        return replies.commands.NOBODY
    subcommand = called_subcommand(event.get_plaintext())
    if not result.matched or len(result.subcommands) > 1:
        if subcommand:
            return replies.usage.usage(subcommand)
        nearest = nearest_subcommand(event.get_plaintext())
        return replies.usage.nearest(nearest) if nearest else replies.commands.UNKNOWN_SUBCOMMAND
    memory = get_memory()
    if memory.is_running or subcommand in (None, "help") or (lifetime.is_open and subcommand in ONES_OWN):
        return ""
    if lifetime.is_listening:
        return replies.commands.OPENING
    return replies.commands.off(memory.reason if await SUPERUSER(bot, event) else "")
