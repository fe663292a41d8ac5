"""What comes by itself at set times: a round of evolution, and the operator's report of a day.

Groups' beliefs are evolved if nonebot-plugin-apscheduler is installed, whose library reads ``evolution.cron``. The time
of the last round is stored in a file: rounds missed while the bot was off are made up by a single one. A changed
setting takes effect at once. The report of a day (what was learned, costs, what needs a hand) is sent daily if
``capture.daily_report`` is set; its day is stored in a file, so that none is sent twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta, timezone
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nonebot import get_bots, logger
from nonebot.adapters import Bot
from nonebot.exception import AdapterException

import cognitive_memory_core as core

from .. import replies
from ..capture import unrecorded
from ..config import read_json, replace_json, setup
from ..lifecycle import get_memory, run_with_bot
from ..limits import complain
from ..onebot import spoken, v11, v12
from ..scene import agent_of
from .entry import Answer, Call, picture

if TYPE_CHECKING:
    from ..cards import Card

SCHEDULER = "nonebot_plugin_apscheduler"
FILE = "evolution_schedule.json"
MINUTE, HOUR = 60.0, 3600.0  # seconds


async def tick(
    file: Path,
    next_due: Callable[[datetime], datetime | None],
    evolve: Callable[[], Awaitable[int]],
    now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
) -> None:
    """Start a round if one is due; never raises. ``next_due`` returns the first due instant after a given one.

    If ``file`` stores no time, the present one is stored and no round starts. The time of a round is stored before the
    round starts, so that a crash does not repeat it.
    """
    try:
        at, last = now(), (await asyncio.to_thread(read_json, file, dict)).get("last")
        try:
            since = datetime.fromisoformat(str(last)).astimezone(timezone.utc)
        except ValueError:
            since = None
        since = since if since is not None and since <= at else None
        due = next_due(since) if since else None
        if since is None or (due is not None and due <= at):
            await asyncio.to_thread(replace_json, file, {"last": at.isoformat()})
        if due is not None and due <= at:
            await evolve()
    except (core.CognitiveMemoryError, OSError, ValueError) as failure:
        complain(replies.log.not_evolved(failure))


def _next_due(after: datetime) -> datetime | None:
    """Return when ``evolution.cron`` is next due after an instant; raises ValueError for an invalid expression."""
    trigger: Any = import_module("apscheduler.triggers.cron").CronTrigger
    settings = setup.settings
    return trigger.from_crontab(settings.evolution.cron, settings.zone).get_next_fire_time(after, after)


MOST, SHOWN = 5_000, 5  # rows of a day that are counted, and memories of it that are quoted
REPORT_FILE = "daily_report.json"
EVERY = 30.0  # seconds between two looks at the clock
LATE = timedelta(hours=4)  # after the hour, in which a bot that was off still sends the report


async def show_daily(call: Call) -> Answer:
    """Show the last 24 hours of the whole memory."""
    return await report(datetime.now(setup.settings.zone), call.here.agent)


async def report(at: datetime, agent: str) -> Card:
    """Return the last 24 hours of an agent's memory before an instant."""
    from ..cards import daily_card  # noqa: PLC0415  # cards load with the first one

    memory, operator, words = get_memory(), core.Scene.operator(agent), replies.status
    since = at - timedelta(days=1)
    status, window = await memory.status(), core.Interval(since, at)
    newest = await memory.listings.events(operator, core.EventListing(window=window), MOST, 0)
    lines = await memory.listings.lines(operator, core.LineListing(window=window), MOST, 0)
    retired = await memory.listings.events(operator, core.EventListing(state="retired"), MOST, 0)
    forgotten = sum(one.retired_at is not None and one.retired_at >= since for one in retired)
    day = {words.LEARNED: len(newest), words.SAID: len(lines), words.FORGOTTEN: forgotten}
    day |= {words.SPENT: status.calls_today, words.TOKENS: status.tokens_today, words.WAITING: status.jobs.failed}
    texts, remarks = [one.text for one in newest[:SHOWN]], replies.status.daily_remarks(status)
    return daily_card(day, texts, remarks, f"{since:%m-%d %H:%M}", f"{at:%m-%d %H:%M}")


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
    card = await report(at, agent_of(bots[0]))
    for superuser in sorted(bots[0].config.superusers):
        for bot in bots:
            if await _is_sent(bot, superuser, card):
                break
    return True


def _bots() -> list[Bot]:
    return [bot for bot in get_bots().values() if isinstance(bot, v11.Bot | v12.Bot)]


async def _is_sent(bot: Bot, superuser: str, card: Card) -> bool:
    """Send a card to a person in private, or its text if that fails; return whether the platform took one."""
    user_id = superuser.removeprefix(f"{bot.adapter.get_name().split(maxsplit=1)[0].lower()}:")
    for is_picture in (True, False):
        try:
            said = await picture(bot, card) if is_picture else spoken(bot, card.text)
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


async def _look_for_round() -> float:
    if setup.data_dir is not None and get_memory().is_running:  # else the directory is another bot's
        await tick(setup.data_dir / FILE, _next_due, lambda: get_memory().evolve_groups(within=HOUR))
    return MINUTE


async def _look_for_report() -> float:
    if setup.data_dir is not None:
        await send_due(setup.data_dir / REPORT_FILE, datetime.now(setup.settings.zone))
    return EVERY


if find_spec(SCHEDULER) is None:
    logger.info(replies.log.logged(replies.log.NOT_SCHEDULED))
else:
    run_with_bot(core.BackgroundLoop("evolution", _look_for_round, longest_pause=MINUTE))
run_with_bot(core.BackgroundLoop("daily report", _look_for_report, longest_pause=EVERY))
