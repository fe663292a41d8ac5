"""Commands that look back: what was said while the asker was away, and what lay before the model for an answer."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import datetime

import cognitive_memory_core as core

from .. import injected, replies
from ..auto_consider import considerer
from ..bounded_maps import Lasting
from ..config import setup
from ..heard import answer_sources, find_message
from ..lifecycle import get_memory
from .entry import Call

SHARED_FOR = 600.0  # seconds in which who asks again gets what was learned for the first
POLL, POLLS = 0.25, 40  # seconds; how long an answer waits for the historian
_considered: Lasting[core.Scope, bool] = Lasting(SHARED_FOR, 1_000)


async def catch_up(call: Call) -> str:
    """Reply with what was said here since the asker's last line, or for as long as the words say."""
    memory, scene, zone = get_memory(), call.here, setup.settings.zone
    if (await memory.place_switch(scene)).switch in ("off", "record_only"):
        return replies.looking_back.NOT_READ_HERE
    since, now = None, datetime.now(zone)
    if call.text:  # since the beginning of the day that is named, or for so long before now
        window, limit = core.time_window(call.text, now), core.time_limit(call.text, now)
        since = window.start if window is not None and window.start < now else limit and now - (limit - now)
        if since is None or since >= now:
            return call.usage
    await _learn_first(scene)
    missed = await memory.catch_up(scene, since=since)
    return replies.looking_back.caught_up(missed, scene, zone, considerer.waiting_count(scene)[0])


async def why(call: Call) -> str:
    """Show the lines and memories that lay before the model for the answer to which the command replies."""
    memory, scene = get_memory(), call.here
    asking = find_message(call.bot, call.event)
    replied = asking.reply_to if asking else None
    if replied is None and (reply := getattr(call.event, "reply", None)) is not None:
        replied = str(reply.message_id)
    if replied is None:
        return call.usage
    sources = answer_sources.find(scene, replied)
    if sources is None:
        return replies.looking_back.UNKNOWN_ANSWER
    lines = await memory.find_messages(scene, sources)
    events: list[core.Event] = []
    for source in set(sources) - {line.id for line in lines}:
        with suppress(core.UnknownEvent):
            events.append(await memory.find_event(scene, source))
    return replies.looking_back.reasons(events, lines, scene, setup.settings.zone, len(sources))


async def _learn_first(scene: core.Scene) -> None:
    """Let the historian read the newest lines; with a model that is one call for everybody who asks meanwhile."""
    if not considerer.waiting_count(scene)[0] or _considered.find(scene.scope):
        return
    _considered.put(scene.scope, True)
    with suppress(core.CognitiveMemoryError):
        if await injected.submit_dialogue(scene) is None:
            return
        for _ in range(POLLS):
            jobs = (await get_memory().status()).jobs
            if not jobs.pending + jobs.processing:
                return
            await asyncio.sleep(POLL)
