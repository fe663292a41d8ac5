"""Memo mirrors without a file."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from cognitive_memory_core.domain.notes import Memo
from cognitive_memory_core.domain.scope import Scope


class NoMirror:
    """Keeps memos in the ledger only."""

    def __init__(self, notes: Any = None) -> None:
        """Write to these notes."""
        self.notes = notes

    async def keep(self, memo: Memo) -> None:
        """Store a memo."""
        await self.notes.write_memo(memo)

    async def flush(self) -> None:
        """Do nothing."""

    async def erase(self, memo_ids: object, place: object, hide: object) -> int:
        """Return 0: there is nothing to erase."""
        return 0


class ListedMirror(NoMirror):
    """Keeps memos in the ledger, and copies of them in a dictionary."""

    def __init__(self, notes: Any) -> None:
        """Start without copies."""
        super().__init__(notes)
        self.memos: dict[str, Memo] = {}

    async def keep(self, memo: Memo) -> None:
        """Store and copy a memo."""
        await super().keep(memo)
        self.memos.setdefault(memo.id, memo)

    async def erase(self, memo_ids: Collection[str], place: Scope, hide: Callable[[str], str]) -> int:
        """Remove memos by id and place, and hide a person in the others."""
        before, where = self.memos, (place.kind, place.place_id)
        left = [memo for memo in before.values() if (memo.scope.kind, memo.scope.place_id) != where]
        self.memos = {memo.id: replace(memo, text=hide(memo.text)) for memo in left if memo.id not in memo_ids}
        return int(self.memos != before)
