"""Lists and restores events that were forgotten by command; members restore only what they said themselves."""

from __future__ import annotations

from collections.abc import Sequence

from nonebot.adapters import Bot

import cognitive_memory_core as core

from .. import replies
from ..config import setup
from ..lifecycle import get_memory
from .entry import Call
from .group_names import group_names
from .numbers import ShownLists

PAGE = 10
LAST_PAGE = 1_000
shown_forgotten = ShownLists()


async def list_forgotten(bot: Bot, scene: core.Scene, page: int) -> str:
    """List the asker's events that can be restored, the latest forgotten first."""
    if page > LAST_PAGE:
        return replies.commands.NO_PAGE.format(page=page)
    page = max(page, 1)
    offset = (page - 1) * PAGE
    found = await get_memory().forgotten_events(scene, limit=PAGE + 1, offset=offset)
    events = found[:PAGE]
    if events:
        shown_forgotten.show(scene, events, offset + 1)
    else:
        shown_forgotten.drop(scene)
    shown = await showing(bot, scene, events)
    return replies.memories.forgotten_list(events, shown, first=offset + 1, page=page, is_more=len(found) > PAGE)


async def restored(call: Call) -> str:
    """Restore the event with this number in the list of forgotten events; return the reply."""
    shown = shown_forgotten.find(call.here, call.number or 0)
    if shown is None:
        return replies.commands.FORGOTTEN_NUMBER_UNKNOWN
    return replies.memories.restored(await get_memory().restore_event(call.here, shown.id))


async def showing(bot: Bot, scene: core.Scene, events: Sequence[core.Event]) -> replies.memories.Showing:
    """Return how events are shown to the asker: time zone, and names of the other groups in which they were said."""
    elsewhere = {event.group_id for event in events} - {"", scene.group_id}
    return replies.memories.Showing(scene, setup.settings.zone, await group_names(bot, elsewhere))
