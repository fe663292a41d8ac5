"""Brings a call into its documented form before Alconna parses it."""

from __future__ import annotations

from arclet.alconna import Alconna
from nonebot.adapters import Bot, Event
from nonebot_plugin_alconna import Extension, Text, UniMessage

from ..invocation import called_subcommand, in_standard_form
from ..onebot import v11
from ..scene import name_of, qq_id
from ..wording import worded

CALL_WORDS = 2  # the command and its subcommand


class CallForm(Extension):
    """Drops what stands before the command (a mention, a face, an unresolved reply) and normalises its spelling."""

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
        bot: Bot,  # noqa: ARG002  # the signature of Alconna's hook
        event: Event,
        command: Alconna,  # noqa: ARG002  # the signature of Alconna's hook
        receive: UniMessage,
    ) -> UniMessage:
        """Return the message from its first text on, with the call in its documented form."""
        parts = list(receive)
        while parts and not (isinstance(parts[0], Text) and parts[0].text.strip()):
            parts.pop(0)
        if not parts:
            return receive
        first = parts[0]
        said = first.text if isinstance(first, Text) else ""
        call, rest = in_standard_form(said), parts[1:]
        if called_subcommand(said) == "add" and not rest and len(call.split()) <= CALL_WORDS:
            call = f"{call} {replied_to(event)}".rstrip()
        return UniMessage([Text(call), *rest])


def replied_to(event: Event) -> str:
    """Return the message that a call replies to, with its speaker; "" if there is none or it could not be fetched."""
    reply = event.reply if isinstance(event, v11.MessageEvent) else None
    if reply is None:
        return ""
    said, speaker = worded(reply.message).text, qq_id(reply.sender.user_id)
    return f"{name_of(reply.sender) or 'QQ'}({speaker})：“{said}”" if said and speaker else said
