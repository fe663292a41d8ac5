"""Commands of people about themselves: opt out and in, incognito, export, and forgetting everything."""

from __future__ import annotations

import asyncio
import base64
from datetime import datetime, timedelta, timezone
from pathlib import Path

from nonebot.adapters import Bot, Event
from nonebot.exception import AdapterException

import cognitive_memory_core as core

from .. import replies
from ..capture_outgoing import unrecorded
from ..config import setup
from ..erasure import erased_person
from ..exporting import FILE, exported
from ..lifecycle import get_memory
from ..onebot import v11, v12
from .authority import contradiction
from .entry import Call
from .pacing import call_id, confirmations

SHOWN = 12_000  # characters of an export that are sent where no file can be
INCOGNITO, LONGEST_INCOGNITO = timedelta(minutes=30), timedelta(days=7)
MOST_DIGITS = 6  # of a number of minutes


async def opt_out(call: Call) -> str:
    """Stop recording and recalling the asker everywhere."""
    await get_memory().note_name(call.here, datetime.now(timezone.utc))  # so that the present names are hidden, too
    await get_memory().opt_out(call.here.user_id)
    return replies.commands.OPTED_OUT


async def opt_in(call: Call) -> str:
    """Record the asker again."""
    await get_memory().opt_in(call.here.user_id)
    return replies.commands.OPTED_IN


async def go_incognito(call: Call) -> str:
    """Record nothing of the asker here for a while; 0 ends it."""
    asked, zone = call.text, setup.settings.zone
    now = datetime.now(zone)
    until = now + INCOGNITO if not asked else now + timedelta(minutes=int(asked)) if _is_minutes(asked) else None
    until = until or core.time_limit(asked, now)
    if until is None or until - now > LONGEST_INCOGNITO:
        return call.usage
    if until < now:
        return replies.commands.over(until, zone)
    await get_memory().incognito(call.here, (until - now).total_seconds() / 60)
    return replies.commands.incognito(until, zone) if until > now else replies.commands.INCOGNITO_ENDED


async def forget_me(call: Call) -> str:
    """Erase everything of the asker everywhere, after a second call confirms it."""
    if refusal := await contradiction(call.bot, call.event):
        return refusal
    scene = call.here
    if not confirmations.is_confirmed(scene, "forget_me", scene.user_id, call_id(call.event)):
        return replies.commands.CONFIRM_FORGET_ME
    erasure = await erased_person(scene, scene.user_id)
    is_recorded = await get_memory().may_record(scene, datetime.now(timezone.utc))
    return replies.commands.erased(erasure, is_recorded=is_recorded)


async def export_own(call: Call) -> str:
    """Send the asker a file with what they said, their profiles and their pins."""
    async with exported(get_memory(), call.here.user_id) as (path, rows):
        if await _is_uploaded(call.bot, call.event, path):
            return replies.commands.EXPORTED.format(rows=rows)
        return replies.commands.EXPORTED_AS_TEXT.format(text=await asyncio.to_thread(_beginning, path))


def _is_minutes(asked: str) -> bool:
    return asked.isdecimal() and asked.isascii() and len(asked) <= MOST_DIGITS


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
