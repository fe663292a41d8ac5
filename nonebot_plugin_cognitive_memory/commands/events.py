"""Commands on what is remembered: list, show, search, forget and correct events and pins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import cognitive_memory_core as core

from .. import replies
from ..auto_consider import considerer
from ..config import setup
from ..lifecycle import get_memory
from .authority import objection
from .entry import Call
from .lists import LAST_PAGE, PAGE, list_forgotten, showing, shown_lists

if TYPE_CHECKING:
    from .lists import Item

KINDS = ("event", "preference", "knowledge", "experience")
FOUND, MOST_FOUND = 5, 20
_COUNT = re.compile(r"(?:^|\s)-n(?:\s+(\S+))?(?=\s|$)")


async def list_events(call: Call) -> str:
    """List what is remembered here: pins, then events, newest first; or forgotten events if the words say so."""
    bot, scene, page = call.bot, call.here, 1 if call.number is None else call.number
    if call.text:
        return await list_forgotten(bot, scene, page)
    if page > LAST_PAGE:
        return replies.commands.NO_PAGE.format(page=page)
    memory, page = get_memory(), max(page, 1)
    pins = await memory.pins(scene)
    offset = (page - 1) * PAGE
    events = await memory.events(scene, limit=PAGE + 1, offset=offset)
    shown_pins = pins if page == 1 else []
    if not events and not shown_pins:
        return _nothing(scene) if page == 1 else replies.commands.NO_PAGE.format(page=page)
    first = 1 if page == 1 else len(pins) + offset + 1
    shown_lists.show(scene, [*shown_pins, *events[:PAGE]], first)
    shown = await showing(bot, scene, events)
    listed = replies.memories.item_list(
        shown_pins, events[:PAGE], shown, first=first, page=page, is_more=len(events) > PAGE
    )
    return listed if events else f"{listed}\n{_nothing(scene)}"


def _nothing(scene: core.Scene) -> str:
    lines, seconds = considerer.waiting_count(scene)
    return replies.status.nothing_yet(lines, seconds)


async def show_item(call: Call) -> str:
    """Show one item of the list shown last, with the lines from which it was made."""
    scene, number = call.here, call.number or 0
    item = await _read(scene, number)
    if item is None:
        return replies.commands.NUMBER_UNKNOWN
    if isinstance(item, core.Pin):
        return replies.memories.pin_details(item, setup.settings.zone)
    lines: list[core.Message] = []
    if item.request_type == "private" or scene.group_id == item.group_id:
        with suppress(core.UnavailableError):
            lines = await get_memory().find_messages(scene, item.message_ids)
    return replies.memories.event_details(number, item, lines, await showing(call.bot, scene, [item]))


async def search_events(call: Call) -> str:
    """Search what is remembered here."""
    scene, asked = call.here, split_count(call.text)
    if asked is None or not asked[0]:
        return call.usage
    query, wanted = asked
    memory = get_memory()
    pins = [pin for pin in await memory.pins(scene) if _is_about(pin.text, query)]
    hits = await memory.search_events(scene, query, kinds=KINDS, top_k=MOST_FOUND)
    said = await memory.search_events(scene, query, kinds=("message",), top_k=MOST_FOUND)
    floor = _least_relevance([*hits, *said])
    events = [hit.event for hit in hits if hit.relevance >= floor][:wanted]
    told = {message_id for event in events for message_id in event.message_ids}
    texts = {event.text for event in events}
    lines = [hit.event for hit in said if hit.relevance >= floor and hit.event.id not in told]
    lines = [line for line in lines if _is_about(line.text, query) and not any(line.text in text for text in texts)]
    distinct = list({line.text: line for line in reversed(lines)}.values())[::-1]
    shown_lists.show(scene, [*pins, *events])
    shown = await showing(call.bot, scene, [*events, *distinct])
    return replies.memories.found(pins, events, distinct[: max(wanted - len(events), 0)], shown)


def _least_relevance(hits: Sequence[core.Hit]) -> float:
    """Return the relevance below which hits are not shown: half of the best hit's, at least ``min_relevance``."""
    return max(setup.settings.query.min_relevance, max((hit.relevance for hit in hits), default=0.0) / 2)


def _is_about(text: str, query: str) -> bool:
    """Return whether a text contains a word of the query, or two neighbouring characters of it."""
    folded, pieces = text.casefold(), query.casefold().split()
    return any(piece[at : at + 2] in folded for piece in pieces for at in range(max(len(piece) - 1, 1)))


async def forget_item(call: Call) -> str:
    """Forget one item of the list shown last."""
    scene = call.here
    item = await _read(scene, call.number or 0)
    if item is None:
        return replies.commands.NUMBER_UNKNOWN
    if refusal := await _objection(call, item):
        return refusal
    if isinstance(item, core.Pin):
        await get_memory().unpin(scene, item.id)
        return replies.commands.UNPINNED
    await get_memory().forget_event(scene, item.id)
    return replies.memories.forgotten(item, is_own=_is_own(scene, item))


async def correct_item(call: Call) -> str:
    """Replace the text of one item of the list shown last."""
    scene, number, text = call.here, call.number or 0, call.text
    item = await _read(scene, number)
    if item is None:
        return replies.commands.NUMBER_UNKNOWN
    if not text:
        return call.usage
    if isinstance(item, core.Pin):
        refusal = await _objection(call, item)
        return refusal or replies.commands.corrected((await get_memory().update_pin(scene, item.id, text)).text)
    corrected = await get_memory().correct_event(scene, item.id, text)
    shown_lists.put(scene, number, corrected)
    return replies.commands.corrected(corrected.text)


async def _read(scene: core.Scene, number: int) -> Item | None:
    """Return the item with this number in the list shown last, as it is stored now; None if it no longer exists."""
    shown = shown_lists.find(scene, number)
    if shown is None:
        return None
    if shown.is_pin:
        return next((pin for pin in await get_memory().pins(scene) if pin.id == shown.id), None)
    try:
        return await get_memory().find_event(scene, shown.id)
    except core.UnknownEvent:
        return None


async def _objection(call: Call, item: Item) -> str:
    """Return why the asker may not change an item; "" for the asker's own, and for admins."""
    if isinstance(item, core.Pin):
        is_own = item.owner_id == call.here.user_id or call.here.kind == "private"
        return "" if is_own else await objection(call.bot, call.event, replies.commands.ADMINS_ONLY)
    return "" if _is_own(call.here, item) else await objection(call.bot, call.event)


def _is_own(scene: core.Scene, item: core.Event) -> bool:
    return item.person == scene.user_id or scene.kind == item.request_type == "private"


def split_count(text: str) -> tuple[str, int] | None:
    """Split ``-n N`` off a query; return the rest and the number N of wanted hits, None if N is not a number."""
    asked = _COUNT.search(text)
    if asked is None:
        return text.strip(), FOUND
    if not (asked[1] and asked[1].isascii() and asked[1].isdigit()):
        return None
    rest = text[: asked.start()] + text[asked.end() :]
    return rest.strip(), min(max(int(asked[1][:3]), 1), MOST_FOUND)
