"""Search by words, of events and of the message log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import prod
from typing import Protocol
from zlib import crc32

from ..domain.event import Event
from ..domain.interval import Interval
from ..domain.message import Message, Passage
from ..domain.read_filter import ReadFilter
from ..domain.scope import Scope
from ..settings import Decay

LineKey = tuple[Scope, str]  # a message id is unique in its scope only


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

    The lines just ``before`` and ``after`` it, and the one to which it ``replied``, are those that the scene may read.
    The ``parts`` of the relevance are given only to a search that explains.
    """

    line: Message
    relevance: float
    factors: tuple[tuple[str, float], ...] = ()
    before: Passage = ()
    after: Passage = ()
    replied: Message | None = None
    parts: tuple[tuple[str, float], ...] = ()

    @property
    def score(self) -> float:
        """The score by which lines are ordered."""
        return self.relevance * prod(factor for _, factor in self.factors)

    @property
    def key(self) -> LineKey:
        """The line's scope and id."""
        return self.line.scene.scope, self.line.id


@dataclass(frozen=True)
class FoundLines:
    """Lines of the log, best first, and the scores of these and of more lines by their :func:`line_key`."""

    lines: tuple[FoundLine, ...] = ()
    scores: Mapping[int, float] = field(default_factory=dict[int, float])


def line_key(place: str, message_id: str) -> int:
    """Return a 32-bit hash of a message's place (the key of its scope) and id."""
    return crc32(f"{place}\n{message_id}".encode("utf-8", "replace"))


class WordIndex(Protocol):
    """Search by words over events and over the log, within what a read filter admits."""

    async def events(self, terms: Sequence[str], read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Return events with any of the terms, best first, with their BM25 score (higher is better, unbounded)."""
        ...

    async def lines(self, search: LineSearch) -> FoundLines:
        """Return lines of the log that have any of the terms, or stand near such lines, best first."""
        ...
