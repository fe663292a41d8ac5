"""A mirror that shows nothing."""

from __future__ import annotations

from cognitive_memory_core.domain.note import Memo


class NoMirror:
    """Takes memos and forgets them."""

    async def copy(self, memo: Memo) -> None:
        """Forget."""

    async def flush(self) -> None:
        """Do nothing."""

    async def erase(self, memo_ids: object, place: object, hide: object) -> int:
        """Have nothing to erase."""
        return 0
