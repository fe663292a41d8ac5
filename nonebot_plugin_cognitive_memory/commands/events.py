"""Commands on remembered events: list, search, forget."""

from __future__ import annotations

import re

from nonebot.adapters import Bot, Event
from nonebot_plugin_alconna import Match

import cognitive_memory_core as core

from .. import replies
from ..config import setup
from ..lifecycle import get_memory
from ..params import Here
from .authority import objection
from .entry import answer, memory_command
from .numbers import shown_lists
from .words import words_of

PAGE = 10
LAST_PAGE = 1_000
FOUND, MOST_FOUND = 5, 20
_COUNT = re.compile(r"(?:^|\s)-n\s+(\d{1,3})(?=\s|$)", re.ASCII)


@memory_command.assign("list")
async def list_events(bot: Bot, event: Event, here: Here, page: Match[int]) -> None:
    """List what is remembered here, newest first."""
    await answer(bot, event, _listed(here, page.result if page.available else 1))


@memory_command.assign("search")
async def search_events(bot: Bot, event: Event, here: Here, words: Match[list[object]]) -> None:
    """Search what is remembered here."""
    await answer(bot, event, _found(here, words_of(words.result)))


@memory_command.assign("forget")
async def forget_event(bot: Bot, event: Event, here: Here, number: Match[int]) -> None:
    """Forget one event of the list shown last."""
    await answer(bot, event, _forgotten(bot, event, here, number.result))


async def _listed(scene: core.Scene, page: int) -> str:
    page = min(max(page, 1), LAST_PAGE)
    first = (page - 1) * PAGE
    events = await get_memory().events(scene, limit=PAGE + 1, offset=first)
    if not events:
        return replies.commands.nothing_listed(page)
    shown = events[:PAGE]
    shown_lists.show(scene, shown, first + 1)
    return replies.commands.event_list(shown, first + 1, setup.settings.zone, page=page, is_more=len(events) > PAGE)


async def _found(scene: core.Scene, text: str) -> str:
    query, wanted = split_count(text)
    if not query:
        return replies.commands.usage("search")
    memory, floor = get_memory(), setup.settings.query.min_relevance
    hits = await memory.search_events(scene, query, top_k=wanted)
    events = [hit.event for hit in hits if hit.relevance >= floor]
    lines: list[core.Hit] = []
    if len(events) < wanted:
        lines = await memory.search_events(scene, query, kinds=("message",), top_k=wanted - len(events))
    shown_lists.show(scene, events)
    return replies.commands.found(events, [line.event for line in lines], setup.settings.zone)


async def _forgotten(bot: Bot, event: Event, scene: core.Scene, number: int) -> str:
    chosen = shown_lists.find(scene, number)
    if chosen is None:
        return replies.commands.NUMBER_UNKNOWN
    refusal = "" if _is_own(scene, chosen) else await objection(bot, event)
    if refusal:
        return refusal
    await get_memory().forget_event(scene, chosen.id)
    return replies.commands.FORGOTTEN


def _is_own(scene: core.Scene, event: core.Event) -> bool:
    return event.sender_id == scene.user_id or scene.kind == event.request_type == "private"


def split_count(text: str) -> tuple[str, int]:
    """Split ``-n N`` off a query; return the rest and the number of hits wanted."""
    asked = _COUNT.search(text)
    if asked is None:
        return text.strip(), FOUND
    rest = text[: asked.start()] + text[asked.end() :]
    return rest.strip(), min(max(int(asked[1]), 1), MOST_FOUND)
