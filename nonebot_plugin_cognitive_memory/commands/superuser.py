"""Commands of the bot's superusers: figures, the queue, failed jobs, the index, and pausing the historian."""

from __future__ import annotations

from datetime import datetime

import cognitive_memory_core as core

from .. import replies
from ..config import setup
from ..lifecycle import get_memory
from .entry import Call
from .pictures import PictureAnswer

FAILED = 10  # failed jobs in one answer
ID_LENGTH = 8  # characters of a job's id that are shown


async def show_stats(call: Call) -> str | PictureAnswer:
    """Show the figures of the whole memory."""
    memory, operator = get_memory(), core.Scene.operator(call.here.agent)
    now, activity = await memory.status(), await memory.activity(operator)
    gist = [
        *replies.status.switches_remarks(await memory.place_switches(operator), setup.settings.zone),
        *replies.quality.remarks(await memory.report(operator, examine=False)),
    ]
    text = "\n".join((replies.status.stats(now, activity), *(line for _, line in gist)))
    at, remarks = f"{datetime.now(setup.settings.zone):%Y-%m-%d %H:%M}", [*replies.status.stats_remarks(now), *gist]
    if call.text:
        return text
    from ..cards.contents import stats_card  # noqa: PLC0415  # cards load with the first one

    return PictureAnswer(text, stats_card(now, activity, remarks, at))


async def show_queue(_call: Call) -> str:
    """Show the number of jobs that wait, that run and that failed."""
    return replies.status.queue(await get_memory().status())


async def show_failed(_call: Call) -> str:
    """List the failed jobs with their errors."""
    memory = get_memory()
    failed, refused = await memory.failed_jobs(), replies.status.refused(await memory.status())
    listed = replies.status.failed_list(failed[:FAILED], len(failed), setup.settings.zone, ID_LENGTH)
    return f"{refused}\n{listed}" if refused else listed


async def retry(call: Call) -> str:
    """Queue a failed job again, given the beginning of its id, or all failed jobs."""
    memory, wanted = get_memory(), call.text
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


async def reindex(_call: Call) -> str:
    """Rebuild the vector index."""
    return replies.commands.REINDEXED.format(count=await get_memory().reindex())


async def pause(_call: Call) -> str:
    """Stop the historian from processing jobs; what is said meanwhile waits."""
    await get_memory().pause()
    return replies.commands.PAUSED


async def resume(_call: Call) -> str:
    """Let the historian work again."""
    await get_memory().resume()
    return replies.commands.RESUMED
