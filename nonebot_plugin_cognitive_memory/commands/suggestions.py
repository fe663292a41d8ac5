"""The admins' command on suggestions: lists them, and accepts or dismisses one."""

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
from .numbers import ShownLists
from .plain_text import words_of

MOST_SHOWN = 10
shown_suggestions = ShownLists()


@memory_command.assign("suggestions")
async def suggest(bot: Bot, event: Event, here: Here, words: Match[tuple[object, ...]]) -> None:
    """List the open suggestions, or accept or dismiss one of the list shown last."""
    said = words_of(words.result) if words.available else ""
    await answer(bot, event, _suggested(bot, event, here, said))


async def _suggested(bot: Bot, event: Event, scene: core.Scene, said: str) -> str:
    if scene.kind != "group":
        return replies.commands.ONLY_IN_GROUPS
    if refusal := await objection(bot, event, replies.commands.ADMINS_ONLY):
        return refusal
    if not said:
        return await _listed(scene)
    word, _, number = said.partition(" ")
    accept = replies.suggestions.DECISIONS.get(word.casefold())
    if accept is None or not number.strip().isdecimal():
        return replies.usage.usage("suggestions")
    return await _decided(scene, int(number.strip()[:9]), accept=accept)


async def _listed(scene: core.Scene) -> str:
    found = (await get_memory().suggestions(scene))[:MOST_SHOWN]
    shown_suggestions.show(scene, found)
    return replies.suggestions.listed(found, setup.settings.zone)


async def _decided(scene: core.Scene, number: int, *, accept: bool) -> str:
    shown = shown_suggestions.find(scene, number)
    if shown is None:
        return replies.suggestions.NUMBER_UNKNOWN
    await get_memory().decide_suggestion(scene, shown.id, accept)
    return replies.suggestions.ACCEPTED if accept else replies.suggestions.DISMISSED
