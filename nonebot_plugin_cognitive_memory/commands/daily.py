"""The report of a day: what was learned, costs, what needs a hand; sent daily if ``capture.daily_report`` is set.

The day of the last report is stored in a file, so that a restart sends none twice.
"""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from nonebot import get_bots
from nonebot.adapters import Bot
from nonebot.exception import AdapterException

import cognitive_memory_core as core

from .. import replies
from ..capture import unrecorded
from ..config import read_json, replace_json, setup
from ..lifecycle import get_memory, run_with_bot
from ..onebot import spoken, v11, v12
from ..scene import agent_of
from ..throttled_log import complain
from .entry import Answer, Call
from .sending import picture

MOST, SHOWN = 5_000, 5  # rows of a day that are counted, and memories of it that are quoted
FILE = "daily_report.json"
EVERY = 30.0  # seconds between two looks at the clock
LATE = timedelta(hours=4)  # after the hour, in which a bot that was off still sends the report


async def show_daily(call: Call) -> Answer:
    """Show the last 24 hours of the whole memory."""
    return await report(datetime.now(setup.settings.zone), call.here.agent)


async def report(at: datetime, agent: str) -> tuple[str, tuple[Any, ...]]:
    """Return the last 24 hours of an agent's memory before an instant, as a text and as a card."""
    memory, operator, words = get_memory(), core.Scene.operator(agent), replies.cards
    since = at - timedelta(days=1)
    status, window = await memory.status(), core.Interval(since, at)
    newest = await memory.listings.events(operator, core.EventListing(window=window), MOST, 0)
    lines = await memory.listings.lines(operator, core.LineListing(window=window), MOST, 0)
    retired = await memory.listings.events(operator, core.EventListing(state="retired"), MOST, 0)
    forgotten = sum(one.retired_at is not None and one.retired_at >= since for one in retired)
    day = {words.LEARNED: len(newest), words.SAID: len(lines), words.FORGOTTEN: forgotten}
    day |= {words.SPENT: status.calls_today, words.TOKENS: status.tokens_today, words.WAITING: status.jobs.failed}
    texts, remarks = [one.text for one in newest[:SHOWN]], replies.status.daily_remarks(status)
    shown = day, texts, remarks
    return replies.status.daily(*shown), ("daily_card", *shown, f"{since:%m-%d %H:%M}", f"{at:%m-%d %H:%M}")


async def send_due(file: Path, at: datetime) -> bool:
    """Send the report to every superuser in private if it is due at an instant and was not sent on this day.

    Nothing happens without a connected account or an open memory; then a later call sends it.
    """
    wanted, bots = setup.settings.capture.daily_report, _bots()
    if not wanted or not bots or not get_memory().is_running:
        return False
    hour, minute = map(int, wanted.split(":"))
    due, today = at.replace(hour=hour, minute=minute, second=0, microsecond=0), at.date().isoformat()
    if not due <= at < due + LATE or (await asyncio.to_thread(read_json, file, dict)).get("last") == today:
        return False
    await asyncio.to_thread(replace_json, file, {"last": today})  # first: a crash must not repeat it
    text, card = await report(at, agent_of(bots[0]))
    for superuser in sorted(bots[0].config.superusers):
        for bot in bots:
            if await _is_sent(bot, superuser, text, card):
                break
    return True


def _bots() -> list[Bot]:
    return [bot for bot in get_bots().values() if isinstance(bot, v11.Bot | v12.Bot)]


async def _is_sent(bot: Bot, superuser: str, text: str, card: tuple[Any, ...]) -> bool:
    """Send a card to a person in private, or its text if that fails; return whether the platform took one."""
    user_id = superuser.removeprefix(f"{bot.adapter.get_name().split(maxsplit=1)[0].lower()}:")
    for is_picture in (True, False):
        try:
            said = await picture(bot, *card) if is_picture else spoken(bot, text)
            if said is None:
                continue
            with unrecorded():
                if isinstance(bot, v12.Bot):
                    await bot.call_api("send_message", detail_type="private", user_id=user_id, message=[said])
                else:
                    await bot.call_api("send_private_msg", user_id=int(user_id), message=said)
        except (AdapterException, ValueError) as refused:
            complain(replies.log.NOT_ANSWERED.format(reason=type(refused).__name__))
        else:
            return True
    return False


async def _round() -> float:
    if setup.data_dir is not None:
        await send_due(setup.data_dir / FILE, datetime.now(setup.settings.zone))
    return EVERY


loop = core.BackgroundLoop("daily report", _round, longest_pause=EVERY)
run_with_bot(loop)
