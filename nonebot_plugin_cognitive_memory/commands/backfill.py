"""``/memory backfill``: takes in what was said here before, from the history of the OneBot end."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

from nonebot import get_driver
from nonebot.exception import AdapterException
from nonebot.permission import SUPERUSER

import cognitive_memory_core as core

from .. import replies
from ..capture import announce, unrecorded
from ..config import read_json, replace_json, setup
from ..lifecycle import get_memory
from ..onebot import spoken, v11
from ..platform_history import HistoryRefused, history_pages, past_message
from ..scene import is_captured
from ..throttled_log import complain
from .authority import objection, superuser_objection
from .entry import Call

LINES, MOST_LINES = 500, 20_000
TENTHS = 10
FILE = "backfill.json"  # the groups whose owners may take in what was said
OWNERS = frozenset({"owner"})
_stopping: dict[core.Scope, asyncio.Event] = {}  # of the places that are being read


async def take_in(call: Call) -> str:
    """Take in the history of this place, stop that, or let the owner of the group do it."""
    said, scope = call.text.casefold(), call.here.scope
    if said in replies.backfill.ALLOW | replies.backfill.FORBID:
        return await superuser_objection(call.bot, call.event) or await _allow(
            scope, is_allowed=said in replies.backfill.ALLOW
        )
    if refusal := await _refusal(call):
        return refusal
    if said in replies.backfill.STOP:
        if scope in _stopping:
            _stopping[scope].set()
        return replies.backfill.STOPPING if scope in _stopping else replies.backfill.NOTHING_TO_STOP
    if said:
        return call.usage
    if scope in _stopping:
        return replies.backfill.ALREADY
    stop = _stopping[scope] = asyncio.Event()
    try:
        if not isinstance(call.bot, v11.Bot):
            return replies.backfill.ONLY_V11
        if not (is_captured(call.here) and (await get_memory().place_switch(call.here)).records):
            return replies.backfill.NOT_RECORDED
        with unrecorded():
            is_told = await announce(call.bot, call.event, call.here)
        return await _read(call, stop) if is_told else replies.backfill.NOT_TOLD
    finally:
        del _stopping[scope]


async def _read(call: Call, stop: asyncio.Event) -> str:
    """Read page after page into the memory; return how it ended."""
    memory = get_memory()
    wanted = min(max(LINES if call.number is None else call.number, 1), MOST_LINES)
    done, said_tenths = core.Backfill(), 0
    await _tell(call, replies.backfill.STARTED.format(wanted=wanted))
    try:
        async for page in history_pages(call.bot, call.here, wanted):
            found = [past_message(call.bot, call.here, line) for line in page]
            done = done.plus(core.Backfill(left_out=Counter(one for one in found if isinstance(one, str))))
            done = done.plus(await memory.backfill([one for one in found if isinstance(one, core.Message)]))
            if stop.is_set():
                return replies.backfill.STOPPED.format(seen=done.total, summary=done.summary)
            tenths = done.total * TENTHS // wanted
            if said_tenths < tenths < TENTHS:
                said_tenths = tenths
                told = replies.backfill.PROGRESS.format(seen=done.total, wanted=wanted, taken=done.taken)
                await _tell(call, told)
    except HistoryRefused as refused:
        return replies.backfill.REFUSED.format(reason=refused, seen=done.total, summary=done.summary)
    return replies.backfill.ENDED.format(seen=done.total, summary=done.summary)


async def _tell(call: Call, text: str) -> None:
    """Send a message that is not recorded; one that the platform refuses does not stop the reading."""
    try:
        with unrecorded():
            await call.bot.send(call.event, spoken(call.bot, text))
    except AdapterException as refused:
        complain(replies.log.NOT_ANSWERED.format(reason=type(refused).__name__))


async def _refusal(call: Call) -> str:
    """Return why the sender may not take in what was said here; "" for a superuser, and for an owner who may."""
    if await SUPERUSER(call.bot, call.event):
        return await superuser_objection(call.bot, call.event)
    if call.here.scope.key not in await asyncio.to_thread(_allowed):
        return replies.backfill.OPERATOR_ONLY
    return await objection(call.bot, call.event, replies.backfill.OPERATOR_ONLY, OWNERS)


async def _allow(scope: core.Scope, *, is_allowed: bool) -> str:
    known = await asyncio.to_thread(_allowed)
    changed = known | {scope.key} if is_allowed else known - {scope.key}
    if setup.data_dir and changed != known:
        try:
            await asyncio.to_thread(replace_json, setup.data_dir / FILE, sorted(changed))
        except OSError as refused:
            raise core.StorageRefused(type(refused).__name__) from refused
    return replies.backfill.ALLOWED if is_allowed else replies.backfill.FORBIDDEN


def _allowed() -> frozenset[str]:
    """Return the places whose owners may; a file that cannot be read allows nobody."""
    listed = read_json((setup.data_dir or Path()) / FILE, list)
    return frozenset(one for one in listed if isinstance(one, str))


@get_driver().on_shutdown
async def stop_reading() -> None:
    """End every running backfill after the page that it reads, because the bot stops."""
    for stop in _stopping.values():
        stop.set()
