"""Numbered lists of events: what a number means, the lists of forgotten events, and names of groups in them."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nonebot.adapters import Bot
from nonebot.exception import AdapterException

import cognitive_memory_core as core

from .. import replies
from ..config import setup
from ..lifecycle import get_memory
from ..onebot import v12
from ..platform_names import NAME_LENGTH
from .entry import Call

if TYPE_CHECKING:
    Item = core.Event | core.Pin
    Listed = Item | core.Belief | core.Suggestion

VALID = 600.0  # seconds
SCENES = 1_000


@dataclass(frozen=True)
class ListedItem:
    """The event or pin that a number means; its text is read on use, because it may be forgotten meanwhile."""

    id: str
    is_pin: bool


@dataclass(frozen=True)
class ShownList:
    """A list that was shown: its items by number, and when it was shown."""

    items: Mapping[int, ListedItem]
    shown_at: float


class ShownLists:
    """The list that each person saw last in each scene; ``clock`` returns seconds of a monotonic clock."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with no list shown."""
        self._clock = clock
        self._lists: OrderedDict[core.Scene, ShownList] = OrderedDict()

    def show(self, scene: core.Scene, events: Sequence[Listed], first: int = 1) -> None:
        """Store a list as shown, numbered from ``first``; it replaces the earlier one."""
        self._lists[scene] = ShownList(dict(enumerate(map(_reference, events), first)), self._clock())
        self._lists.move_to_end(scene)
        if len(self._lists) > SCENES:
            self._lists.popitem(last=False)

    def put(self, scene: core.Scene, number: int, item: Item) -> None:
        """Replace the item with this number in the list shown last; does nothing if there is no list."""
        shown = self._lists.get(scene)
        if shown is not None:
            self._lists[scene] = ShownList({**shown.items, number: _reference(item)}, shown.shown_at)

    def drop(self, scene: core.Scene) -> None:
        """Drop the list shown last, because a list of another kind is shown now."""
        self._lists.pop(scene, None)

    def is_valid(self, scene: core.Scene) -> bool:
        """Return whether a list was shown here that has not expired."""
        shown = self._lists.get(scene)
        return shown is not None and self._clock() - shown.shown_at <= VALID

    def find(self, scene: core.Scene, number: int) -> ListedItem | None:
        """Return the item with a number; None if there is none or the list has expired."""
        return self._lists[scene].items.get(number) if self.is_valid(scene) else None


def _reference(item: Listed) -> ListedItem:
    return ListedItem(item.id, isinstance(item, core.Pin))


shown_lists = ShownLists()


MOST_ASKED = 5  # groups; the others are shown by number
PATIENCE = 2.0  # seconds


async def group_names(bot: Bot, group_ids: Collection[str]) -> Mapping[str, str]:
    """Return the names of groups by id, without those that the platform does not return in time."""
    asked = sorted(group_ids)[:MOST_ASKED]
    names = await asyncio.gather(*(_name(bot, group_id) for group_id in asked))
    return {group_id: name for group_id, name in zip(asked, names, strict=True) if name}


async def _name(bot: Bot, group_id: str) -> str:
    wanted = group_id if isinstance(bot, v12.Bot) or not group_id.isdigit() else int(group_id)
    try:
        found = await asyncio.wait_for(bot.call_api("get_group_info", group_id=wanted), PATIENCE)
    except (AdapterException, asyncio.TimeoutError):
        return ""
    name = found.get("group_name") if isinstance(found, Mapping) else None
    return core.clean_name(name[:NAME_LENGTH]) if isinstance(name, str) else ""


PAGE = 10
LAST_PAGE = 1_000
shown_forgotten = ShownLists()


async def list_forgotten(bot: Bot, scene: core.Scene, page: int) -> str:
    """List the asker's events that can be restored, the latest forgotten first."""
    if page > LAST_PAGE:
        return replies.commands.NO_PAGE.format(page=page)
    page = max(page, 1)
    offset = (page - 1) * PAGE
    found = await get_memory().forgotten_events(scene, limit=PAGE + 1, offset=offset)
    events = found[:PAGE]
    if events:
        shown_forgotten.show(scene, events, offset + 1)
    else:
        shown_forgotten.drop(scene)
    shown = await showing(bot, scene, events)
    return replies.memories.forgotten_list(events, shown, first=offset + 1, page=page, is_more=len(found) > PAGE)


async def restored(call: Call) -> str:
    """Restore the event with this number in the list of forgotten events; return the reply."""
    shown = shown_forgotten.find(call.here, call.number or 0)
    if shown is None:
        return replies.commands.FORGOTTEN_NUMBER_UNKNOWN
    return replies.memories.restored(await get_memory().restore_event(call.here, shown.id))


async def showing(bot: Bot, scene: core.Scene, events: Sequence[core.Event]) -> replies.memories.Showing:
    """Return how events are shown to the asker: time zone, and names of the other groups in which they were said."""
    elsewhere = {event.group_id for event in events} - {"", scene.group_id}
    return replies.memories.Showing(scene, setup.settings.zone, await group_names(bot, elsewhere))
