"""Commands on a place: help, status, switch, summary, erasing, and those on a group's beliefs and suggestions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from nonebot.permission import SUPERUSER

import cognitive_memory_core as core

from .. import injected, replies
from ..auto_consider import considerer
from ..cards import status_card
from ..config import setup
from ..erasure import erased_place
from ..lifecycle import get_memory, lifetime
from .answering import Answer
from .authority import check_admin, check_own, find_admin
from .calls import Call, is_confirmed, show, shown, shown_id
from .memories import showing

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
    await check_own(call)
    memory, scene = get_memory(), call.here
    newest = tuple(found.id for found in await memory.events(scene, limit=1))
    pins = tuple(pin.id for pin in await memory.pins(scene))
    if not is_confirmed(call, (newest, pins)):
        return replies.commands.CONFIRM_CLEAR
    return replies.commands.erased(await erased_place(scene))


async def show_help(call: Call) -> str:
    """Reply with the commands that the asker may use."""
    is_superuser = await SUPERUSER(call.bot, call.event)
    decides = is_superuser or call.here.kind == "private" or bool(await find_admin(call.bot, call.event))
    return replies.commands.help_text(call.here, decides=decides, is_superuser=is_superuser)


async def show_status(call: Call) -> Answer:
    """Reply with the state of the memory."""
    memory, scene = get_memory(), call.here
    now, here, pins = await memory.status(), await memory.activity(scene), len(await memory.pins(scene))
    remarks = [
        *replies.status.switch_remarks(await memory.place_switch(scene), setup.settings.zone),
        *replies.status.status_remarks(now, considerer.waiting(scene)),
    ]
    if lifetime.refused:
        remarks.append(("bad", lifetime.refused))
    return status_card(now, here, pins, remarks, f"{datetime.now(setup.settings.zone):%Y-%m-%d %H:%M}")


PAGE, LAST_PAGE = 10, 100
DAYS, MOST_DAYS = 7, 366
MOST_SHOWN = 10  # suggestions


async def list_beliefs(call: Call) -> str:
    """List the group's beliefs, strongest first, then the retired ones."""
    page = min(max(call.number or 1, 1), LAST_PAGE)
    first = (page - 1) * PAGE
    found = await get_memory().beliefs(call.here, status="all", limit=PAGE, offset=first)
    if not found.beliefs:
        return replies.memories.NOTHING_YET if page == 1 else replies.commands.NO_PAGE.format(page=page)
    _show(call.here, found.beliefs, first + 1)
    return replies.memories.listed(found, setup.settings.zone, first + 1, page, is_more=found.total > first + PAGE)


async def show_history(call: Call) -> str:
    """Show the versions of a belief, oldest first; each can be restored by its number."""
    belief_id = shown_id(call.here, "beliefs", call.number)
    versions = await get_memory().belief_history(call.here, belief_id)
    _show(call.here, versions)
    return replies.memories.history(versions, setup.settings.zone)


async def show_changes(call: Call) -> str:
    """Show what changed in the group's beliefs in the last days."""
    days = _days(call, DAYS)
    changes = await get_memory().belief_changes(call.here, days=days)
    return replies.memories.changes(changes, days, setup.settings.zone)


async def evolve(call: Call) -> str:
    """Update the beliefs of the group now, from what was said in the last days."""
    evolution = await get_memory().evolve(call.here, days=_days(call, 1))
    return replies.memories.evolved(evolution, setup.settings.zone)


async def retire(call: Call) -> str:
    """Retire a belief of the list shown last; it can be restored."""
    belief_id = shown_id(call.here, "beliefs", call.number)
    belief = await get_memory().retire_belief(call.here, belief_id, "")
    return replies.memories.RETIRED.format(belief=replies.memories.held(belief, setup.settings.zone))


async def restore(call: Call) -> str:
    """Restore the item with this number in the list shown last: a belief, an older version, or a forgotten event."""
    if call.here.kind == "private" or shown.find((call.here, "forgotten")):
        event_id = shown_id(call.here, "forgotten", call.number)
        event = await get_memory().restore_event(call.here, event_id)
        return replies.memories.RESTORED.format(text=(await showing(call.here, [event])).short(event))
    await check_admin(call, replies.memories.RESTORE_REFUSED)
    belief_id = shown_id(call.here, "beliefs", call.number)
    belief = await get_memory().restore_belief(call.here, belief_id)
    return replies.memories.RESTORED.format(text=replies.memories.held(belief, setup.settings.zone))


async def suggest(call: Call) -> str:
    """List the open suggestions, or accept or dismiss one of the list shown last."""
    if not call.text:
        found = (await get_memory().suggestions(call.here))[:MOST_SHOWN]
        show(call.here, "suggestions", found)
        return replies.memories.suggestions(found, setup.settings.zone)
    word, _, number = call.text.partition(" ")
    accept = replies.memories.DECISIONS.get(word.casefold())
    if accept is None or not number.strip().isdecimal():
        return call.usage
    suggestion_id = shown_id(call.here, "suggestions", int(number.strip()[:9]))
    await get_memory().decide_suggestion(call.here, suggestion_id, accept)
    return replies.memories.ACCEPTED if accept else replies.memories.DISMISSED


def _days(call: Call, default: int) -> int:
    return min(max(default if call.number is None else call.number, 1), MOST_DAYS)


def _show(scene: core.Scene, beliefs: Sequence[core.Belief], first: int = 1) -> None:
    """Store these beliefs as the list shown last: ``restore`` no longer means a forgotten event."""
    shown.drop((scene, "forgotten"))
    show(scene, "beliefs", beliefs, first)
