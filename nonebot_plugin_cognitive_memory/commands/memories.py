"""Commands on what is remembered here, and on what was said and answered.

Events and pins are named by their numbers in the list that the asker was shown last.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timezone

import cognitive_memory_core as core

from .. import injected, replies
from ..answer_sources import answer_sources
from ..auto_consider import considerer
from ..config import setup
from ..heard import find_message
from ..lifecycle import get_memory
from ..limits import Lasting
from ..onebot import v11, v12, worded
from ..scene import agent_of, name_of, qq_id, scene_at
from .authority import check_admin
from .calls import Call, show, shown, shown_id, unknown_number

PAGE, LAST_PAGE = 10, 1_000
KINDS = ("event", "preference", "knowledge", "experience")
FOUND, MOST_FOUND = 5, 20
MOST_NAMED = 5  # other groups shown by name in one answer
_COUNT = re.compile(r"(?:^|\s)-n(?:\s+(\S+))?(?=\s|$)")


async def list_events(call: Call) -> str:
    """List what is remembered here: pins, then events, newest first; or forgotten events if the words say so."""
    memory, scene, page = get_memory(), call.here, max(1 if call.number is None else call.number, 1)
    if page > LAST_PAGE:
        return replies.commands.NO_PAGE.format(page=page)
    offset = (page - 1) * PAGE
    if call.text:
        pins, found = list[core.Pin](), await memory.forgotten_events(scene, limit=PAGE + 1, offset=offset)
        kind, nothing = "forgotten", replies.commands.NOTHING_FORGOTTEN
    else:
        pins, found = await memory.pins(scene), await memory.events(scene, limit=PAGE + 1, offset=offset)
        kind, nothing = "items", replies.status.nothing_yet(*considerer.waiting(scene))
    events, shown_pins = found[:PAGE], pins if page == 1 else []
    first = 1 if page == 1 else len(pins) + offset + 1
    if not events and not shown_pins:
        return nothing if page == 1 else replies.commands.NO_PAGE.format(page=page)
    show(scene, kind, [*shown_pins, *events], first)
    where, is_more = await showing(scene, events), len(found) > PAGE
    listed = replies.memories.item_list(
        shown_pins, events, where, first=first, page=page, is_more=is_more, are_forgotten=bool(call.text)
    )
    return listed if events else f"{listed}\n{nothing}"


async def show_item(call: Call) -> str:
    """Show one item of the list shown last, with the lines from which it was made."""
    scene, item = call.here, await _numbered(call)
    if isinstance(item, core.Pin):
        return replies.memories.pin_details(item, setup.settings.zone)
    lines: list[core.Message] = []
    if item.request_type == "private" or scene.group_id == item.group_id:
        with suppress(core.UnavailableError):
            lines = await get_memory().find_messages(scene, item.message_ids)
    return replies.memories.event_details(call.number or 0, item, lines, await showing(scene, [item]))


async def search_events(call: Call) -> str:
    """Search what is remembered here: pins and events, then lines of the log that no found event was made of.

    Left out is what is less than half as relevant as the best, or than ``query.min_relevance``.
    """
    asked = split_count(call.text)
    if asked is None or not asked[0]:
        return call.usage
    memory, scene, (query, wanted) = get_memory(), call.here, asked
    pins = [pin for pin in await memory.pins(scene) if _is_about(pin.text, query)]
    hits = await memory.search_events(scene, query, kinds=KINDS, top_k=MOST_FOUND)
    said = await memory.search_events(scene, query, kinds=("message",), top_k=MOST_FOUND)
    best = max((hit.relevance for hit in (*hits, *said)), default=0.0)
    floor = max(setup.settings.query.min_relevance, best / 2)
    events = [hit.event for hit in hits if hit.relevance >= floor][:wanted]
    told = {message_id for event in events for message_id in event.message_ids}
    lines = [hit.event for hit in said if hit.relevance >= floor and hit.event.id not in told]
    lines = [
        line for line in lines if _is_about(line.text, query) and not any(line.text in event.text for event in events)
    ]
    distinct = list({line.text: line for line in reversed(lines)}.values())[::-1]
    show(scene, "items", [*pins, *events])
    where = await showing(scene, [*events, *distinct])
    return replies.memories.found(pins, events, distinct[: max(wanted - len(events), 0)], where)


async def forget_item(call: Call) -> str:
    """Forget one item of the list shown last."""
    scene, item = call.here, await _numbered(call)
    await _check_owner(call, item)
    if isinstance(item, core.Pin):
        await get_memory().unpin(scene, item.id)
        return replies.commands.UNPINNED
    await get_memory().forget_event(scene, item.id)
    words = replies.memories.FORGOTTEN_OWN if _is_own(scene, item) else replies.memories.FORGOTTEN
    return words.format(text=(await showing(scene, [item])).short(item))


async def correct_item(call: Call) -> str:
    """Replace the text of one item of the list shown last, which keeps its number."""
    scene, item, memory = call.here, await _numbered(call), get_memory()
    if not call.text:
        return call.usage
    if isinstance(item, core.Pin):
        await _check_owner(call, item)
        corrected: core.Pin | core.Event = await memory.update_pin(scene, item.id, call.text)
    else:
        corrected = await memory.correct_event(scene, item.id, call.text)
        (shown.find((scene, "items")) or {})[call.number or 0] = corrected.id
    return replies.commands.CORRECTED.format(text=replies.commands.short(corrected.text))


async def add_pin(call: Call) -> str:
    """Pin a fact for the asker or for the whole group; ``add`` without words pins the message that it replies to."""
    scene, for_group = call.here, call.command.name == "pin"
    text = call.text or ("" if for_group else await _replied_to(call))
    if not text:
        return call.usage
    pin = await get_memory().pin(scene, text, for_group=for_group)
    asker = await get_memory().listings.person(core.Scene.operator(scene.agent), scene.user_id)
    is_hidden = asker.has_opted_out and not for_group
    return replies.commands.pinned(pin.text, is_cut=len(pin.text) < len(text), for_group=for_group, is_hidden=is_hidden)


async def list_pins(call: Call) -> str:
    """List the asker's pins here and those of the group."""
    pins = await get_memory().pins(call.here)
    show(call.here, "items", pins)
    return replies.memories.pin_list(pins, setup.settings.zone)


