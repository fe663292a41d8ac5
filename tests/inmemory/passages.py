"""Passages of the log by its two other ports: the reference for what an adapter reads in one request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cognitive_memory_core.domain.message import Passage
from cognitive_memory_core.domain.read_filter import ReadFilter
from cognitive_memory_core.ports.ledger import LexicalIndex, LineSearch, MessageLog


@dataclass(frozen=True)
class PassagesOf:
    """Searches a lexical index, then reads the lines around from a log."""

    lexical: LexicalIndex
    log: MessageLog

    async def passages(self, searches: Sequence[LineSearch], read_filter: ReadFilter, reach: int) -> list[Passage]:
        """Return the lines around all messages found."""
        found = [await self.lexical.messages(one.terms, one.read_filter, one.limit) for one in searches]
        return await self.log.around([message for rows in found for message, _ in rows], read_filter, reach)
