"""Selects messages of the log for a context, each with the message that it replies to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ..domain.event import Event
from ..domain.message import Message
from ..domain.read_filter import ReadFilter
from ..domain.scope import Scene
from ..ports.clock import Clock
from ..ports.words import FoundLine, LineKey
from ..settings import Decay
from .message_search import MessageSearch
from .query import Query
from .trace import NO_TRACE, LineCandidate, SearchTrace

CANDIDATES = 16  # measured: these give 47.6 % of the evidence in six lines, 120 give 48.3 % at seven times the cost
NEAR = 2  # lines before and after each of them
SPARE = 8  # more lines than wanted are read, because some repeat others
ASKING = timedelta(minutes=2)  # lines this recent may be the query itself
PAUSE = timedelta(minutes=30)  # ends a session


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
    """The selected messages, best first, the parts that were unavailable, and scores by :func:`line_key`."""

    quotations: tuple[Quotation, ...] = ()
    degraded: tuple[str, ...] = ()
    scores: Mapping[int, float] = field(default_factory=dict[int, float])


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

    def __init__(self, messages: MessageSearch, clock: Clock) -> None:
        """Search a log."""
        self._messages = messages
        self._clock = clock

    async def find(
        self, read_filter: ReadFilter, query: Query, wanted: QuotationSearch, trace: SearchTrace = NO_TRACE
    ) -> QuotedLines:
        """Return quotations, best first; a ``trace`` records all lines found, with what left them out."""
        if wanted.limit <= 0 or not query.terms:
            return QuotedLines()
        limit, explains = wanted.limit + len(wanted.shown or ()), trace.is_kept
        found = await self._messages.find(
            read_filter, query, limit, wanted.decay, candidates=CANDIDATES, reach=NEAR, spare=SPARE, explains=explains
        )
        if found is None:
            return QuotedLines(degraded=("lexical",))
        shown = _shown(wanted.shown, read_filter.scene, query, found.lines, self._clock.now() - ASKING)
        chosen: list[FoundLine] = []
        for one in found.lines:
            cut = "relevance" if one.relevance < wanted.floor else "recent" if one.key in shown else None
            cut = "limit" if cut is None and len(chosen) == wanted.limit else cut
            if cut is None:
                chosen.append(one)
            if explains:
                said = one.line.as_event()
                trace.lines.append(LineCandidate(said, one.parts, one.relevance, one.factors, one.score, cut=cut))
        quotations = (Quotation(one.line.as_event(), one.replied, _following(one, shown)) for one in chosen)
        return QuotedLines(tuple(quotations), (), found.scores)


def _shown(
    ids: Collection[str] | None, scene: Scene, query: Query, found: Iterable[FoundLine], since: datetime
) -> frozenset[LineKey]:
    """Return the keys of the messages ``ids``; if None, of those among the lines found that are the query itself."""
    if ids is None:
        own = [one.line for one in found if scene.user_id and one.line.sender_id == scene.user_id]
        new = [line for line in own if line.scene.scope == scene.scope and line.sent_at >= since]
        ids = [line.id for line in new if line.text.strip() == query.said]
    return frozenset((scene.scope, message_id) for message_id in ids)


def _following(found: FoundLine, shown: Collection[LineKey]) -> tuple[Message, ...]:
    """Return the lines that follow a line in its session, up to the first that the caller shows."""
    lines, last = list[Message](), found.line.sent_at
    for line in found.after:
        if line.sent_at - last > PAUSE or key_of(line) in shown:
            break
        lines.append(line)
        last = line.sent_at
    return tuple(lines)


def key_of(line: Message) -> LineKey:
    """Return the scope and id of a line of the log."""
    return line.scene.scope, line.id
