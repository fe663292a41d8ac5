"""What the memory answers with: hits of a search, and a context."""

from __future__ import annotations

from dataclasses import dataclass, field

from .event import Event
from .message import Message

Passage = tuple[Message, ...]  # lines of one place that follow each other, oldest first


@dataclass(frozen=True)
class Hit:
    """One event that a search found.

    Hits are ordered by ``score``. ``similarity`` is the score of the search by meaning, ``lexical`` that of the search
    by words, and ``relevance`` both combined, before older events are ranked lower; each is in [0, 1]. For a hit on the
    message log, ``neighbours`` are the readable lines around it, oldest first, and ``reply_to`` is the id of the
    message that it replies to, or "".
    """

    event: Event
    score: float
    similarity: float = 0.0
    lexical: float = 0.0
    relevance: float = 0.0
    neighbours: Passage = ()
    reply_to: str = ""


@dataclass(frozen=True)
class Section:
    """One titled part of a context's text; ``lines`` are shown unchanged."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Context:
    """What the memory gives a model for one turn.

    ``text`` is the block to inject, "" if there is nothing; it contains neither < nor >. ``degraded`` names what was
    unavailable: "embedding", "vectors", "lexical", "rerank", "profiles", "ledger", "disabled". ``sources`` are ids of
    the events and messages that were chosen for it.
    """

    text: str
    sections: tuple[Section, ...]
    tokens: int
    degraded: tuple[str, ...]
    sources: tuple[str, ...] = field(default=(), compare=False, repr=False)


NOTHING = Context("", (), 0, ("disabled",))
