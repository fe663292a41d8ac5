"""Commands of the bot's superusers: figures, jobs, index, pausing, settings, and the console's code."""

from __future__ import annotations

from datetime import datetime

from nonebot import get_driver

import cognitive_memory_core as core

from .. import replies
from ..cards import stats_card
from ..config import setup
from ..console import ADDRESS, access
from ..hot_settings import hot_settings
from ..lifecycle import get_memory
from .answering import Answer
from .calls import Call

FAILED = 10  # failed jobs in one answer
ID_LENGTH = 8  # characters of a job's id that are shown


async def show_stats(call: Call) -> Answer:
    """Show the figures of the whole memory."""
    memory, operator = get_memory(), core.Scene.operator(call.here.agent)
    now, activity = await memory.status(), await memory.activity(operator)
    switches = replies.status.switches_remarks(await memory.place_switches(operator), setup.settings.zone)
    remarks = [*replies.status.stats_remarks(now), *switches]
    return stats_card(now, activity, remarks, f"{datetime.now(setup.settings.zone):%Y-%m-%d %H:%M}")


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


async def suspend(call: Call) -> str:
    """Stop the historian from processing jobs, while what is said waits, or let it work again."""
    if call.command.name == "pause":
        await get_memory().pause()
        return replies.commands.PAUSED
    await get_memory().resume()
    return replies.commands.RESUMED


async def configure(call: Call) -> str:
    """Show settings, change or reset hot ones, or read the files again, as the words after the command say."""
    word, _, rest = call.text.partition(" ")
    action = replies.commands.ACTIONS.get(word.casefold(), "" if word else "get")
    name, _, value = rest.strip().partition(" ")
    if action == "get":
        known = hot_settings.configuration
        if not name:
            return replies.commands.changed_settings(known.overridden, known.problems)
        group = [key for key in core.setting_keys() if key.startswith(f"{name.strip('.*').lower()}.")]
        if group:
            return "\n".join(replies.commands.setting(known.state(key)) for key in group)
        return replies.commands.setting(known.state(name))
    if action == "set":
        name, equals, behind = name.partition("=")
        if not name:
            return replies.commands.KEY_WANTED
        text = value.strip().removeprefix("=").strip()
        result = await hot_settings.change(name, f"{behind} {text}".strip() if equals else text)
        state = hot_settings.configuration.state(name)
        same = replies.commands.SAME_VALUE.format(key=state.key, value=state.value or "（空）")
        return hot_settings.told(result) or same
    if action == "reset":
        return hot_settings.told(await hot_settings.reset(name)) or replies.commands.RELOADED
    if action == "reload":
        return hot_settings.told(await hot_settings.reload()) or replies.commands.RELOADED
    return replies.commands.USAGE


async def give_code(_call: Call) -> str:
    """Send a one-time code for opening the console; only to a superuser, and only in a private chat."""
    if access is None:
        return replies.commands.CLOSED
    from ..console.sessions import CODE_SECONDS  # noqa: PLC0415  # loaded with an open console

    return replies.commands.CODE.format(
        code=access.codes.issue(),
        minutes=round(CODE_SECONDS / 60),
        path=ADDRESS,
        address=f"http://127.0.0.1:{get_driver().config.port}{ADDRESS}",
    )
