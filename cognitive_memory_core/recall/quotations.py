"""Selects messages of the log for a context, each with the message that it replies to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ..domain.event import Event
from ..domain.hit import Hit
from ..domain.message import Message
from ..domain.read_filter import ReadFilter
from ..domain.scope import Scope
from ..ports.clock import Clock
from ..settings import Decay
from ..store.messages import MessageLog
from .message_search import MessageSearch
from .query import Query
from .trace import NO_TRACE, SearchTrace

LineKey = tuple[Scope, str]  # a message id is unique in its scope only
CANDIDATES = 16  # measured: these give 47.6 % of the evidence in six lines, 120 give 48.3 % at seven times the cost
NEAR = 2  # lines before and after each of them
ASKING = timedelta(minutes=2)  # lines this recent may be the query itself
PAUSE = timedelta(minutes=30)  # ends a session
SCORED = 40  # lines whose scores raise the events that were made of them


@dataclass(frozen=True)
class Quotation:
    """A line of the log, as an Event of kind "message", with related lines that the scene may read.

    ``replied`` is the line to which it replies, or None; ``following`` are one or two lines after it in the same
    session.
    """

    said: Event
    replied: Message | None = None
    following: tuple[Message, ...] = ()

    @property
    def lines(self) -> tuple[Event, ...]:
        """The line, the line to which it replies, and the lines that follow it, as Events."""
        return (self.said, *(line.as_event() for line in (self.replied, *self.following) if line))

    @property
    def key(self) -> LineKey:
        """The line's scope and id."""
        return self.said.scope, self.said.id

    def followed_by(self, kept: Callable[[Message], bool]) -> Quotation:
        """Return the quotation with only those following lines for which ``kept`` is true."""
        return replace(self, following=tuple(filter(kept, self.following)))


@dataclass(frozen=True)
class QuotedLines:
    """The selected messages, best first, the parts that were unavailable, and the scores of all lines found."""

    quotations: tuple[Quotation, ...] = ()
    degraded: tuple[str, ...] = ()
    scores: Mapping[LineKey, float] = field(default_factory=dict[LineKey, float])


@dataclass(frozen=True)
class QuotationSearch:
    """What to select: at most ``limit`` messages scored above ``floor``, none with an id in ``shown``.

    ``shown`` are ids of messages of the place; None: the message being answered is left out.
    """

    limit: int
    floor: float = 0.0
    decay: Decay | None = None
    shown: Collection[str] | None = None


class Quotations:
    """Finds messages that answer a question, among those that its caller does not show."""

    def __init__(self, messages: MessageSearch, log: MessageLog, clock: Clock) -> None:
        """Search a log."""
        self._messages = messages
        self._log = log
        self._clock = clock

    async def find(
        self, read_filter: ReadFilter, query: Query, wanted: QuotationSearch, trace: SearchTrace = NO_TRACE
    ) -> QuotedLines:
        """Return quotations, best first."""
        if wanted.limit <= 0 or not query.terms:
            return QuotedLines()
        found = await self._messages.search(
            read_filter,
            query,
            top_k=max(wanted.limit + len(wanted.shown or ()), SCORED),
            decay=wanted.decay,
            candidates=CANDIDATES,
            reach=NEAR,
            flushes_first=False,
            trace=trace,
        )
        relevant = trace.note("relevance", [hit for hit in found.hits if hit.relevance >= wanted.floor])
        shown = _shown(wanted.shown, read_filter, query, relevant, self._clock.now() - ASKING)
        others = trace.note("recent", [hit for hit in relevant if _key(hit) not in shown])
        best = trace.note("limit", others[: wanted.limit])
        replied = await self._replied(read_filter, best)
        quotations = (
            Quotation(hit.event, replied.get((hit.event.scope, hit.reply_to)), _following(hit, shown)) for hit in best
        )
        return QuotedLines(tuple(quotations), found.degraded, {_key(hit): hit.score for hit in found.hits[:SCORED]})

    async def _replied(self, read_filter: ReadFilter, hits: Sequence[Hit]) -> Mapping[LineKey, Message]:
        """Return the lines to which the hits reply, as far as the scene may read them."""
        wanted: dict[Scope, list[str]] = {}
        for hit in hits:
            if hit.reply_to:
                wanted.setdefault(hit.event.scope, []).append(hit.reply_to)
        found = await asyncio.gather(*(self._log.find(scope, ids) for scope, ids in wanted.items())) if wanted else ()
        readable = replace(read_filter, user_id="", kinds=(), window=None)
        lines = (line for lines in found for line in lines if readable.admits(line.as_event()))
        return {(line.scene.scope, line.id): line for line in lines}


def _shown(
    ids: Collection[str] | None, read_filter: ReadFilter, query: Query, hits: Sequence[Hit], since: datetime
) -> frozenset[LineKey]:
    """Return the keys of the messages ``ids``; if None, of those among ``hits`` that are the query itself."""
    scene = read_filter.scene
    if ids is None:
        own = [hit.event for hit in hits if scene.user_id and hit.event.sender_id == scene.user_id]
        new = [event for event in own if event.scope == scene.scope and event.happened_at >= since]
        ids = [event.id for event in new if event.text.strip() == query.said]
    return frozenset((scene.scope, message_id) for message_id in ids)


def _following(hit: Hit, shown: frozenset[LineKey]) -> tuple[Message, ...]:
    """Return the lines that follow a hit in its session, up to the first that the caller shows."""
    said, lines, last = hit.event, list[Message](), hit.event.happened_at
    for line in hit.neighbours:
        if line.sent_at >= said.happened_at and line.id != said.id:
            if line.sent_at - last > PAUSE or (said.scope, line.id) in shown:
                break
            lines.append(line)
            last = line.sent_at
    return tuple(lines)


def key_of(line: Message) -> LineKey:
    """Return the scope and id of a line of the log."""
    return line.scene.scope, line.id


def _key(hit: Hit) -> LineKey:
    return hit.event.scope, hit.event.id
