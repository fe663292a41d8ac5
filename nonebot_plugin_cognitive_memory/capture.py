"""Records incoming messages: no API call per message, and no exception reaches the bot."""

from __future__ import annotations

from nonebot import on_message
from nonebot.adapters import Bot, Event

from . import replies
from .auto_consider import considerer
from .incoming import find_message, is_captured
from .invocation import is_any_command
from .lifecycle import get_memory
from .throttled_log import complain

heard = on_message(priority=1, block=False)


@heard.handle()
async def record(bot: Bot, event: Event) -> None:
    """Record a person's message, unless it is a command or excluded by the settings."""
    try:
        message = find_message(bot, event)
        if message is None or not message.text or not is_captured(message.scene) or is_any_command(event):
            return
        await get_memory().observe(message)
        considerer.note(message)
    except Exception as unforeseen:  # noqa: BLE001  # capture must never cost the bot an event
        complain(replies.log.NOT_CAPTURED.format(reason=type(unforeseen).__name__))
