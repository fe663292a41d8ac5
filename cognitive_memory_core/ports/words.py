"""Search by words, of events and of messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..domain.event import Event
from ..domain.message import Message, Passage
from ..domain.read_filter import ReadFilter


class LexicalIndex(Protocol):
    """Full-text search over events and messages, within what a read filter admits."""

    async def events(self, terms: Sequence[str], read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Return events with any of the terms, best first, with their BM25 score (higher is better, unbounded)."""
        ...

    async def messages(self, terms: Sequence[str], read_filter: ReadFilter, limit: int) -> list[tuple[Message, float]]:
        """Return messages of the log with any of the terms, best first, with their BM25 score."""
        ...


@dataclass(frozen=True)
class LineSearch:
    """One search of the log: at most ``limit`` messages that the read filter admits and that have any of the terms."""

    terms: Sequence[str]
    read_filter: ReadFilter
    limit: int


class PassageIndex(Protocol):
    """Full-text search over messages that returns each found line with the lines around it, in one request."""

    async def passages(self, searches: Sequence[LineSearch], read_filter: ReadFilter, reach: int) -> list[Passage]:
        """Run the searches and return the passages around all messages found.

        Messages are found as by :meth:`LexicalIndex.messages`; passages are read as by :meth:`MessageLog.around`, with
        the ``reach`` lines before and after each message, as far as ``read_filter`` admits them.
        """
        ...


class WordIndex(LexicalIndex, PassageIndex, Protocol):
    """Full-text search over events and messages, with the lines around messages."""