def split_count(text: str) -> tuple[str, int] | None:
    """Split ``-n N`` off a query; return the rest and the number N of wanted hits, None if N is not a number."""
    asked = _COUNT.search(text)
    if asked is None:
        return text.strip(), FOUND
    if not (asked[1] and asked[1].isascii() and asked[1].isdigit()):
        return None
    rest = text[: asked.start()] + text[asked.end() :]
    return rest.strip(), min(max(int(asked[1][:3]), 1), MOST_FOUND)


def _is_about(text: str, query: str) -> bool:
    """Return whether a text contains a word of the query, or two neighbouring characters of it."""
    folded, pieces = text.casefold(), query.casefold().split()
    return any(piece[at : at + 2] in folded for piece in pieces for at in range(max(len(piece) - 1, 1)))


async def _numbered(call: Call) -> core.Event | core.Pin:
    """Return the item with the call's number in the list shown last, as it is stored now."""
    item_id = shown_id(call.here, "items", call.number)
    pin = next((pin for pin in await get_memory().pins(call.here) if pin.id == item_id), None)
    try:
        return pin or await get_memory().find_event(call.here, item_id)
    except core.UnknownEvent as gone:
        raise unknown_number("items") from gone


async def _check_owner(call: Call, item: core.Event | core.Pin) -> None:
    """Raise MistakeError unless the item is the asker's own, or the asker is an admin."""
    if isinstance(item, core.Pin):
        if item.owner_id != call.here.user_id and call.here.kind != "private":
            await check_admin(call, replies.commands.ADMINS_ONLY)
    elif not _is_own(call.here, item):
        await check_admin(call)


def _is_own(scene: core.Scene, item: core.Event) -> bool:
    return item.person == scene.user_id or scene.kind == item.request_type == "private"


