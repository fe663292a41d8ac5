"""Memos and pins."""

from __future__ import annotations

from collections.abc import Awaitable, Collection
from typing import Protocol

from ...domain.message import Message
from ...domain.note import Memo, Pin
from ...domain.scope import Scope


class PinBook(Protocol):
    """Stored pins: facts that people wrote down for a place."""

    async def write_pin(self, pin: Pin) -> None:
        """Store a pin, or replace text and author of the pin with this id."""
        ...

    async def find_pin(self, pin_id: str) -> Pin | None:
        """Return a pin of any place; None if there is none."""
        ...

    def pins(self, scope: Scope) -> Awaitable[list[Pin]]:
        """Return all pins of a place, of every owner, oldest first."""
        ...

    async def erase_pin(self, pin_id: str) -> None:
        """Delete a pin; does nothing if there is none."""
        ...


class NoteBook(PinBook, Protocol):
    """Memos and pins."""

    async def write_memo(self, memo: Memo) -> None:
        """Store a memo; writing the same id twice stores one."""
        ...

    def memos(self, scope: Scope, limit: int, *, without: Collection[str] = ()) -> Awaitable[list[Memo]]:
        """Return the newest ``limit`` memos of a place, newest last, leaving out those of the people ``without``."""
        ...

    async def latest_memos(self, limit: int) -> list[Memo]:
        """Return the newest memos of all places, newest last."""
        ...

    async def erase_copies(self, line: Message) -> list[str]:
        """Delete the memos of a line's place, written since, that quote it; return their ids.

        A line of few characters is quoted only by a memo without other words.
        """
        ...

    async def memo_ids(self, user_id: str) -> list[str]:
        """Return the ids of the memos of a person's turns, in all places."""
        ...
