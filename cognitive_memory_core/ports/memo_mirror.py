"""A second copy of memos, in a file that other programs can read while the memory is disabled."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

from ..domain.note import Memo
from ..domain.scope import Scope


class MemoMirror(Protocol):
    """Writes every memo also to ``end_summaries.json``, so that no memo is lost if the memory is switched off."""

    async def copy(self, memo: Memo) -> None:
        """Queue a memo for the file, which holds one entry per memo id; disk errors are not raised.

        The file is written at most once every few seconds; :meth:`flush` writes it at once.
        """
        ...

    async def flush(self) -> None:
        """Write all memos that were accepted and not written yet."""
        ...

    async def erase(self, memo_ids: Collection[str], place: Scope | None, hide: Callable[[str], str]) -> int:
        """Remove memos by id and by place, for every agent, from the file and from every copy in its folder.

        In all other entries ``hide`` removes a person from the text. An unreadable copy is deleted if it mentions the
        place or the hidden person. Durable on return; raises StorageRefused when the disk refuses. Idempotent. Returns
        the number of changed files.
        """
        ...
