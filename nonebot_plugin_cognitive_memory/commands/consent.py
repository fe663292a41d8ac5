"""Commands of people about themselves: opt out and in, incognito, export, and forgetting everything."""

from __future__ import annotations

import asyncio
import base64
import tempfile
from pathlib import Path

from nonebot.adapters import Bot, Event
from nonebot.exception import AdapterException
from nonebot_plugin_alconna import Match

import cognitive_memory_core as core

from .. import replies
from ..lifecycle import get_memory
from ..onebot import v11
from ..params import Here
from .confirmations import confirmations
from .entry import answer, memory_command

MINUTES = 30  # of incognito where no number is given


@memory_command.assign("optout")
async def opt_out(bot: Bot, event: Event, here: Here) -> None:
    """Stop recording and recalling the asker everywhere."""
    await answer(bot, event, _opted_out(here))


@memory_command.assign("optin")
async def opt_in(bot: Bot, event: Event, here: Here) -> None:
    """Record the asker again."""
    await answer(bot, event, _opted_in(here))


@memory_command.assign("incognito")
async def go_incognito(bot: Bot, event: Event, here: Here, minutes: Match[int]) -> None:
    """Record nothing of the asker here for a while; 0 ends it."""
    await answer(bot, event, _incognito(here, minutes.result if minutes.available else MINUTES))


@memory_command.assign("forget_me")
async def forget_me(bot: Bot, event: Event, here: Here) -> None:
    """Erase everything of the asker, after a second call confirms it."""
    await answer(bot, event, forget_asker(here))


@memory_command.assign("export")
async def export_own(bot: Bot, event: Event, here: Here) -> None:
    """Send the asker a file with what they said, their profiles and their pins."""
    await answer(bot, event, _exported(bot, event, here))


async def forget_asker(scene: core.Scene) -> str:
    """Erase the asker everywhere if this call confirms the one before, else ask for that."""
    if not confirmations.is_confirmed(scene, "forget me", scene.user_id):
        return replies.commands.CONFIRM_FORGET_ME
    return replies.commands.erased(await get_memory().forget_user(scene, scene.user_id))


async def _opted_out(scene: core.Scene) -> str:
    await get_memory().opt_out(scene.user_id)
    return replies.commands.OPTED_OUT


async def _opted_in(scene: core.Scene) -> str:
    await get_memory().opt_in(scene.user_id)
    return replies.commands.OPTED_IN


async def _incognito(scene: core.Scene, minutes: int) -> str:
    await get_memory().incognito(scene, minutes)
    return replies.commands.incognito(minutes)


async def _exported(bot: Bot, event: Event, scene: core.Scene) -> str:
    if scene.kind != "private":
        return replies.commands.ONLY_IN_PRIVATE
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"memory-{scene.user_id}.jsonl"
        rows = await get_memory().export(path, user_id=scene.user_id)
        if isinstance(event, v11.MessageEvent) and await _is_uploaded(bot, event, path):
            return replies.commands.EXPORTED.format(rows=rows)
        return replies.commands.EXPORTED_AS_TEXT.format(text=await asyncio.to_thread(path.read_text, "utf-8"))


async def _is_uploaded(bot: Bot, event: v11.MessageEvent, path: Path) -> bool:
    """Upload a file to the private chat, by its path or, for a client on another machine, by its content."""
    content = await asyncio.to_thread(path.read_bytes)
    for file in (str(path), f"base64://{base64.b64encode(content).decode()}"):
        try:
            await bot.call_api("upload_private_file", user_id=event.user_id, file=file, name=path.name)
        except AdapterException:
            continue
        return True
    return False
