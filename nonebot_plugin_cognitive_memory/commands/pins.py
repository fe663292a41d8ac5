"""Commands on pins: pin a fact for oneself or for the group, and list the pins."""

from __future__ import annotations

from nonebot.adapters import Bot, Event
from nonebot_plugin_alconna import Match

import cognitive_memory_core as core

from .. import replies
from ..config import setup
from ..dependencies import Here
from ..lifecycle import get_memory
from .authority import objection
from .entry import answer, memory_command
from .numbers import shown_lists
from .plain_text import words_of


@memory_command.assign("add")
async def add_pin(bot: Bot, event: Event, here: Here, words: Match[list[object]]) -> None:
    """Pin a fact for the asker; a call without words pins the message that it replies to."""
    await answer(bot, event, _pinned(here, words_of(words.result, here), "add"))


@memory_command.assign("pin")
async def add_group_pin(bot: Bot, event: Event, here: Here, words: Match[list[object]]) -> None:
    """Pin a fact for the whole group."""
    await answer(bot, event, _pinned_for_group(bot, event, here, words_of(words.result, here)))


@memory_command.assign("pins")
async def list_pins(bot: Bot, event: Event, here: Here) -> None:
    """List the asker's pins here and those of the group."""
    await answer(bot, event, _listed(here))


async def _pinned(scene: core.Scene, text: str, subcommand: str) -> str:
    if not text:
        return replies.usage.usage(subcommand)
    for_group = subcommand == "pin"
    pin = await get_memory().pin(scene, text, for_group=for_group)
    asker = await get_memory().listings.person(core.Scene.operator(scene.agent), scene.user_id)
    is_hidden = asker.has_opted_out and not for_group
    return replies.commands.pinned(pin.text, is_cut=len(pin.text) < len(text), for_group=for_group, is_hidden=is_hidden)


async def _pinned_for_group(bot: Bot, event: Event, scene: core.Scene, text: str) -> str:
    if scene.kind != "group":
        return replies.commands.ONLY_IN_GROUPS
    refusal = await objection(bot, event, replies.commands.ADMINS_ONLY)
    return refusal or await _pinned(scene, text, "pin")


async def _listed(scene: core.Scene) -> str:
    pins = await get_memory().pins(scene)
    shown_lists.show(scene, pins)
    return replies.memories.pin_list(pins, setup.settings.zone)
