"""Commands on what is remembered: list, show, search, forget and correct events and pins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from nonebot.adapters import Bot, Event
from nonebot_plugin_alconna import Match

import cognitive_memory_core as core

from .. import replies
from ..auto_consider import considerer
from ..config import setup
from ..dependencies import Here
from ..lifecycle import get_memory
from .authority import objection
from .entry import answer, memory_command
from .forgotten import list_forgotten, showing
from .numbers import shown_lists
from .plain_text import words_of

if TYPE_CHECKING:
    from .numbers import Item

PAGE = 10
LAST_PAGE = 1_000
KINDS = ("event", "preference", "knowledge", "experience")
FOUND, MOST_FOUND = 5, 20
_PAGE = re.compile(r"(?P<kind>[^\s\d-]*)\s*(?P<page>-?[0-9]{1,40})?")
_COUNT = re.compile(r"(?:^|\s)-n(?:\s+(\S+))?(?=\s|$)")


@memory_command.assign("list")
async def list_events(bot: Bot, event: Event, here: Here, words: Match[tuple[object, ...]]) -> None:
    """List what is remembered here: pins, then events, newest first; or forgotten events if the words say so."""
    await answer(bot, event, _asked_list(bot, here, words_of(words.result) if words.available else ""))


@memory_command.assign("show")
async def show_item(bot: Bot, event: Event, here: Here, number: Match[int]) -> None:
    """Show one item of the list shown last, with the lines from which it was made."""
    await answer(bot, event, _shown(bot, here, number.result))


@memory_command.assign("search")
async def search_events(bot: Bot, event: Event, here: Here, words: Match[list[object]]) -> None:
    """Search what is remembered here."""
    await answer(bot, event, _found(bot, here, words_of(words.result)))


@memory_command.assign("forget")
async def forget_item(bot: Bot, event: Event, here: Here, target: Match[str]) -> None:
    """Forget one item of the list shown last."""
    await answer(bot, event, _forgotten(bot, event, here, target.result))


@memory_command.assign("correct")
async def correct_item(bot: Bot, event: Event, here: Here, number: Match[int], words: Match[list[object]]) -> None:
    """Replace the text of one item of the list shown last."""
    await answer(bot, event, _corrected(bot, event, here, number.result, words_of(words.result, here)))


async def _asked_list(bot: Bot, scene: core.Scene, said: str) -> str:
    asked = _PAGE.fullmatch(said.casefold())
    if asked is None or (asked["kind"] and asked["kind"] not in replies.commands.FORGOTTEN_WORDS):
        return replies.usage.usage("list")
    page = int(asked["page"] or 1)
    return await list_forgotten(bot, scene, page) if asked["kind"] else await _listed(bot, scene, page)


async def _listed(bot: Bot, scene: core.Scene, page: int) -> str:
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


async def _shown(bot: Bot, scene: core.Scene, number: int) -> str:
    item = await _read(scene, number)
    if item is None:
        return replies.commands.NUMBER_UNKNOWN
    if isinstance(item, core.Pin):
        return replies.memories.pin_details(item, setup.settings.zone)
    lines: list[core.Message] = []
    if item.request_type == "private" or scene.group_id == item.group_id:
        with suppress(core.UnavailableError):
            lines = await get_memory().find_messages(scene, item.message_ids)
    return replies.memories.event_details(number, item, lines, await showing(bot, scene, [item]))


async def _found(bot: Bot, scene: core.Scene, text: str) -> str:
    asked = split_count(text)
    if asked is None or not asked[0]:
        return replies.usage.usage("search")
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
    shown = await showing(bot, scene, [*events, *distinct])
    return replies.memories.found(pins, events, distinct[: max(wanted - len(events), 0)], shown)


def _least_relevance(hits: Sequence[core.Hit]) -> float:
    """Return the relevance below which hits are not shown: half of the best hit's, at least ``min_relevance``."""
    return max(setup.settings.query.min_relevance, max((hit.relevance for hit in hits), default=0.0) / 2)


def _is_about(text: str, query: str) -> bool:
    """Return whether a text contains a word of the query, or two neighbouring characters of it."""
    folded, pieces = text.casefold(), query.casefold().split()
    return any(piece[at : at + 2] in folded for piece in pieces for at in range(max(len(piece) - 1, 1)))


async def _forgotten(bot: Bot, event: Event, scene: core.Scene, target: str) -> str:
    if not (target.isascii() and target.isdigit()):
        return replies.usage.usage("forget")
    item = await _read(scene, int(target[:9]))
    if item is None:
        return replies.commands.NUMBER_UNKNOWN
    refusal = await _objection(bot, event, scene, item)
    if refusal:
        return refusal
    if isinstance(item, core.Pin):
        await get_memory().unpin(scene, item.id)
        return replies.commands.UNPINNED
    await get_memory().forget_event(scene, item.id)
    return replies.memories.forgotten(item, is_own=_is_own(scene, item))


async def _corrected(bot: Bot, event: Event, scene: core.Scene, number: int, text: str) -> str:
    item = await _read(scene, number)
    if item is None:
        return replies.commands.NUMBER_UNKNOWN
    if not text:
        return replies.usage.usage("correct")
    if isinstance(item, core.Pin):
        refusal = await _objection(bot, event, scene, item)
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


async def _objection(bot: Bot, event: Event, scene: core.Scene, item: Item) -> str:
    """Return why the asker may not change an item; "" for the asker's own, and for admins."""
    if isinstance(item, core.Pin):
        is_own = item.owner_id == scene.user_id or scene.kind == "private"
        return "" if is_own else await objection(bot, event, replies.commands.ADMINS_ONLY)
    return "" if _is_own(scene, item) else await objection(bot, event)


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
