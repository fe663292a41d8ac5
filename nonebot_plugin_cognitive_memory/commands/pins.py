"""Facts that people pin themselves."""

from __future__ import annotations

from nonebot.adapters import Bot, Event
from nonebot_plugin_alconna import Match

import cognitive_memory_core as core

from .. import replies
from ..lifecycle import get_memory
from ..params import Here
from .entry import answer, memory_command
from .words import words_of


@memory_command.assign("add")
async def add_pin(bot: Bot, event: Event, here: Here, words: Match[list[object]]) -> None:
    """Pin a fact for the asker."""
    await answer(bot, event, _pinned(here, words_of(words.result)))


async def _pinned(scene: core.Scene, text: str) -> str:
    if not text:
        return replies.commands.usage("add")
    await get_memory().pin(scene, text)
    return replies.commands.PINNED
