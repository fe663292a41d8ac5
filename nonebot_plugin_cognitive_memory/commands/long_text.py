"""Sends answers that are too long for one message: as a merged forward, or in parts where that is refused."""

from __future__ import annotations

from nonebot.adapters import Bot, Event
from nonebot.exception import AdapterException

from .. import replies
from ..message_text import spoken
from ..onebot import v11

PART = 800  # characters
MOST_PARTS = 12


async def send_long(bot: Bot, event: Event, text: str) -> None:
    """Send a text of any length in up to twelve parts; if that is too few, the last part says that the text is cut."""
    parts = parts_of(text)
    if isinstance(event, v11.MessageEvent) and await _is_forwarded(bot, event, parts):
        return
    for part in parts:
        await bot.send(event, spoken(bot, part))


def parts_of(text: str) -> list[str]:
    """Split a text at line ends into parts of at most 800 characters."""
    parts: list[str] = []
    for line in _pieces(text):
        if parts and len(parts[-1]) + 1 + len(line) <= PART:
            parts[-1] += f"\n{line}"
        else:
            parts.append(line)
    return parts if len(parts) <= MOST_PARTS else [*parts[: MOST_PARTS - 1], replies.commands.CUT]


def _pieces(text: str) -> list[str]:
    return [line[start : start + PART] for line in text.split("\n") for start in range(0, max(len(line), 1), PART)]


async def _is_forwarded(bot: Bot, event: v11.MessageEvent, parts: list[str]) -> bool:
    name, account = replies.label.PLUGIN_NAME, int(bot.self_id)
    nodes = [
        v11.MessageSegment.node_custom(account, name, v11.Message(v11.MessageSegment.text(part))) for part in parts
    ]
    try:
        if isinstance(event, v11.GroupMessageEvent):
            await bot.call_api("send_group_forward_msg", group_id=event.group_id, messages=nodes)
        else:
            await bot.call_api("send_private_forward_msg", user_id=event.user_id, messages=nodes)
    except AdapterException:
        return False
    return True
