"""Commands on a place: help and status, switch, considering now, summary, erasing."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from nonebot.permission import SUPERUSER

import cognitive_memory_core as core

from .. import injected, replies
from ..auto_consider import considerer
from ..config import setup
from ..erasure import erased_place
from ..lifecycle import get_memory, lifetime
from .authority import contradiction, find_admin
from .entry import Answer, Call
from .pacing import is_confirmed

LINES, MOST_LINES = 50, 200
SUMMARY_TOKENS = 600
_SWITCHES: dict[str, Literal["on", "off", "record_only", "recall_only"]] = {
    "on": "on",
    "off": "off",
    "record": "record_only",
    "recall": "recall_only",
}


async def switch(call: Call) -> str:
    """Record and recall here, only one of them, or neither; until an instant if the words name one."""
    wanted, said, zone = _SWITCHES[call.command.name], call.text, setup.settings.zone
    now = datetime.now(zone)
    until = core.time_limit(said, now) if said else None
    if said and wanted == "on":
        return replies.commands.ON_HAS_NO_END
    if said and until is None:
        return replies.commands.NO_TIME.format(said=replies.commands.short(said))
    if until and until <= now:
        return replies.commands.OVER.format(until=replies.commands.instant(until, zone).strip())
    await get_memory().set_switch(call.here, wanted, until=until)
    return replies.commands.switched(wanted, until, zone)


async def consider_now(call: Call) -> str:
    """Hand the recent lines of this place to the historian now."""
    try:
        job_id = await injected.submit_dialogue(call.here)
    except core.UnavailableError:
        return replies.commands.CONSIDER_REFUSED
    return replies.commands.CONSIDERED if job_id else replies.commands.NOTHING_TO_CONSIDER


async def summarize(call: Call) -> str:
    """Summarise the latest lines of this place."""
    memory, count = get_memory(), LINES if call.number is None else call.number
    lines = await memory.recent_messages(call.here, min(max(count, 1), MOST_LINES))
    if not lines:
        return replies.commands.NOTHING_SAID
    if "historian" in (await memory.status()).without_model:
        return replies.memories.latest_lines(lines)
    return replies.commands.SUMMARY.format(count=len(lines), text=await memory.compress(lines, budget=SUMMARY_TOKENS))


async def clear(call: Call) -> str:
    """Erase this place, after a second call confirms it."""
    if refusal := await contradiction(call.bot, call.event):
        return refusal
    memory, scene = get_memory(), call.here
    newest = tuple(found.id for found in await memory.events(scene, limit=1))
    pins = tuple(pin.id for pin in await memory.pins(scene))
    if not is_confirmed(scene, "clear", (newest, pins), call.message_id):
        return replies.commands.CONFIRM_CLEAR_GROUP if scene.group_id else replies.commands.CONFIRM_CLEAR_PRIVATE
    return replies.commands.erased(await erased_place(scene))


async def show_help(call: Call) -> str:
    """Reply with the commands that the asker may use."""
    is_superuser = await SUPERUSER(call.bot, call.event)
    decides = is_superuser or call.here.kind == "private" or bool(await find_admin(call.bot, call.event))
    return replies.usage.help_text(call.here, decides=decides, is_superuser=is_superuser)


async def show_status(call: Call) -> Answer:
    """Reply with the state of the memory."""
    memory, scene = get_memory(), call.here
    now, here, pins = await memory.status(), await memory.activity(scene), len(await memory.pins(scene))
    remarks = [
        *replies.status.switch_remarks(await memory.place_switch(scene), setup.settings.zone),
        *replies.status.status_remarks(now, considerer.waiting_count(scene)),
    ]
    if lifetime.refused:
        remarks.append(("bad", lifetime.refused))
    title, at = replies.status.status_title(now), f"{datetime.now(setup.settings.zone):%Y-%m-%d %H:%M}"
    return replies.status.status(now, here, pins, remarks), ("status_card", title, here, pins, remarks, at)