async def showing(scene: core.Scene, events: Sequence[core.Event]) -> replies.memories.Showing:
    """Return how events are shown to the asker: time zone, and names of the other groups in which they were said.

    A group whose name cannot be read is shown by its id: what the answer confirms may be done already.
    """
    listings, named = get_memory().listings, dict[str, str]()
    for group_id in sorted({event.group_id for event in events} - {"", scene.group_id})[:MOST_NAMED]:
        wanted = core.PlaceListing(core.Scope(scene.agent, "group", group_id), is_counted=False)
        with suppress(core.UnavailableError):
            for place in await listings.places(core.Scene.operator(scene.agent), wanted, 1):
                named[group_id] = place.name
    return replies.memories.Showing(scene, setup.settings.zone, named)


async def _replied_to(call: Call) -> str:
    """Return the message that a command replies to, quoted behind its speaker's name.

    "" if there is none, if it could not be fetched, or if its speaker must not be recorded. OneBot v12 sends only the
    message's id; it is taken from the log.
    """
    memory, scene, event = get_memory(), call.here, call.event
    if isinstance(event, v12.MessageEvent):
        asking, lines = find_message(call.bot, event), list[core.Message]()
        with suppress(core.CognitiveMemoryError):
            lines = await memory.find_messages(scene, [asking.reply_to]) if asking and asking.reply_to else []
        if not lines or lines[0].is_bot:
            return lines[0].text if lines else ""
        said, speaker, name = lines[0].text, lines[0].sender_id, lines[0].scene.user_name
    else:
        reply = event.reply if isinstance(event, v11.MessageEvent) else None
        said, speaker = (worded(reply.message).text, qq_id(reply.sender.user_id)) if reply else ("", None)
        if reply is None or not said or not speaker or speaker == call.bot.self_id:
            return said
        where, name = scene_at(agent_of(call.bot), scene.group_id, speaker), name_of(reply.sender)
        at = datetime.fromtimestamp(reply.time, tz=timezone.utc)
        if where is None or not memory.is_running or not await memory.may_record(where, at):
            return ""
    return f"{name or 'QQ'}({speaker})：“{said}”"


SHARED_FOR = 600.0  # seconds in which who asks again gets what was learned for the first
POLL, POLLS = 0.25, 40  # seconds; how long an answer waits for the historian
_considered: Lasting[core.Scope, bool] = Lasting(SHARED_FOR, 1_000)


async def catch_up(call: Call) -> str:
    """Reply with what was said here since the asker's last line, or for as long as the words say."""
    memory, scene, zone = get_memory(), call.here, setup.settings.zone
    if (await memory.place_switch(scene)).switch in ("off", "record_only"):
        return replies.memories.NOT_READ_HERE
    since, now = None, datetime.now(zone)
    if call.text:  # since the beginning of the day that is named, or for so long before now
        window, limit = core.time_window(call.text, now), core.time_limit(call.text, now)
        since = window.start if window is not None and window.start < now else limit and now - (limit - now)
        if since is None or since >= now:
            return call.usage
    await _learn_first(scene)
    missed = await memory.catch_up(scene, since=since)
    return replies.memories.caught_up(missed, scene, zone, considerer.waiting(scene)[0])


async def why(call: Call) -> str:
    """Show the lines and memories that lay before the model for the answer to which the command replies."""
    memory, scene = get_memory(), call.here
    asking = find_message(call.bot, call.event)
    if asking is None or asking.reply_to is None:
        return call.usage
    sources = answer_sources.find(scene, asking.reply_to)
    if sources is None:
        return replies.memories.UNKNOWN_ANSWER
    lines = await memory.find_messages(scene, sources)
    events: list[core.Event] = []
    for source in set(sources) - {line.id for line in lines}:
        with suppress(core.UnknownEvent):
            events.append(await memory.find_event(scene, source))
    return replies.memories.reasons(events, lines, scene, setup.settings.zone, len(sources))


async def _learn_first(scene: core.Scene) -> None:
    """Let the historian read the newest lines; with a model that is one call for everybody who asks meanwhile."""
    if not considerer.waiting(scene)[0] or _considered.find(scene.scope):
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
