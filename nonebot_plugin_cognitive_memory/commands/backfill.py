"""``/memory backfill``: takes in what was said here before, from the history that the OneBot end keeps."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from nonebot.permission import SUPERUSER

import cognitive_memory_core as core

from .. import replies
from ..announcing import announce
from ..capture import unrecorded
from ..config import setup
from ..json_file import JsonFile
from ..lifecycle import get_memory
from ..onebot import v11
from ..scene import is_captured
from .answering import say
from .authority import check_admin, check_superuser
from .calls import Call
from .history_pages import HistoryRefused, history_pages, past_message

LINES, MOST_LINES = 500, 20_000
TENTHS = 10
FILE = "backfill.json"  # the groups whose owners may take in what was said
OWNERS = frozenset({"owner"})
_allowed = JsonFile[list[Any]](setup.path(FILE), list)
_stopping: dict[core.Scope, asyncio.Event] = {}  # of the places that are being read


async def take_in(call: Call) -> str:
    """Take in the history of this place, stop that, or let the owner of the group do it."""
    said, scope = call.text.casefold(), call.here.scope
    if said in replies.commands.ALLOW | replies.commands.FORBID:
        await check_superuser(call)
        return await _allow(scope, is_allowed=said in replies.commands.ALLOW)
    is_superuser = await SUPERUSER(call.bot, call.event)
    if not (is_superuser or scope.key in await _allowed.read()):
        return replies.commands.OPERATOR_ONLY
    await check_admin(call, replies.commands.OPERATOR_ONLY, OWNERS)
    if said in replies.commands.STOP:
        if scope in _stopping:
            _stopping[scope].set()
        return replies.commands.STOPPING if scope in _stopping else replies.commands.NOTHING_TO_STOP
    if said:
        return call.usage
    if scope in _stopping:
        return replies.commands.ALREADY
    stop = _stopping[scope] = asyncio.Event()
    try:
        if not isinstance(call.bot, v11.Bot):
            return replies.commands.ONLY_V11
        if not (is_captured(call.here) and (await get_memory().place_switch(call.here)).records):
            return replies.commands.NOT_RECORDED
        with unrecorded():
            is_told = await announce(call.bot, call.event, call.here)
        return await _read(call, stop) if is_told else replies.commands.NOT_TOLD
    finally:
        del _stopping[scope]


async def _read(call: Call, stop: asyncio.Event) -> str:
    """Read page after page into the memory; return how it ended."""
    memory = get_memory()
    wanted = min(max(LINES if call.number is None else call.number, 1), MOST_LINES)
    done, said_tenths = core.Backfill(), 0
    await say(call.bot, call.event, replies.commands.STARTED.format(wanted=wanted))
    try:
        async for page in history_pages(call.bot, call.here, wanted):
            found = [past_message(call.bot, call.here, line) for line in page]
            done = done.plus(core.Backfill(left_out=Counter(one for one in found if isinstance(one, str))))
            done = done.plus(await memory.backfill([one for one in found if isinstance(one, core.Message)]))
            if stop.is_set():
                return replies.commands.STOPPED.format(seen=done.total, summary=done.summary)
            tenths = done.total * TENTHS // wanted
            if said_tenths < tenths < TENTHS:
                said_tenths = tenths
                told = replies.commands.PROGRESS.format(seen=done.total, wanted=wanted, taken=done.taken)
                await say(call.bot, call.event, told)
    except HistoryRefused as refused:
        return replies.commands.REFUSED.format(reason=refused, seen=done.total, summary=done.summary)
    return replies.commands.ENDED.format(seen=done.total, summary=done.summary)


async def _allow(scope: core.Scope, *, is_allowed: bool) -> str:
    added = [scope.key] if is_allowed else []
    try:
        await _allowed.change(lambda places: [*(place for place in places if place != scope.key), *added])
    except OSError as refused:
        raise core.StorageRefused(type(refused).__name__) from refused
    return replies.commands.ALLOWED if is_allowed else replies.commands.FORBIDDEN
