"""Commands on a place: switch, considering now, summary, erasing; in a group all but considering need an admin."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from nonebot.adapters import Bot, Event
from nonebot_plugin_alconna import Match

import cognitive_memory_core as core

from .. import record_end_of_turn, replies
from ..config import setup
from ..dependencies import Here
from ..erasure import erased_place
from ..lifecycle import get_memory
from .authority import contradiction, objection
from .confirmations import call_id, confirmations
from .entry import answer, memory_command
from .plain_text import words_of

LINES, MOST_LINES = 50, 200
SUMMARY_TOKENS = 600
Switch = Literal["on", "off", "record_only", "recall_only"]


@memory_command.assign("on")
async def switch_on(bot: Bot, event: Event, here: Here, words: Match[tuple[object, ...]]) -> None:
    """Record and recall here."""
    await answer(bot, event, _switched(bot, event, here, "on", words))


@memory_command.assign("off")
async def switch_off(bot: Bot, event: Event, here: Here, words: Match[tuple[object, ...]]) -> None:
    """Neither record nor recall here."""
    await answer(bot, event, _switched(bot, event, here, "off", words))


@memory_command.assign("record")
async def record_only(bot: Bot, event: Event, here: Here, words: Match[tuple[object, ...]]) -> None:
    """Record here, and recall nothing."""
    await answer(bot, event, _switched(bot, event, here, "record_only", words))


@memory_command.assign("recall")
async def recall_only(bot: Bot, event: Event, here: Here, words: Match[tuple[object, ...]]) -> None:
    """Recall here, and record nothing."""
    await answer(bot, event, _switched(bot, event, here, "recall_only", words))


@memory_command.assign("consider")
async def consider_now(bot: Bot, event: Event, here: Here) -> None:
    """Hand the recent lines of this place to the historian now."""
    await answer(bot, event, _considered(here))


@memory_command.assign("summarize")
async def summarize(bot: Bot, event: Event, here: Here, count: Match[int]) -> None:
    """Summarise the latest lines of this place."""
    await answer(bot, event, _summarized(bot, event, here, count.result if count.available else LINES))


@memory_command.assign("clear")
async def clear(bot: Bot, event: Event, here: Here) -> None:
    """Erase this place, after a second call confirms it."""
    await answer(bot, event, _cleared(bot, event, here))


async def _switched(bot: Bot, event: Event, scene: core.Scene, switch: Switch, words: Match[tuple[object, ...]]) -> str:
    refusal = await _objection(bot, event, scene)
    if refusal:
        return refusal
    said, zone = words_of(words.result) if words.available else "", setup.settings.zone
    now = datetime.now(zone)
    until = core.time_limit(said, now) if said else None
    if said and switch == "on":
        return replies.commands.ON_HAS_NO_END
    if said and until is None:
        return replies.commands.no_time(said)
    if until and until <= now:
        return replies.commands.over(until, zone)
    await get_memory().set_switch(scene, switch, until=until)
    return replies.commands.switched(switch, until, zone)


async def _considered(scene: core.Scene) -> str:
    try:
        job_id = await record_end_of_turn.submit_dialogue(scene)
    except core.UnavailableError:
        return replies.commands.CONSIDER_REFUSED
    return replies.commands.CONSIDERED if job_id else replies.commands.NOTHING_TO_CONSIDER


async def _summarized(bot: Bot, event: Event, scene: core.Scene, count: int) -> str:
    refusal = await _objection(bot, event, scene)
    if refusal:
        return refusal
    memory = get_memory()
    lines = await memory.recent_messages(scene, min(max(count, 1), MOST_LINES))
    if not lines:
        return replies.commands.NOTHING_SAID
    if "historian" in (await memory.status()).without_model:
        return replies.memories.latest_lines(lines)
    return replies.commands.SUMMARY.format(count=len(lines), text=await memory.compress(lines, budget=SUMMARY_TOKENS))


async def _cleared(bot: Bot, event: Event, scene: core.Scene) -> str:
    refusal = await _objection(bot, event, scene) or await contradiction(bot, event)
    if refusal:
        return refusal
    memory = get_memory()
    newest = tuple(found.id for found in await memory.events(scene, limit=1))
    pins = tuple(pin.id for pin in await memory.pins(scene))
    if not confirmations.is_confirmed(scene, "clear", (newest, pins), call_id(event)):
        return replies.commands.CONFIRM_CLEAR_GROUP if scene.group_id else replies.commands.CONFIRM_CLEAR_PRIVATE
    return replies.commands.erased(await erased_place(scene))


async def _objection(bot: Bot, event: Event, scene: core.Scene) -> str:
    """Return why the asker may not decide for this place; "" if allowed, as always in the asker's private chat."""
    return "" if scene.kind == "private" else await objection(bot, event, replies.commands.ADMINS_ONLY)
