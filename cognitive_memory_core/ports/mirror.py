"""A second copy of memos, for the mode that reads nothing else."""

from __future__ import annotations

from typing import Protocol

from ..domain.note import Memo


class MemoMirror(Protocol):
    """Dual write of memos into ``end_summaries.json``, so that switching the memory off loses nothing."""

    async def copy(self, memo: Memo) -> None:
        """Take a memo (the same id twice is one entry); written at most every few seconds, never raises for a disk."""
        ...

    async def flush(self) -> None:
        """Write what was taken and is not written yet."""
        ...
