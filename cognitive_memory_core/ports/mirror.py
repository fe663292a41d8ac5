"""A second copy of memos, for the mode that reads nothing else."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

from ..domain.note import Memo
from ..domain.scope import Scope


class MemoMirror(Protocol):
    """Dual write of memos into ``end_summaries.json``, so that switching the memory off loses nothing."""

    async def copy(self, memo: Memo) -> None:
        """Take a memo (the same id twice is one entry); written at most every few seconds, never raises for a disk."""
        ...

    async def flush(self) -> None:
        """Write what was taken and is not written yet."""
        ...

    async def erase(self, memo_ids: Collection[str], place: Scope, hide: Callable[[str], str]) -> int:
        """Take memos out by their ids and by their place, of every agent, also out of every copy kept beside.

        In all other entries ``hide`` gives a text without a person. A copy that cannot be read goes when it tells of
        the place, or of who is hidden. Durable when this returns; StorageRefused when the disk refuses. Doing it twice
        is doing it once. Answers how many files changed.
        """
        ...
