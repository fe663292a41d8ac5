"""Search by words, of events and of the message log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ..domain.event import Event
from ..domain.interval import Interval
from ..domain.message import Message, Passage
from ..domain.read_filter import ReadFilter
from ..settings import Decay


@dataclass(frozen=True)
class LineSearch:
    """A question to the log: at most ``limit`` lines that the read filter admits.

    ``asides`` are terms of little weight; ``window`` and ``people`` are those that the question names. The
    ``candidates`` that share most words with the question are scored, with ``reach`` lines before and after each.
    """

    terms: Sequence[str]
    read_filter: ReadFilter
    limit: int
    now: datetime
    candidates: int
    reach: int
    asides: frozenset[str] = frozenset()
    window: Interval | None = None
    people: frozenset[str] = frozenset()
    asks_number: bool = False
    decay: Decay | None = None
    explains: bool = False


@dataclass(frozen=True)
class FoundLine:
    """A line of the log that answers a question; its score is the ``relevance``, in [0, 1], times all ``factors``.

    ``neighbours`` are the lines just before and after it that the scene may read. The ``parts`` of the relevance are
    given only to a search that explains.
    """

    line: Message
    relevance: float
    factors: tuple[tuple[str, float], ...] = ()
    neighbours: Passage = ()
    parts: tuple[tuple[str, float], ...] = ()


class WordIndex(Protocol):
    """Search by words over events and over the log, within what a read filter admits."""

    async def events(self, terms: Sequence[str], read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Return events with any of the terms, best first, with their BM25 score (higher is better, unbounded)."""
        ...

    async def lines(self, search: LineSearch) -> list[FoundLine]:
        """Return lines of the log that have any of the terms, or stand near such lines, best first."""
        ...
