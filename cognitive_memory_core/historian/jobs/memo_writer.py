"""Memos: stored in the ledger, and copied to ``end_summaries.json`` for programs that do not use this memory."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

from ...domain.message import Message
from ...domain.note import Memo
from ...end_summaries import EndSummaries
from ...errors import UnavailableError
from ...store.notes import NoteBook

log = logging.getLogger(__name__)
COPIED_AGAIN = 200  # memos; far more than are made between two writes of the copy


@dataclass(frozen=True)
class MemoWriter:
    """Stores each memo in the ledger, and then in the copy."""

    notes: NoteBook
    mirror: EndSummaries

    async def keep(self, memo: Memo) -> None:
        """Store a memo, then copy it."""
        await self.notes.write_memo(memo)
        await self.mirror.copy(memo)

    async def withdraw(self, line: Message) -> None:
        """Delete the memos that quote a withdrawn line."""
        for memo_id in await self.notes.erase_copies(line):
            nowhere = replace(line.scene.scope, place_id=memo_id)  # no place has the id of a memo
            await self.mirror.erase([memo_id], nowhere, str)

    async def copy_latest(self) -> None:
        """Copy the latest memos again, because the copy lacks some if a process was killed between the two writes.

        If they cannot be read from the ledger, the copy stays as it is.
        """
        try:
            latest = await self.notes.latest_memos(COPIED_AGAIN)
        except UnavailableError as unreadable:
            log.warning("%s", unreadable)
            return
        for memo in latest:
            await self.mirror.copy(memo)
