"""Updates the beliefs of groups on schedule, if nonebot-plugin-apscheduler is installed.

The scheduler checks once a minute whether a round is due by ``evolution.cron``. The time of the last round is stored
in a file: rounds missed while the bot was off are made up by a single one. A changed setting takes effect at once.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timezone
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nonebot import get_driver, logger, require

import cognitive_memory_core as core

from . import replies
from .config import setup
from .json_file import replace_json
from .lifecycle import get_memory
from .throttled_log import complain

SCHEDULER = "nonebot_plugin_apscheduler"
FILE = "evolution_schedule.json"
MINUTE, HOUR = 60, 3600.0  # seconds
AT_ONCE = 3  # looks; those during a round, which takes an hour, find nothing due
NextDue = Callable[[datetime], datetime | None]


class EvolutionTicks:
    """Starts the rounds that are due; ``next_due`` returns the first due instant after a given one.

    If no time is stored, the first tick stores the present one and starts no round. The time of a round is stored
    before the round starts, so that a crash does not repeat it.
    """

    def __init__(
        self,
        file: Path,
        next_due: NextDue,
        evolve: Callable[[], Awaitable[int]],
        *,
        now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
    ) -> None:
        """Create with the ``file`` of the last round's time; ``evolve`` runs one round."""
        self._file = file
        self._next_due = next_due
        self._evolve = evolve
        self._now = now

    async def tick(self) -> None:
        """Start a round if one is due; never raises."""
        try:
            now, last = self._now(), await asyncio.to_thread(self._last)
            if last is None or last > now:
                await asyncio.to_thread(self._keep, now)
                return
            due = self._next_due(last)
            if due is None or due > now:
                return
            await asyncio.to_thread(self._keep, now)
            await self._evolve()
        except (core.CognitiveMemoryError, OSError, ValueError) as failure:
            complain(replies.log.not_evolved(failure))

    def _last(self) -> datetime | None:
        with suppress(OSError, ValueError, TypeError, KeyError):
            return datetime.fromisoformat(json.loads(self._file.read_text("utf-8"))["last"]).astimezone(timezone.utc)
        return None

    def _keep(self, now: datetime) -> None:
        replace_json(self._file, {"last": now.isoformat()})


def _next_due(after: datetime) -> datetime | None:
    """Return when ``evolution.cron`` is next due after an instant; raises ValueError for an invalid expression."""
    trigger: Any = import_module("apscheduler.triggers.cron").CronTrigger
    settings = setup.settings
    return trigger.from_crontab(settings.evolution.cron, settings.zone).get_next_fire_time(after, after)


async def _evolve() -> int:
    return await get_memory().evolve_groups(within=HOUR)


def _schedule() -> None:
    """Register :meth:`EvolutionTicks.tick` at the bot's scheduler, once a minute."""
    directory = setup.data_dir
    if directory is None or not setup.settings.enabled:
        return
    if find_spec(SCHEDULER) is None:
        logger.info(replies.log.logged(replies.log.NOT_SCHEDULED))
        return
    ticks = EvolutionTicks(directory / FILE, _next_due, _evolve)
    scheduler: Any = import_module(SCHEDULER).scheduler
    scheduler.add_job(ticks.tick, "interval", seconds=MINUTE, id=__name__, max_instances=AT_ONCE, replace_existing=True)


if find_spec(SCHEDULER) is not None:
    require(SCHEDULER)
get_driver().on_startup(_schedule)
