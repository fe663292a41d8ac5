"""Commands on the plugin itself: help and status."""

from __future__ import annotations

from nonebot.adapters import Bot, Event
from nonebot.permission import SUPERUSER

import cognitive_memory_core as core

from .. import replies
from ..auto_consider import considerer
from ..lifecycle import get_memory, lifetime
from ..params import Here
from .authority import find_admin
from .entry import answer, memory_command


@memory_command.assign("help", or_not=True)
async def show_help(bot: Bot, event: Event, here: Here) -> None:
    """Reply with the commands that the asker may use."""
    await answer(bot, event, _help(bot, event, here))


@memory_command.assign("status")
async def show_status(bot: Bot, event: Event, here: Here) -> None:
    """Reply with the state of the memory."""
    await answer(bot, event, _status(here))


async def _help(bot: Bot, event: Event, scene: core.Scene) -> str:
    is_superuser = await SUPERUSER(bot, event)
    decides = is_superuser or scene.kind == "private" or bool(await find_admin(bot, event))
    return replies.commands.help_text(scene, decides=decides, is_superuser=is_superuser)


async def _status(scene: core.Scene) -> str:
    lines = [replies.commands.status(await get_memory().status())]
    gathered, seconds = considerer.gathered(scene)
    if gathered:
        lines.append(replies.commands.gathered(gathered, seconds))
    refused = lifetime.refused
    if refused:
        lines.append(replies.log.CAME_TOO_EARLY.format(lines=refused.lines, calls=refused.calls))
    return "\n".join(lines)
