"""Commands on the plugin itself: help and status."""

from __future__ import annotations

from datetime import datetime

from nonebot.permission import SUPERUSER

from .. import replies
from ..auto_consider import considerer
from ..config import setup
from ..lifecycle import get_memory, lifetime
from .authority import find_admin
from .entry import Call
from .pictures import PictureAnswer


async def show_help(call: Call) -> str:
    """Reply with the commands that the asker may use."""
    is_superuser = await SUPERUSER(call.bot, call.event)
    decides = is_superuser or call.here.kind == "private" or bool(await find_admin(call.bot, call.event))
    return replies.usage.help_text(call.here, decides=decides, is_superuser=is_superuser)


async def show_status(call: Call) -> str | PictureAnswer:
    """Reply with the state of the memory."""
    memory, scene = get_memory(), call.here
    now, here, pins = await memory.status(), await memory.activity(scene), len(await memory.pins(scene))
    remarks = [
        *replies.status.switch_remarks(await memory.place_switch(scene), setup.settings.zone),
        *replies.status.status_remarks(now, considerer.waiting_count(scene)),
    ]
    if refused := lifetime.refused:
        too_early = replies.log.CAME_TOO_EARLY.format(lines=refused.lines, calls=refused.calls)
        remarks += replies.status.toned("bad", [too_early])
    text = replies.status.status(now, here, pins, remarks)
    if call.text:
        return text
    title, at = replies.status.status_title(now), f"{datetime.now(setup.settings.zone):%Y-%m-%d %H:%M}"
    from ..cards.contents import status_card  # noqa: PLC0415  # cards load with the first one

    return PictureAnswer(text, status_card(title, here, pins, remarks, at))
