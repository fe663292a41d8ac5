"""Commands of people about themselves: opt out and in, incognito, export, and forgetting everything."""

from __future__ import annotations

import asyncio
import base64
import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path

from nonebot.adapters import Bot, Event
from nonebot.exception import AdapterException
from nonebot_plugin_alconna import Match

import cognitive_memory_core as core

from .. import replies
from ..capture_outgoing import unrecorded
from ..config import setup
from ..dependencies import Here
from ..erasure import erased_person
from ..lifecycle import get_memory
from ..onebot import v11, v12
from .authority import contradiction
from .confirmations import call_id, confirmations
from .entry import answer, memory_command
from .plain_text import words_of

FILE = "memory.jsonl"
SHOWN = 12_000  # characters of an export that are sent where no file can be
INCOGNITO, LONGEST_INCOGNITO = timedelta(minutes=30), timedelta(days=7)
MOST_DIGITS = 6  # of a number of minutes


@memory_command.assign("optout")
async def opt_out(bot: Bot, event: Event, here: Here) -> None:
    """Stop recording and recalling the asker everywhere."""
    await answer(bot, event, _opted_out(here))


@memory_command.assign("optin")
async def opt_in(bot: Bot, event: Event, here: Here) -> None:
    """Record the asker again."""
    await answer(bot, event, _opted_in(here))


@memory_command.assign("incognito")
async def go_incognito(bot: Bot, event: Event, here: Here, words: Match[tuple[object, ...]]) -> None:
    """Record nothing of the asker here for a while; 0 ends it."""
    await answer(bot, event, _incognito(here, words_of(words.result) if words.available else ""))


@memory_command.assign("forget_me")
async def forget_me(bot: Bot, event: Event, here: Here) -> None:
    """Erase everything of the asker, after a second call confirms it."""
    await answer(bot, event, _forget_asker(bot, event, here))


@memory_command.assign("export")
async def export_own(bot: Bot, event: Event, here: Here) -> None:
    """Send the asker a file with what they said, their profiles and their pins."""
    await answer(bot, event, _exported(bot, event, here))


async def _forget_asker(bot: Bot, event: Event, scene: core.Scene) -> str:
    """Erase the asker everywhere if this call confirms an earlier one, else ask for a second call."""
    refusal = await contradiction(bot, event)
    if refusal:
        return refusal
    if not confirmations.is_confirmed(scene, "forget_me", scene.user_id, call_id(event)):
        return replies.commands.CONFIRM_FORGET_ME
    erasure = await erased_person(scene, scene.user_id)
    is_recorded = await get_memory().may_record(scene, datetime.now(timezone.utc))
    return replies.commands.erased(erasure, is_recorded=is_recorded)


async def _opted_out(scene: core.Scene) -> str:
    await get_memory().note_name(scene, datetime.now(timezone.utc))  # so that the present names are hidden, too
    await get_memory().opt_out(scene.user_id)
    return replies.commands.OPTED_OUT


async def _opted_in(scene: core.Scene) -> str:
    await get_memory().opt_in(scene.user_id)
    return replies.commands.OPTED_IN


async def _incognito(scene: core.Scene, asked: str) -> str:
    zone = setup.settings.zone
    now = datetime.now(zone)
    until = now + INCOGNITO if not asked else now + timedelta(minutes=int(asked)) if _is_minutes(asked) else None
    until = until or core.time_limit(asked, now)
    if until is None or until - now > LONGEST_INCOGNITO:
        return replies.usage.usage("incognito")
    if until < now:
        return replies.commands.over(until, zone)
    await get_memory().incognito(scene, (until - now).total_seconds() / 60)
    return replies.commands.incognito(until, zone) if until > now else replies.commands.INCOGNITO_ENDED


def _is_minutes(asked: str) -> bool:
    return asked.isdecimal() and asked.isascii() and len(asked) <= MOST_DIGITS


async def _exported(bot: Bot, event: Event, scene: core.Scene) -> str:
    if scene.kind != "private":
        return replies.commands.ONLY_IN_PRIVATE
    try:
        return await _sent_export(bot, event, scene)
    except OSError as refused:
        raise core.StorageRefused(type(refused).__name__) from refused


async def _sent_export(bot: Bot, event: Event, scene: core.Scene) -> str:
    folder = await asyncio.to_thread(tempfile.TemporaryDirectory)
    path = Path(folder.name) / FILE
    try:
        rows = await get_memory().export(path, user_id=scene.user_id)
        if await _is_uploaded(bot, event, path):
            return replies.commands.EXPORTED.format(rows=rows)
        return replies.commands.EXPORTED_AS_TEXT.format(text=await asyncio.to_thread(_beginning, path))
    finally:
        await asyncio.to_thread(folder.cleanup)
        await get_memory().discard_export(path)


async def _is_uploaded(bot: Bot, event: Event, path: Path) -> bool:
    """Send a file to the private chat by its path or, if that is refused, by its content; return False if both are.

    A client on another machine cannot read the path.
    """
    if isinstance(event, v12.MessageEvent):
        if await _is_sent(bot, event, type="path", path=str(path)):
            return True
        return await _is_sent(bot, event, type="data", data=await asyncio.to_thread(path.read_bytes))
    if not isinstance(event, v11.MessageEvent):
        return False
    if await _is_taken(bot, event, str(path)):
        return True
    return await _is_taken(bot, event, await asyncio.to_thread(_encoded, path))


async def _is_taken(bot: Bot, event: v11.MessageEvent, file: str) -> bool:
    try:
        await bot.call_api("upload_private_file", user_id=event.user_id, file=file, name=FILE)
    except AdapterException:
        return False
    return True


async def _is_sent(bot: Bot, event: v12.MessageEvent, **content: object) -> bool:
    """Upload a file to a platform of OneBot v12, then send it; return False if either is refused."""
    try:
        uploaded = await bot.call_api("upload_file", name=FILE, **content)
        with unrecorded():
            await bot.send(event, v12.MessageSegment.file(str(uploaded["file_id"])))
    except (AdapterException, KeyError, TypeError):
        return False
    return True


def _encoded(path: Path) -> str:
    return f"base64://{base64.b64encode(path.read_bytes()).decode()}"


def _beginning(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.read(SHOWN)
