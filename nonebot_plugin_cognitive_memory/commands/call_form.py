"""Rewrites a ``/memory`` command into its documented form before Alconna parses it."""

from __future__ import annotations

from datetime import datetime, timezone

from arclet.alconna import Alconna
from nonebot.adapters import Bot, Event
from nonebot_plugin_alconna import Extension, Text, UniMessage

import cognitive_memory_core as core

from ..command_detection import called_subcommand, in_standard_form
from ..event_message import find_message
from ..lifecycle import get_memory
from ..message_text import worded
from ..onebot import v11, v12
from ..platform_names import name_of
from ..scene import agent_of, find_scene, qq_id, scene_at

CALL_WORDS = 2  # the command and its subcommand


class CallForm(Extension):
    """Removes what precedes the command in a message (a mention, a face, a reply) and normalises its spelling."""

    @property
    def priority(self) -> int:
        """Run before other extensions."""
        return 10

    @property
    def id(self) -> str:
        """Name this extension for Alconna."""
        return "nonebot_plugin_cognitive_memory:call_form"

    async def receive_wrapper(
        self,
        bot: Bot,
        event: Event,
        command: Alconna,  # noqa: ARG002  # the signature of Alconna's hook
        receive: UniMessage,
    ) -> UniMessage:
        """Return the message from its first text on, with the command rewritten into its documented form.

        A pin command without words gets the text of the message that it replies to.
        """
        parts = list(receive)
        while parts and not (isinstance(parts[0], Text) and parts[0].text.strip()):
            parts.pop(0)
        if not parts:
            return receive
        first = parts[0]
        said = first.text if isinstance(first, Text) else ""
        call, rest = in_standard_form(said), parts[1:]
        if called_subcommand(said) == "add" and not rest and len(call.split()) <= CALL_WORDS:
            call = f"{call} {await replied_to(bot, event)}".rstrip()
        return UniMessage([Text(call), *rest])


async def replied_to(bot: Bot, event: Event) -> str:
    """Return the message that a command replies to, quoted behind its speaker's name.

    "" if there is none, if it could not be fetched, or if its speaker must not be recorded.
    """
    if isinstance(event, v12.MessageEvent):
        return await _logged_line(bot, event)
    reply = event.reply if isinstance(event, v11.MessageEvent) else None
    if reply is None:
        return ""
    said, speaker = worded(reply.message).text, qq_id(reply.sender.user_id)
    if not said or not speaker or speaker == bot.self_id:
        return said
    here = find_scene(bot, event)
    where = scene_at(agent_of(bot), here.group_id if here else "", speaker)
    at = datetime.fromtimestamp(reply.time, tz=timezone.utc)
    if where is None or not get_memory().is_running or not await get_memory().may_record(where, at):
        return ""
    return f"{name_of(reply.sender) or 'QQ'}({speaker})：“{said}”"


async def _logged_line(bot: Bot, event: v12.MessageEvent) -> str:
    """Return the message replied to from the log, because OneBot v12 sends only its id."""
    asking = find_message(bot, event)
    if asking is None or asking.reply_to is None:
        return ""
    try:
        lines = await get_memory().find_messages(asking.scene, [asking.reply_to])
    except core.CognitiveMemoryError:
        return ""
    said = next(iter(lines), None)
    if said is None or said.is_bot:
        return said.text if said else ""
    return f"{said.scene.user_name or 'QQ'}({said.sender_id})：“{said.text}”"
