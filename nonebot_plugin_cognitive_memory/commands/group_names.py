"""Asks the platform for the names of groups that an answer mentions."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

from nonebot.adapters import Bot
from nonebot.exception import AdapterException

import cognitive_memory_core as core

from ..onebot import v12
from ..platform_names import NAME_LENGTH

MOST_ASKED = 5  # groups; the others are shown by number
PATIENCE = 2.0  # seconds


async def group_names(bot: Bot, group_ids: Collection[str]) -> Mapping[str, str]:
    """Return the names of groups by id, without those that the platform does not return in time."""
    asked = sorted(group_ids)[:MOST_ASKED]
    names = await asyncio.gather(*(_name(bot, group_id) for group_id in asked))
    return {group_id: name for group_id, name in zip(asked, names, strict=True) if name}


async def _name(bot: Bot, group_id: str) -> str:
    wanted = group_id if isinstance(bot, v12.Bot) or not group_id.isdigit() else int(group_id)
    try:
        found = await asyncio.wait_for(bot.call_api("get_group_info", group_id=wanted), PATIENCE)
    except (AdapterException, asyncio.TimeoutError):
        return ""
    name = found.get("group_name") if isinstance(found, Mapping) else None
    return core.clean_name(name[:NAME_LENGTH]) if isinstance(name, str) else ""
