"""Commands of the bot's superusers: figures, the queue, failed jobs, the index, and pausing the historian."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

from nonebot.adapters import Bot, Event
from nonebot_plugin_alconna import Match

import cognitive_memory_core as core

from .. import replies
from ..config import setup
from ..dependencies import Here
from ..lifecycle import get_memory
from .authority import superuser_objection
from .entry import answer, memory_command
from .pictures import PictureAnswer, wants_text

FAILED = 10  # failed jobs in one answer
ID_LENGTH = 8  # characters of a job's id that are shown


@memory_command.assign("stats")
async def show_stats(bot: Bot, event: Event, here: Here, form: Match[str]) -> None:
    """Show the figures of the whole memory."""
    said = form.result if form.available else ""
    await answer(bot, event, _permitted(bot, event, lambda: _stats(here, said)))


@memory_command.assign("queue")
async def show_queue(bot: Bot, event: Event) -> None:
    """Show the number of jobs that wait, that run and that failed."""
    await answer(bot, event, _permitted(bot, event, _queue))


@memory_command.assign("failed")
async def show_failed(bot: Bot, event: Event) -> None:
    """List the failed jobs with their errors."""
    await answer(bot, event, _permitted(bot, event, _failed))


@memory_command.assign("retry")
async def retry(bot: Bot, event: Event, target: Match[str]) -> None:
    """Queue a failed job again, given the beginning of its id, or all failed jobs."""
    wanted = target.result if target.available else ""
    await answer(bot, event, _permitted(bot, event, lambda: _retried(wanted)))


@memory_command.assign("reindex")
async def reindex(bot: Bot, event: Event) -> None:
    """Rebuild the vector index."""
    await answer(bot, event, _permitted(bot, event, _reindexed))


@memory_command.assign("pause")
async def pause(bot: Bot, event: Event) -> None:
    """Stop the historian from processing jobs; what is said meanwhile waits."""
    await answer(bot, event, _permitted(bot, event, _paused))


@memory_command.assign("resume")
async def resume(bot: Bot, event: Event) -> None:
    """Let the historian work again."""
    await answer(bot, event, _permitted(bot, event, _resumed))


async def _permitted(bot: Bot, event: Event, work: Callable[[], Awaitable[str | PictureAnswer]]) -> str | PictureAnswer:
    return await superuser_objection(bot, event) or await work()


async def _stats(scene: core.Scene, form: str) -> str | PictureAnswer:
    as_text = wants_text(form)
    if as_text is None:
        return replies.usage.usage("stats")
    memory, operator = get_memory(), core.Scene.operator(scene.agent)
    now, activity = await memory.status(), await memory.activity(operator)
    gist = [
        *replies.status.switches_remarks(await memory.place_switches(operator), setup.settings.zone),
        *replies.quality.remarks(await memory.report(operator, examine=False)),
    ]
    text = "\n".join((replies.status.stats(now, activity), *(line for _, line in gist)))
    at, remarks = f"{datetime.now(setup.settings.zone):%Y-%m-%d %H:%M}", [*replies.status.stats_remarks(now), *gist]
    if as_text:
        return text
    from ..cards.contents import stats_card  # noqa: PLC0415  # cards load with the first one

    return PictureAnswer(text, stats_card(now, activity, remarks, at))


async def _queue() -> str:
    return replies.status.queue(await get_memory().status())


async def _failed() -> str:
    memory = get_memory()
    failed, refused = await memory.failed_jobs(), replies.status.refused(await memory.status())
    listed = replies.status.failed_list(failed[:FAILED], len(failed), setup.settings.zone, ID_LENGTH)
    return f"{refused}\n{listed}" if refused else listed


async def _retried(wanted: str) -> str:
    memory = get_memory()
    if wanted in replies.commands.BY_RULES:
        return replies.commands.TAKEN_BY_RULES.format(count=await memory.revive(by_rules=True))
    if wanted in replies.commands.ALL:
        jobs = (await memory.status()).jobs
        words = replies.commands.TRIED_NOW if jobs.pending else replies.commands.REVIVED
        return words.format(count=await memory.revive(), waiting=jobs.pending)
    matching = [job for job in await memory.failed_jobs() if job.id.startswith(wanted)]
    if len(matching) != 1:
        return replies.commands.UNKNOWN_JOB
    return replies.commands.REVIVED.format(count=await memory.revive(matching[0].id))


async def _reindexed() -> str:
    return replies.commands.REINDEXED.format(count=await get_memory().reindex())


async def _paused() -> str:
    await get_memory().pause()
    return replies.commands.PAUSED


async def _resumed() -> str:
    await get_memory().resume()
    return replies.commands.RESUMED
