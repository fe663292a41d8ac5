"""Memos and pins, in memory."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from cognitive_memory_core.domain.erasure_rules import stays_out
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.note import Memo, Pin
from cognitive_memory_core.domain.scope import Scope

from .state import InMemoryState


class InMemoryNotes:
    """The memos and pins of a state."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state

    async def write_memo(self, memo: Memo) -> None:
        """Store a memo; a known id changes nothing."""
        if not stays_out(self._state.erased, memo):
            self._state.memos.setdefault(memo.id, memo)

    async def memos(self, scope: Scope, limit: int, *, without: Collection[str] = ()) -> list[Memo]:
        """Return the newest memos of a place, newest last."""
        here = [memo for memo in self._state.memos.values() if memo.scope == scope and memo.user_id not in without]
        return sorted(here, key=lambda memo: memo.written_at)[max(len(here) - max(limit, 0), 0) :]

    async def latest_memos(self, limit: int) -> list[Memo]:
        """Return the newest memos of all places, newest last."""
        memos = list(self._state.memos.values())
        return memos[len(memos) - min(limit, len(memos)) :]

    async def erase_copies(self, line: Message) -> list[str]:
        """Delete the memos of a line's place and person that quote it, written since; return their ids."""
        whose = (line.scene.scope, line.scene.user_id)
        gone = [
            memo.id
            for memo in self._state.memos.values()
            if (memo.scope, memo.user_id) == whose and memo.written_at >= line.sent_at and line.text.strip() in memo.text
        ]
        return [self._state.memos.pop(memo_id).id for memo_id in gone]

    async def memo_ids(self, user_id: str) -> list[str]:
        """Return the ids of the memos of a person's turns."""
        return [memo.id for memo in self._state.memos.values() if memo.user_id == user_id]

    async def write_pin(self, pin: Pin) -> None:
        """Store a pin, or replace text and author of the pin with this id."""
        if stays_out(self._state.erased, pin):
            return
        standing = self._state.pins.get(pin.id)
        self._state.pins[pin.id] = (
            pin if standing is None else replace(standing, text=pin.text, author_id=pin.author_id)
        )

    async def find_pin(self, pin_id: str) -> Pin | None:
        """Return a pin of any place."""
        return self._state.pins.get(pin_id)

    async def pins(self, scope: Scope) -> list[Pin]:
        """Return all pins of a place, oldest first."""
        here = [pin for pin in self._state.pins.values() if pin.scope == scope]
        return sorted(here, key=lambda pin: pin.pinned_at)

    async def erase_pin(self, pin_id: str) -> None:
        """Delete a pin if it exists."""
        self._state.pins.pop(pin_id, None)
