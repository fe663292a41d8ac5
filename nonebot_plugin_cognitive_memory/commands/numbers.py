"""Numbers in lists: a number means an item of the list that a person saw last in a scene, for a limited time."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import cognitive_memory_core as core

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
