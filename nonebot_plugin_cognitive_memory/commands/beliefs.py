"""Commands of admins on the group's beliefs: list, history, changes, evolve, retire, restore."""

from __future__ import annotations

from collections.abc import Sequence

from nonebot.adapters import Bot, Event
from nonebot_plugin_alconna import Match

import cognitive_memory_core as core

from .. import replies
from ..config import setup
from ..dependencies import Here
from ..lifecycle import get_memory
from .authority import objection
from .entry import answer, memory_command
from .forgotten import restored, shown_forgotten
from .numbers import ShownLists

PAGE = 10
LAST_PAGE = 100
DAYS, MOST_DAYS = 7, 366
shown_beliefs = ShownLists()


@memory_command.assign("beliefs")
async def list_beliefs(bot: Bot, event: Event, here: Here, page: Match[int]) -> None:
    """List the group's beliefs, strongest first, then the retired ones."""
    await answer(bot, event, _listed(bot, event, here, page.result if page.available else 1))


@memory_command.assign("history")
async def show_history(bot: Bot, event: Event, here: Here, number: Match[int]) -> None:
    """Show the versions of a belief, oldest first; each can be restored by its number."""
    await answer(bot, event, _history(bot, event, here, number.result))


@memory_command.assign("changes")
async def show_changes(bot: Bot, event: Event, here: Here, days: Match[int]) -> None:
    """Show what changed in the group's beliefs in the last ``days``."""
    await answer(bot, event, _changes(bot, event, here, days.result if days.available else DAYS))


@memory_command.assign("evolve")
async def evolve(bot: Bot, event: Event, here: Here, days: Match[int]) -> None:
    """Update the beliefs of the group now, from what was said in the last ``days``."""
    await answer(bot, event, _evolved(bot, event, here, days.result if days.available else 1))


@memory_command.assign("retire")
async def retire(bot: Bot, event: Event, here: Here, number: Match[int]) -> None:
    """Retire a belief of the list shown last; it can be restored."""
    await answer(bot, event, _retired(bot, event, here, number.result))


@memory_command.assign("restore")
async def restore(bot: Bot, event: Event, here: Here, number: Match[int]) -> None:
    """Restore the item with this number in the list shown last: a belief, an older version, or a forgotten event."""
    await answer(bot, event, _restored(bot, event, here, number.result))


async def _listed(bot: Bot, event: Event, scene: core.Scene, page: int) -> str:
    if refusal := await _objection(bot, event, scene):
        return refusal
    page = min(max(page, 1), LAST_PAGE)
    first = (page - 1) * PAGE
    found = await get_memory().beliefs(scene, status="all", limit=PAGE, offset=first)
    if not found.beliefs:
        return replies.beliefs.NOTHING_YET if page == 1 else replies.commands.NO_PAGE.format(page=page)
    _show(scene, found.beliefs, first + 1)
    return replies.beliefs.listed(found, first + 1, page, is_more=found.total > first + PAGE)


async def _history(bot: Bot, event: Event, scene: core.Scene, number: int) -> str:
    if refusal := await _objection(bot, event, scene):
        return refusal
    shown = shown_beliefs.find(scene, number)
    if shown is None:
        return replies.beliefs.NUMBER_UNKNOWN
    versions = await get_memory().belief_history(scene, shown.id)
    _show(scene, versions)
    return replies.beliefs.history(versions, setup.settings.zone)


async def _changes(bot: Bot, event: Event, scene: core.Scene, days: int) -> str:
    if refusal := await _objection(bot, event, scene):
        return refusal
    days = min(max(days, 1), MOST_DAYS)
    changes = await get_memory().belief_changes(scene, days=days)
    return replies.beliefs.changes(changes, days, setup.settings.zone)


async def _evolved(bot: Bot, event: Event, scene: core.Scene, days: int) -> str:
    if refusal := await _objection(bot, event, scene):
        return refusal
    evolution = await get_memory().evolve(scene, days=min(max(days, 1), MOST_DAYS))
    return replies.beliefs.evolved(evolution)


async def _retired(bot: Bot, event: Event, scene: core.Scene, number: int) -> str:
    if refusal := await _objection(bot, event, scene):
        return refusal
    shown = shown_beliefs.find(scene, number)
    if shown is None:
        return replies.beliefs.NUMBER_UNKNOWN
    belief = await get_memory().retire_belief(scene, shown.id, "")
    return replies.beliefs.RETIRED.format(statement=belief.statement)


async def _restored(bot: Bot, event: Event, scene: core.Scene, number: int) -> str:
    if scene.kind == "private" or shown_forgotten.is_valid(scene):
        return await restored(scene, number)
    if refusal := await _objection(bot, event, scene):
        return replies.beliefs.restore_refused(refusal)
    shown = shown_beliefs.find(scene, number)
    if shown is None:
        return replies.beliefs.NUMBER_UNKNOWN
    belief = await get_memory().restore_belief(scene, shown.id)
    return replies.beliefs.RESTORED.format(statement=belief.statement)


def _show(scene: core.Scene, beliefs: Sequence[core.Belief], first: int = 1) -> None:
    """Store these beliefs as the list shown last, numbered from ``first``."""
    shown_forgotten.drop(scene)
    shown_beliefs.show(scene, beliefs, first)


async def _objection(bot: Bot, event: Event, scene: core.Scene) -> str:
    """Return why the asker may not use a command on the group's beliefs here; "" if allowed."""
    if scene.kind != "group":
        return replies.commands.ONLY_IN_GROUPS
    return await objection(bot, event, replies.commands.ADMINS_ONLY)
