"""Updates the beliefs of groups on schedule, if nonebot-plugin-apscheduler is installed.

The scheduler checks once a minute whether a round is due by ``evolution.cron``. The time of the last round is stored
in a file: rounds missed while the bot was off are made up by a single one. A changed setting takes effect at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timezone
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nonebot import get_driver, logger, require

import cognitive_memory_core as core

from . import replies
from .config import read_json, replace_json, setup
from .lifecycle import get_memory
from .throttled_log import complain

SCHEDULER = "nonebot_plugin_apscheduler"
FILE = "evolution_schedule.json"
MINUTE, HOUR = 60, 3600.0  # seconds
AT_ONCE = 3  # looks; those during a round, which takes an hour, find nothing due


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


def _schedule() -> None:
    """Register :func:`tick` at the bot's scheduler, once a minute."""
    directory = setup.data_dir
    if directory is None or not setup.settings.enabled:
        return
    if find_spec(SCHEDULER) is None:
        logger.info(replies.log.logged(replies.log.NOT_SCHEDULED))
        return
    scheduler: Any = import_module(SCHEDULER).scheduler
    scheduler.add_job(
        tick,
        "interval",
        args=(directory / FILE, _next_due, lambda: get_memory().evolve_groups(within=HOUR)),
        seconds=MINUTE,
        id=__name__,
        max_instances=AT_ONCE,
        replace_existing=True,
    )


if find_spec(SCHEDULER) is not None:
    require(SCHEDULER)
get_driver().on_startup(_schedule)
