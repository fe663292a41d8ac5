"""Commands on the plugin itself: help and status."""

from __future__ import annotations

from datetime import datetime

from nonebot.adapters import Bot, Event
from nonebot.permission import SUPERUSER
from nonebot_plugin_alconna import Match

import cognitive_memory_core as core

from .. import replies
from ..auto_consider import considerer
from ..config import setup
from ..dependencies import Here
from ..lifecycle import get_memory, lifetime
from .authority import find_admin
from .entry import answer, memory_command
from .pictures import PictureAnswer, wants_text


@memory_command.assign("help", or_not=True)
async def show_help(bot: Bot, event: Event, here: Here) -> None:
    """Reply with the commands that the asker may use."""
    await answer(bot, event, _help(bot, event, here))


@memory_command.assign("status")
async def show_status(bot: Bot, event: Event, here: Here, form: Match[str]) -> None:
    """Reply with the state of the memory."""
    await answer(bot, event, _status(here, form.result if form.available else ""))


async def _help(bot: Bot, event: Event, scene: core.Scene) -> str:
    is_superuser = await SUPERUSER(bot, event)
    decides = is_superuser or scene.kind == "private" or bool(await find_admin(bot, event))
    return replies.usage.help_text(scene, decides=decides, is_superuser=is_superuser)


async def _status(scene: core.Scene, form: str) -> str | PictureAnswer:
    as_text = wants_text(form)
    if as_text is None:
        return replies.usage.usage("status")
    memory = get_memory()
    now, here, pins = await memory.status(), await memory.activity(scene), len(await memory.pins(scene))
    remarks = [
        *replies.status.switch_remarks(await memory.place_switch(scene), setup.settings.zone),
        *replies.status.status_remarks(now, considerer.waiting_count(scene)),
    ]
    if refused := lifetime.refused:
        too_early = replies.log.CAME_TOO_EARLY.format(lines=refused.lines, calls=refused.calls)
        remarks += replies.status.toned("bad", [too_early])
    text = replies.status.status(now, here, pins, remarks)
    if as_text:
        return text
    title, at = replies.status.status_title(now), f"{datetime.now(setup.settings.zone):%Y-%m-%d %H:%M}"
    from ..cards.contents import status_card  # noqa: PLC0415  # cards load with the first one

    return PictureAnswer(text, status_card(title, here, pins, remarks, at))
