"""Imports, in the background, the end_summaries.json that the data directory had before its ledger was created.

It was copied to ``end_summaries.takeover.json`` then, because the memory writes the file itself. The import is due
while the copy exists: it is removed afterwards, and a killed process starts again.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from .. import sentences
from ..disk import TEMP, Disk
from ..tasks import UNTIL_NUDGED, BackgroundLoop, completed
from .conversion import Conversion
from .layout import COPY, SUMMARIES, Layout

log = logging.getLogger(__name__)
DRAFT = f"end_summaries.takeover.jsonl{TEMP}"
MOST_LOGGED = 5  # pieces left out that the log names; the dry run of the command names all


class SummaryTakeover:
    """Imports the copied summaries in one round of :attr:`loop`; idempotent, because ids are derived from the rows."""

    def __init__(
        self, data_dir: Path, agent: str | None, import_file: Callable[[Path], Awaitable[int]], disk: Disk
    ) -> None:
        """Import for ``agent``; ``import_file`` imports an export and returns how many rows were new.

        If ``agent`` is None, nothing is imported, and the log asks the operator to name an agent.
        """
        self._source, self._copy, self._draft = data_dir / SUMMARIES, data_dir / COPY, data_dir / DRAFT
        self._agent = agent
        self._import_file, self._disk = import_file, disk
        self._turn = asyncio.Lock()
        self.loop = BackgroundLoop(SUMMARIES, self._round, debounce=0.0)

    async def is_due(self) -> bool:
        """Return whether summaries wait to be taken over."""
        return await asyncio.to_thread(self._copy.exists)

    def suspended(self) -> asyncio.Lock:
        """Return a lock that prevents imports while it is held."""
        return self._turn

    async def _round(self) -> float:
        async with self._turn:
            if await self.is_due():
                await self._take_over()
                await asyncio.to_thread(self._disk.remove, self._copy)
        return UNTIL_NUDGED

    async def _take_over(self) -> None:
        words = sentences.caller
        if self._agent is None:
            log.warning("%s", words.NOT_KEPT.format(path=self._source, reason=words.WHICH_AGENT))
            return
        conversion = Conversion(Layout(self._copy.parent, summaries=self._copy), self._agent)
        try:
            await completed(asyncio.to_thread(self._convert, conversion))
            new = await self._import_file(self._draft)
        finally:
            await asyncio.to_thread(self._disk.discard, self._draft)
        log.info("%s", words.TAKEN_OVER.format(found=words.found(conversion.counts), new=new))
        for said in conversion.said[:MOST_LOGGED]:
            log.warning("%s", said)
        if conversion.left_out:
            log.warning("%s", words.NOT_TAKEN_OVER.format(count=conversion.left_out, path=self._source))

    def _convert(self, conversion: Conversion) -> None:
        with os.fdopen(os.open(self._draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            conversion.write(file, self._draft.parent)
