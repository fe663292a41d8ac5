"""Commands of admins on the group's beliefs and suggestions."""

from __future__ import annotations

from collections.abc import Sequence

import cognitive_memory_core as core

from .. import replies
from ..config import setup
from ..lifecycle import get_memory
from .authority import objection
from .entry import Call
from .pacing import show, shown, shown_id

PAGE, LAST_PAGE = 10, 100
DAYS, MOST_DAYS = 7, 366
MOST_SHOWN = 10  # suggestions


async def list_beliefs(call: Call) -> str:
    """List the group's beliefs, strongest first, then the retired ones."""
    page = min(max(call.number or 1, 1), LAST_PAGE)
    first = (page - 1) * PAGE
    found = await get_memory().beliefs(call.here, status="all", limit=PAGE, offset=first)
    if not found.beliefs:
        return replies.beliefs.NOTHING_YET if page == 1 else replies.commands.NO_PAGE.format(page=page)
    _show(call.here, found.beliefs, first + 1)
    return replies.beliefs.listed(found, first + 1, page, is_more=found.total > first + PAGE)


async def show_history(call: Call) -> str:
    """Show the versions of a belief, oldest first; each can be restored by its number."""
    belief_id = shown_id(call.here, "beliefs", call.number)
    if belief_id is None:
        return replies.beliefs.NUMBER_UNKNOWN
    versions = await get_memory().belief_history(call.here, belief_id)
    _show(call.here, versions)
    return replies.beliefs.history(versions, setup.settings.zone)


async def show_changes(call: Call) -> str:
    """Show what changed in the group's beliefs in the last days."""
    days = _days(call, DAYS)
    changes = await get_memory().belief_changes(call.here, days=days)
    return replies.beliefs.changes(changes, days, setup.settings.zone)


async def evolve(call: Call) -> str:
    """Update the beliefs of the group now, from what was said in the last days."""
    return replies.beliefs.evolved(await get_memory().evolve(call.here, days=_days(call, 1)))


async def retire(call: Call) -> str:
    """Retire a belief of the list shown last; it can be restored."""
    belief_id = shown_id(call.here, "beliefs", call.number)
    if belief_id is None:
        return replies.beliefs.NUMBER_UNKNOWN
    belief = await get_memory().retire_belief(call.here, belief_id, "")
    return replies.beliefs.RETIRED.format(statement=belief.statement)


async def restore(call: Call) -> str:
    """Restore the item with this number in the list shown last: a belief, an older version, or a forgotten event."""
    if call.here.kind == "private" or shown.find((call.here, "forgotten")):
        event_id = shown_id(call.here, "forgotten", call.number)
        if event_id is None:
            return replies.commands.FORGOTTEN_NUMBER_UNKNOWN
        return replies.memories.restored(await get_memory().restore_event(call.here, event_id))
    if refusal := await objection(call.bot, call.event, replies.commands.ADMINS_ONLY):
        return replies.beliefs.RESTORE_REFUSED.format(refusal=refusal)
    belief_id = shown_id(call.here, "beliefs", call.number)
    if belief_id is None:
        return replies.beliefs.NUMBER_UNKNOWN
    belief = await get_memory().restore_belief(call.here, belief_id)
    return replies.beliefs.RESTORED.format(statement=belief.statement)


async def suggest(call: Call) -> str:
    """List the open suggestions, or accept or dismiss one of the list shown last."""
    if not call.text:
        found = (await get_memory().suggestions(call.here))[:MOST_SHOWN]
        show(call.here, "suggestions", found)
        return replies.beliefs.suggestions(found, setup.settings.zone)
    word, _, number = call.text.partition(" ")
    accept = replies.beliefs.DECISIONS.get(word.casefold())
    if accept is None or not number.strip().isdecimal():
        return call.usage
    suggestion_id = shown_id(call.here, "suggestions", int(number.strip()[:9]))
    if suggestion_id is None:
        return replies.beliefs.SUGGESTION_UNKNOWN
    await get_memory().decide_suggestion(call.here, suggestion_id, accept)
    return replies.beliefs.ACCEPTED if accept else replies.beliefs.DISMISSED


def _days(call: Call, default: int) -> int:
    return min(max(default if call.number is None else call.number, 1), MOST_DAYS)


def _show(scene: core.Scene, beliefs: Sequence[core.Belief], first: int = 1) -> None:
    """Store these beliefs as the list shown last: ``restore`` no longer means a forgotten event."""
    shown.drop((scene, "forgotten"))
    show(scene, "beliefs", beliefs, first)
