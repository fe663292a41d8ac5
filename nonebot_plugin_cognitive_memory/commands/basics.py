"""Help and status."""

from __future__ import annotations

from nonebot.adapters import Bot, Event

from .. import replies
from ..lifecycle import get_memory, lifetime
from .entry import answer, memory_command, say


@memory_command.assign("help", or_not=True)
async def show_help(bot: Bot, event: Event) -> None:
    """Reply with the list of commands."""
    await say(bot, event, replies.commands.HELP)


@memory_command.assign("status")
async def show_status(bot: Bot, event: Event) -> None:
    """Reply with the state of the memory."""
    await answer(bot, event, _status())


async def _status() -> str:
    said, refused = replies.commands.status(await get_memory().status()), lifetime.refused
    return f"{said}\n{replies.log.CAME_TOO_EARLY.format(lines=refused.lines, calls=refused.calls)}" if refused else said
