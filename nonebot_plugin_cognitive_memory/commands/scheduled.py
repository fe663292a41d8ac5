"""What comes by itself at set times: a round of evolution, and the operator's report of a day.

Groups' beliefs are evolved if nonebot-plugin-apscheduler is installed, whose library reads ``evolution.cron``. The time
of the last round is stored in a file: rounds missed while the bot was off are made up by a single one. A changed
setting takes effect at once. The report of a day (what was learned, costs, what needs a hand) is sent daily if
``capture.daily_report`` is set; its day is stored in a file, so that none is sent twice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from nonebot import get_bots, logger
from nonebot.adapters import Bot
from nonebot.exception import AdapterException

import cognitive_memory_core as core

from .. import replies
from ..capture import unrecorded
from ..config import setup
from ..console import ADDRESS, access
from ..json_file import JsonFile
from ..lifecycle import get_memory, run_with_bot
from ..limits import warn_once
from ..onebot import spoken, v11, v12
from ..scene import agent_of
from .answering import Answer, picture
from .calls import Call

if TYPE_CHECKING:
    from ..cards import Card

SCHEDULER = "nonebot_plugin_apscheduler"
FILE = "evolution_schedule.json"
HOUR = 3600.0  # seconds
Times = JsonFile[dict[str, str]]  # "last": the instant since which something is due again


async def is_due(file: Times, at: datetime, next_due: Callable[[datetime], datetime | None]) -> bool:
    """Return whether something is due for the first time since ``file`` says, and store the instant there if it is.

    ``next_due`` returns the first due instant after a given one. If ``file`` says none, or a later instant, the present
    one is stored and nothing is due. It is stored first, so that a crash repeats nothing. Raises OSError.
    """
    since, last = None, (await file.read()).get("last")
    with suppress(ValueError):
        since = datetime.fromisoformat(str(last)).astimezone(timezone.utc)
    if since is not None and since <= at and ((due := next_due(since)) is None or due > at):
        return False
    await file.change(lambda _: {"last": at.isoformat()})
    return since is not None and since <= at


def next_round(after: datetime) -> datetime | None:
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
    showing = replies.memories.Showing(operator, setup.settings.zone, {})
    texts, remarks = [(one.text, showing.beneath(one).strip()) for one in newest[:SHOWN]], words.daily_remarks(status)
    if access is not None:
        remarks.append(("plain", words.COSTS_AT.format(path=ADDRESS)))
    return daily_card(day, texts, remarks, f"{since:%m-%d %H:%M}", f"{at:%m-%d %H:%M}")


async def send_due(file: Times, at: datetime) -> bool:
    """Send the report to every superuser in private if it is due at an instant; return whether it was.

    Nothing happens without a connected account or an open memory; then a later call sends it.
    """
    wanted = setup.settings.capture.daily_report
    bots = [bot for bot in get_bots().values() if isinstance(bot, v11.Bot | v12.Bot)]
    if not wanted or not bots or not get_memory().is_running:
        return False
    hour, minute = map(int, wanted.split(":"))

    def next_due(since: datetime) -> datetime:
        after = max(since, at - LATE).astimezone(at.tzinfo)
        due = after.replace(hour=hour, minute=minute, second=0, microsecond=0)
        return due if due > after else due + timedelta(days=1)

    if not await is_due(file, at, next_due):
        return False
    card = await report(at, agent_of(bots[0]))
    for superuser in sorted(bots[0].config.superusers):
        for bot in bots:
            if await _is_sent(bot, superuser, card):
                break
    return True


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
            warn_once(replies.log.NOT_ANSWERED.format(reason=type(refused).__name__))
        else:
            return True
    return False


async def evolve_due(file: Times, at: datetime) -> None:
    """Start a round of evolution if one is due at an instant; never raises."""
    try:
        if get_memory().is_running and await is_due(file, at, next_round):  # else the directory is another bot's
            await get_memory().evolve_groups(within=HOUR)
    except (core.CognitiveMemoryError, OSError, ValueError) as failure:
        reason = str(failure) if isinstance(failure, ValueError) else replies.log.reason_of(failure)
        warn_once(replies.log.NOT_EVOLVED.format(reason=reason))


def _run(name: str, file: str, look: Callable[[Times, datetime], Awaitable[object]]) -> None:
    """Look again and again, while the bot runs, whether something is due; ``file`` stores when it was."""
    times = Times(setup.path(file), dict)

    async def work() -> float:
        await look(times, datetime.now(setup.settings.zone))
        return EVERY

    run_with_bot(core.BackgroundLoop(name, work, longest_pause=EVERY))


if find_spec(SCHEDULER) is None:
    logger.info(replies.log.logged(replies.log.NOT_SCHEDULED))
else:
    _run("evolution", FILE, evolve_due)
_run("daily report", REPORT_FILE, send_due)
